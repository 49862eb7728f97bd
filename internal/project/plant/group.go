package plant

import "time"

// takeover is the time to assign a dead member's partitions.
const takeover = 50 * time.Millisecond

type member struct {
	alive   bool
	stalled bool
}

func (p *plant) works(owner int) bool {
	return owner >= 0 && p.rebalances == 0 && p.members[owner].alive && !p.members[owner].stalled
}

func (p *plant) assign() {
	var alive []int
	for i := range p.members {
		if p.members[i].alive {
			alive = append(alive, i)
		}
	}
	for i, l := range p.partitions {
		l.owner = -1
		if len(alive) > 0 {
			l.owner = alive[i%len(alive)]
		}
	}
}

func (p *plant) commit(m int) {
	if p.rebalances > 0 || !p.members[m].alive || p.members[m].stalled {
		return
	}
	for _, l := range p.partitions {
		if l.owner == m {
			l.commit()
		}
	}
}

func (p *plant) planGroup() {
	for m := range p.members {
		first := p.cfg.Commit
		if !p.cfg.Aligned {
			first = p.drawTime(0, p.cfg.Commit)
		}
		p.every(first, p.cfg.Commit, func() { p.commit(m) })
	}
	for _, s := range p.cfg.Steps {
		p.at(p.cfg.Warmup+s.At, func() { p.work = s.Work })
	}
	for _, f := range p.cfg.Faults {
		p.at(p.cfg.Warmup+f.At, func() { p.fault(f) })
	}
}

func (p *plant) fault(f Fault) {
	switch f.Kind {
	case Stall:
		p.members[f.Member].stalled = true
		p.after(f.For, func() {
			p.members[f.Member].stalled = false
			p.wakeAll()
		})
	case Kill:
		p.members[f.Member].alive = false
		for _, l := range p.partitions {
			if l.owner == f.Member {
				l.stop()
				l.owner = -1
			}
		}
		p.after(f.For, func() { p.rebalance(takeover) })
	case Start:
		p.members[f.Member].alive = true
		p.rebalance(f.For)
	case Rebalance:
		p.rebalance(f.For)
	}
}
