package shares_test

import (
	"testing"
	"time"

	"kafkabench.example/kafka-bench/backpressure/shares"
)

const beatEvery = lease / 10

func (w *world) simulate(d time.Duration) {
	const delay = 5 * time.Millisecond
	for end := w.now + d; w.now < end; {
		w.pass(delay)
		w.commit(bound / 20)
		for i, p := range w.live() {
			p.see(1000)
			p.arrive(1)
			p.report()
			p.send(int64(p.meter * delay.Seconds()))
			for len(p.sending) > 0 {
				p.land(0, false)
			}
			if w.now >= p.beaten+beatEvery {
				p.beaten = w.now - time.Duration(i)*time.Millisecond
				p.beat()
				p.drain()
			}
		}
		w.check()
	}
}

func quiet(t *testing.T, demands ...float64) *world {
	w := &world{t: t}
	for i, demand := range demands {
		p := w.start(time.Duration(i)*time.Hour, 1)
		p.meter, p.served = demand, demand/4
	}
	w.simulate(10 * beatEvery)
	return w
}

func near(part shares.Part, want float64) bool {
	return part.Of(1) > want-0.02 && part.Of(1) < want+0.02
}

func TestAllIsGivenOut(t *testing.T) {
	w := quiet(t, 4000, 4000, 4000)
	for i, p := range w.procs {
		if !near(p.part(), 1./3) {
			t.Errorf("process %d has %v of a third", i, p.part())
		}
	}
	if free := w.truth.Free(); free != 0 {
		t.Errorf("%d millionths are held by nobody", free)
	}
}

func TestAShiftOfDemandMovesTheParts(t *testing.T) {
	w := quiet(t, 4000, 4000, 0)
	c := w.procs[2]
	if !near(c.part(), shares.DefaultFloor.Of(1)) {
		t.Errorf("an idle process has %v, not its floor", c.part())
	}
	w.procs[0].meter, w.procs[0].served = 0, 0
	c.meter, c.served = 4000, 100
	w.simulate(4 * beatEvery)
	if c.part().Of(1) < 0.4 {
		t.Errorf("four beats after it began a process has only %v", c.part())
	}
	w.simulate(6 * beatEvery)
	if a, free := w.procs[0].part(), w.truth.Free(); !near(a, shares.DefaultFloor.Of(1)) || free != 0 {
		t.Errorf("who stopped still has %v, and %d are free", a, free)
	}
}

func TestSmallChangesMoveNothing(t *testing.T) {
	w := quiet(t, 4000, 4000, 400)
	met := w.procs[2]
	met.served = met.meter
	w.simulate(10 * beatEvery)
	var before []shares.Part
	for _, p := range w.procs {
		before = append(before, p.part())
	}
	for i := range 10 {
		met.meter = 400 - float64(i%4)*10
		met.served = met.meter
		w.simulate(beatEvery)
	}
	for i, p := range w.procs {
		if p.part() != before[i] {
			t.Errorf("process %d went from %d to %d for nothing", i, before[i], p.part())
		}
	}
}

func TestADeadOnesPartIsReclaimed(t *testing.T) {
	w := quiet(t, 4000, 4000)
	dead := w.procs[0]
	dead.dead = true
	w.simulate(lease + grace - 2*beatEvery)
	if got := w.procs[1].part(); !near(got, 0.5) {
		t.Errorf("%v is held before the lease and the grace time are over", got)
	}
	w.simulate(10 * beatEvery)
	if got := w.procs[1].part(); got != shares.Whole {
		t.Errorf("%v is held after the other was reclaimed", got)
	}
}

func TestAPausedProcessIsFencedWhenItGoesOn(t *testing.T) {
	w := quiet(t, 4000, 4000)
	paused := w.procs[0]
	paused.paused = true
	w.simulate(lease - margin + beatEvery)
	if got := paused.part(); got != 0 {
		t.Errorf("part %v after a pause as long as the lease", got)
	}
	paused.paused = false
	w.simulate(2 * beatEvery)
	if got := paused.part(); !near(got, 0.5) {
		t.Errorf("part %v after a beat came back in time", got)
	}
	paused.paused = true
	w.simulate(2 * (lease + grace))
	paused.paused = false
	w.simulate(12 * beatEvery)
	if got := paused.part(); !near(got, 0.5) || w.ids != 3 {
		t.Errorf("part %v after joining anew; %d names were used", got, w.ids)
	}
}

func TestLeavingDrainedFreesAtOnce(t *testing.T) {
	w := quiet(t, 4000, 4000)
	a := w.procs[0]
	a.meter = 0
	a.member.Retire()
	w.simulate(4 * beatEvery)
	a.leave()
	for len(a.sending) > 0 {
		a.land(0, false)
	}
	if _, known := w.truth.Member("m001"); known {
		t.Error("it is still known after leaving with nothing outstanding")
	}
	w.simulate(2 * beatEvery)
	if got := w.procs[1].part(); got != shares.Whole {
		t.Errorf("the other has %d two beats later", got)
	}
}
