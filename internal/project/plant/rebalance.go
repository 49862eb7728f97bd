package plant

import "time"

// As in the eager protocol, unfinished work is dropped and processed records are committed. Then
// the live members share the partitions.
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
			return // another one is in progress
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
