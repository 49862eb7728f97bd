package plant

import (
	"time"

	"kafkabench.example/kafka-bench/internal/lagcontrol"
)

const topic = "plant"

// Each gate gets a reading before anything is sent. The polls of several gates are spread over the
// interval.
func (p *plant) planGates() {
	for i, g := range p.gates {
		g.Report(g.Mark(), p.read())
		first := p.cfg.Poll * time.Duration(i+1) / time.Duration(len(p.gates))
		p.every(first, p.cfg.Poll, func() { p.ask(g) })
		p.every(pace, pace, g.Advance)
	}
}

// ask takes the mark now, then the committed offsets, then the high watermarks, and reports the
// answer last.
func (p *plant) ask(g *gate) {
	if g.asking {
		return
	}
	g.asking = true
	mark := g.Mark()
	var r lagcontrol.Reading
	a, b, c := p.drawTime(0, 2*p.cfg.Read), p.drawTime(0, 2*p.cfg.Read), p.drawTime(0, 2*p.cfg.Read)
	committedAt, endAt, answerAt := min(a, b, c), a+b+c-min(a, b, c)-max(a, b, c), max(a, b, c)
	p.after(committedAt, func() { r = p.read() })
	p.after(endAt, func() {
		for i, l := range p.partitions {
			r.Partitions[i].End = int64(len(l.log))
		}
	})
	p.after(answerAt, func() {
		if p.cfg.MarkLate {
			mark = g.Mark()
		}
		g.asking = false
		g.Report(mark, r)
		p.measure.sawBound(g)
	})
}

func (p *plant) read() lagcontrol.Reading {
	r := lagcontrol.Reading{Partitions: make([]lagcontrol.Partition, len(p.partitions))}
	for i, l := range p.partitions {
		r.Partitions[i] = lagcontrol.Partition{Topic: topic, ID: int32(i), Committed: l.committed, End: int64(len(l.log))}
		if p.cfg.Delivered {
			r.Partitions[i].Delivered = l.taken
		}
	}
	return r
}
