package shares_test

import (
	"fmt"
	"slices"
	"time"

	"pgregory.net/rapid"

	"kafkabench.example/kafka-bench/backpressure/shares"
)

const (
	bound  = 1000 // records
	lease  = time.Second
	margin = lease / 10
	grace  = 300 * time.Millisecond
)

type world struct {
	t     rapid.TB
	now   time.Duration
	log   []shares.Record
	truth shares.State
	procs []*proc
	ids   int

	end, committed int64
	reclaims       int
}

// proc has the simplest gate: now and then it counts its outstanding records, and gets credit for
// the rest of its part.
type proc struct {
	w      *world
	member *shares.Member
	meter  float64
	served float64

	offset time.Duration // of its clock
	rate   float64       // of its clock

	read    int
	view    shares.State
	sending []shares.Record // not in the log yet
	credit  int64
	flying  []flight // sent, not in the log
	landed  []int64
	paused  bool
	dead    bool
	left    bool
	beaten  time.Duration
	ask     *reading
}

type flight struct {
	n    int64
	sent time.Duration
}

type reading struct {
	asked      time.Duration
	partitions []shares.Partition
}

func (w *world) start(offset time.Duration, rate float64) *proc {
	p := &proc{w: w, offset: offset, rate: rate}
	p.join()
	w.procs = append(w.procs, p)
	return p
}

func (p *proc) join() {
	p.w.ids++
	member, err := shares.NewMember(shares.Config{
		ID: fmt.Sprintf("m%03d", p.w.ids), Lease: lease, Margin: margin, Grace: grace, Floor: shares.DefaultFloor,
	})
	if err != nil {
		p.w.t.Fatal(err)
	}
	p.member = member
	p.member.See(p.clock(), &p.view)
}

func (p *proc) clock() time.Duration {
	return p.offset + time.Duration(float64(p.w.now)*p.rate)
}

func (p *proc) part() shares.Part {
	part, until := p.member.Grant()
	if p.dead || p.clock() >= until {
		return 0
	}
	return part
}

func (p *proc) outstanding() int64 {
	n := int64(len(p.landed))
	for _, f := range p.flying {
		n += f.n
	}
	return n
}

func (p *proc) report() {
	p.credit = max(0, int64(p.part().Of(bound))-p.outstanding())
}

func (p *proc) send(n int64) {
	n = min(n, p.credit)
	if n > 0 && p.part() > 0 {
		p.credit -= n
		p.flying = append(p.flying, flight{n: n, sent: p.w.now})
	}
}

func (p *proc) beat() {
	p.member.Aim(p.clock())
	p.sending = append(p.sending, p.member.Beat(p.clock(), p.load()))
}

func (p *proc) leave() {
	p.member.Retire()
	p.member.Aim(p.clock())
	p.sending = append(p.sending, p.member.Leave(p.clock(), p.load()))
	p.left = true
}

func (p *proc) load() shares.Load {
	return shares.Load{
		Demand: p.meter, Served: p.served,
		Outstanding: shares.PartOf(p.outstanding()+p.credit, bound), Unsettled: len(p.flying) > 0,
	}
}

func (p *proc) land(i int, again bool) {
	r := p.sending[i]
	if !again {
		p.sending = slices.Delete(p.sending, i, i+1)
	}
	_, before := p.w.truth.Member(r.Member)
	p.w.log = append(p.w.log, r)
	p.w.truth.Fold(r)
	if _, after := p.w.truth.Member(r.Member); r.Kind == shares.Reclaim && before && !after {
		p.w.reclaims++
	}
}

func (p *proc) see(n int) {
	for range min(n, len(p.w.log)-p.read) {
		p.view.Fold(p.w.log[p.read])
		p.read++
	}
	p.member.See(p.clock(), &p.view)
	if p.member.Expelled() && !p.left {
		p.join()
	}
}

func (p *proc) drain() {
	if p.ask != nil {
		p.member.Drain(p.ask.asked, p.ask.partitions)
		p.ask = nil
	} else {
		p.ask = &reading{asked: p.clock(), partitions: []shares.Partition{{Topic: "t", Committed: p.w.committed, End: p.w.end}}}
	}
	p.sending = append(p.sending, p.member.Reclaims(p.clock())...)
}

func (p *proc) arrive(n int) {
	p.flying = slices.DeleteFunc(p.flying, func(f flight) bool {
		if n--; n >= 0 && p.w.now-f.sent <= grace {
			for range f.n {
				p.landed = append(p.landed, p.w.end)
				p.w.end++
			}
			return true
		}
		return p.w.now-f.sent > grace
	})
}

func (w *world) commit(n int64) {
	w.committed = min(w.end, w.committed+n)
	for _, p := range w.procs {
		p.landed = slices.DeleteFunc(p.landed, func(offset int64) bool { return offset < w.committed })
	}
}

func (w *world) pass(d time.Duration) {
	w.now += d
	for _, p := range w.procs {
		p.arrive(0)
	}
}

// check is the property: neither the parts nor the outstanding records exceed the whole.
func (w *world) check() {
	var parts shares.Part
	var outstanding int64
	for _, p := range w.procs {
		parts += p.part()
		outstanding += p.outstanding()
	}
	if parts > shares.Whole || w.truth.Free() < 0 {
		w.t.Fatalf("at %v parts of %d millionths are acted on and %d are free", w.now, parts, w.truth.Free())
	}
	if outstanding > bound {
		w.t.Fatalf("at %v %d records of %d are outstanding", w.now, outstanding, bound)
	}
}

func (w *world) live() []*proc {
	return slices.DeleteFunc(slices.Clone(w.procs), func(p *proc) bool { return p.dead || p.paused })
}
