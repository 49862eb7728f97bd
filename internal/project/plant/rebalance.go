package plant

import "time"

// rebalance stops everybody for a time, as the eager protocol does: what is in
// work is given up half done, what is processed is committed, and whoever is
// alive then shares the partitions.
func (p *plant) rebalance(d time.Duration) {
	for _, l := range p.partitions {
		if p.works(l.owner) {
			l.commit()
		}
		l.stop()
	}
	p.rebalances++
	p.after(d, func() {
		if p.rebalances--; p.rebalances > 0 {
			return // another one is under way
		}
		p.assign()
		for _, l := range p.partitions {
			l.rewind()
		}
		p.wakeAll()
	})
}

func (p *plant) wakeAll() {
	for _, l := range p.partitions {
		l.wake()
	}
}
