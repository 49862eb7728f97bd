package shares_test

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"kafkabench.example/kafka-bench/backpressure/shares"
)

// The parts and the outstanding records never exceed the whole, with any delays, losses, copies,
// pauses, deaths and wrong clocks.
func TestTheSumIsNeverMoreThanTheWhole(t *testing.T) {
	var reclaims, shared, worlds int
	property := func(t *rapid.T) {
		w := &world{t: t}
		defer func() { worlds++; reclaims += w.reclaims }()
		for range rapid.IntRange(2, 4).Draw(t, "processes") {
			w.startAny(t)
		}
		for range rapid.IntRange(50, 300).Draw(t, "steps") {
			w.step(t)
			w.check()
			if w.sharing() {
				shared++
			}
		}
	}
	checks := 10 // some rules matter only in one of a few hundred worlds
	if testing.Short() {
		checks = 2
	}
	for range checks {
		rapid.Check(t, property)
	}
	if reclaims == 0 || shared == 0 {
		t.Errorf("in %d worlds %d parts were reclaimed and bounds were shared %d times: the property saw nothing", worlds, reclaims, shared)
	}
}

func (w *world) startAny(t *rapid.T) {
	offset := time.Duration(rapid.Int64Range(-3600, 3600).Draw(t, "clock")) * time.Second
	p := w.start(offset, 1+float64(rapid.IntRange(-10, 10).Draw(t, "rate"))/1000)
	p.want(t)
}

func (w *world) sharing() bool {
	n := 0
	for _, p := range w.procs {
		if p.part() > 0 {
			n++
		}
	}
	return n > 1
}

// Common events are frequent, so that the world makes progress.
func (w *world) step(t *rapid.T) {
	switch k := rapid.IntRange(0, 99).Draw(t, "step"); {
	case k < 25:
		w.round(t, nil)
		return
	case k < 30:
		w.trial(t)
		return
	case k < 40:
		w.pass(time.Duration(rapid.IntRange(1, 400).Draw(t, "ms")) * time.Millisecond)
		return
	case k < 45:
		w.commit(rapid.Int64Range(0, 2*bound).Draw(t, "commit"))
		return
	case k < 47 && len(w.procs) < 8:
		w.startAny(t)
		return
	}
	p := rapid.SampledFrom(w.procs).Draw(t, "process")
	switch k := rapid.IntRange(0, 99).Draw(t, "what"); {
	case k < 25 && len(p.sending) > 0:
		p.land(rapid.IntRange(0, len(p.sending)-1).Draw(t, "which"), rapid.IntRange(0, 3).Draw(t, "again") == 0)
	case k < 35:
		p.arrive(rapid.IntRange(0, 3).Draw(t, "arrive"))
	case k < 37:
		p.paused = !p.paused
	case k < 38:
		p.dead = true
	case p.dead || p.paused:
	case k < 39:
		p.leave()
	case k < 52:
		p.see(rapid.IntRange(0, 30).Draw(t, "read"))
	case k < 60 && !p.left:
		p.beat()
	case k < 70:
		p.drain()
	case k < 80:
		p.report()
	case k < 90:
		p.send(rapid.Int64Range(1, bound).Draw(t, "records"))
	default:
		p.want(t)
	}
}

func (p *proc) want(t *rapid.T) {
	p.meter = float64(rapid.IntRange(0, 5000).Draw(t, "demand"))
	p.served = float64(rapid.IntRange(0, 2000).Draw(t, "served"))
}

// trial cuts one process off for about as long as it takes to reclaim its part.
func (w *world) trial(t *rapid.T) {
	victim := rapid.SampledFrom(w.procs).Draw(t, "victim")
	hears, heard := rapid.Bool().Draw(t, "hears"), rapid.IntRange(0, 3).Draw(t, "heard") == 0
	for range rapid.IntRange(1, 25).Draw(t, "rounds") {
		w.round(t, victim)
		w.check()
		if victim.dead || victim.paused {
			continue
		}
		if hears {
			victim.see(rapid.IntRange(0, 10).Draw(t, "read"))
		}
		if !victim.left {
			victim.beat()
		}
		if heard && len(victim.sending) > 0 {
			victim.land(0, false)
		}
		if rapid.Bool().Draw(t, "sends") {
			victim.report()
			victim.send(bound)
		}
		w.check()
	}
}

// round is a period without failures for all but one process.
func (w *world) round(t *rapid.T, but *proc) {
	w.pass(time.Duration(rapid.IntRange(1, 120).Draw(t, "ms")) * time.Millisecond)
	w.commit(rapid.SampledFrom([]int64{0, 0, 50, 500}).Draw(t, "commit"))
	for _, p := range w.live() {
		if p == but || rapid.IntRange(0, 9).Draw(t, "ill") == 0 {
			continue
		}
		if p.see(1000); !p.left {
			p.beat()
		}
		p.drain()
		for range rapid.IntRange(0, 2).Draw(t, "land") {
			if len(p.sending) > 0 {
				p.land(len(p.sending)-1, false)
			}
		}
		p.report()
		p.arrive(rapid.IntRange(0, 3).Draw(t, "arrive"))
		p.send(bound)
	}
}

func TestPartOfCovers(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		bound := rapid.Int64Range(1, 1_000_000_000).Draw(t, "bound")
		n := rapid.Int64Range(0, 2*bound).Draw(t, "n")
		part := shares.PartOf(n, bound)
		if n <= bound && part.Of(float64(bound)) < float64(n) || part > shares.Whole {
			t.Fatalf("%d of %d is %d millionths, which covers %v", n, bound, part, part.Of(float64(bound)))
		}
	})
}
