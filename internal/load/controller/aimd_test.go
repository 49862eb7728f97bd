package controller_test

import (
	"math"
	"testing"
	"time"

	"kafkabench.example/kafka-bench/internal/lagcontrol"
	"kafkabench.example/kafka-bench/internal/load/controller"
)

const everyReading = 100 * time.Millisecond

type queue struct {
	controller lagcontrol.Controller
	o          lagcontrol.Observation
	history    []int64
	rates      []int64
	last       lagcontrol.Decision
}

func (q *queue) stay(n, readings int) lagcontrol.Decision {
	for range readings {
		q.o.At += everyReading
		q.o.Admitted += q.rate()
		q.o.Settled = q.o.Admitted
		q.o.Refused++
		q.history = append(q.history, q.o.Admitted)
		if i := len(q.history) - 1 - n; i >= 0 {
			q.o.Committed = max(q.o.Committed, q.history[i])
		}
		q.o.Lag = q.o.Admitted - q.o.Committed
		q.last = q.controller.Decide(q.o)
	}
	return q.last
}

func (q *queue) rate() int64 {
	if len(q.rates) == 0 {
		return 100
	}
	return q.rates[len(q.history)%len(q.rates)]
}

func newAIMD(t *testing.T, cfg controller.AIMDConfig) *queue {
	t.Helper()
	a, err := controller.NewAIMD(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return &queue{controller: a, o: lagcontrol.Observation{Share: 1}}
}

func TestAIMDAddsAndCuts(t *testing.T) {
	q := newAIMD(t, controller.AIMDConfig{Target: 350 * time.Millisecond, Step: 10})
	before := q.stay(3, 20).Bound
	if after := q.stay(3, 10).Bound; after != before+100 {
		t.Errorf("ten commits within the target made %d of %d", after, before)
	}
	// Records take 600 ms, so there is one cut in 600 ms: a record must not cause two.
	q.stay(6, 6)
	before = q.stay(6, 6).Bound
	after := q.stay(6, 6).Bound
	if want := int64(float64(before) * 0.9); after < want-1 || after > want+1 {
		t.Errorf("600 ms above the target made %d of %d, want %d", after, before, want)
	}
}

func TestAIMDTakesTimesFromTheHistory(t *testing.T) {
	q := newAIMD(t, controller.AIMDConfig{Target: 350 * time.Millisecond, Step: 10})
	q.rates = []int64{80, 120, 90, 110, 100}
	before := q.stay(3, 20).Bound
	if after := q.stay(3, 50).Bound; after != before+500 {
		t.Errorf("fifty commits of records that stay for 300 ms made %d of %d", after, before)
	}
	q.stay(6, 10)
	before = q.last.Bound
	if after := q.stay(6, 30).Bound; after >= before {
		t.Errorf("three seconds of records that stay for 600 ms made %d of %d", after, before)
	}
}

func TestAIMDGrowsFastWhileConsumersWait(t *testing.T) {
	q := newAIMD(t, controller.AIMDConfig{Target: 350 * time.Millisecond, Step: 10})
	before := q.stay(1, 20).Bound
	after, want := q.stay(1, 4).Bound, float64(before)*math.Pow(1.25, 4)
	if math.Abs(float64(after)-want) > 4 {
		t.Errorf("four looks made %d of %d, want %.0f", after, before, want)
	}
}

func TestAIMDGrowsOnlyWhenItLimits(t *testing.T) {
	for _, n := range []int{1, 3} {
		q := newAIMD(t, controller.AIMDConfig{Target: 350 * time.Millisecond})
		q.stay(n, 10)
		q.o.Refused--
		before := q.stay(n, 1).Bound
		for range 10 {
			q.o.Refused--
			if after := q.stay(n, 1).Bound; after != before {
				t.Fatalf("nothing was refused, and %d became %d", before, after)
			}
		}
	}
}

func TestAIMDKeepsItsLimit(t *testing.T) {
	q := newAIMD(t, controller.AIMDConfig{Target: 250 * time.Millisecond, MaxLag: 300})
	if d := q.stay(2, 100); d.Bound != 300 || d.Ceiling > q.o.Settled+300-q.o.Lag {
		t.Errorf("decided %+v with a limit of 300", d)
	}
}

func newGradient(t *testing.T, cfg controller.GradientConfig) *queue {
	t.Helper()
	g, err := controller.NewGradient(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return &queue{controller: g, o: lagcontrol.Observation{Share: 1}}
}

func TestGradientFollowsTheTimes(t *testing.T) {
	q := newGradient(t, controller.GradientConfig{})
	first := q.stay(3, 20).Bound
	grown := q.stay(3, 50).Bound
	if grown <= first {
		t.Errorf("with times as usual the bound went from %d to %d", first, grown)
	}
	if shrunk := q.stay(8, 15).Bound; shrunk >= grown {
		t.Errorf("with times four times as long the bound went from %d to %d", grown, shrunk)
	}
}

func TestGradientHasNoTarget(t *testing.T) {
	q := newGradient(t, controller.GradientConfig{MaxLag: 4000})
	if d := q.stay(30, 600); d.Bound != 4000 {
		t.Errorf("records stay for 3 s, always: the bound is %d, want the limit", d.Bound)
	}
}

func TestAIMDOutlastsALongStall(t *testing.T) {
	q := newAIMD(t, controller.AIMDConfig{Target: time.Minute})
	before := q.stay(2, 10).Bound
	q.stay(5000, 5000)
	q.stay(2, 1)
	if after := q.stay(2, 10).Bound; after <= before {
		t.Errorf("after the stall the bound went from %d to %d", before, after)
	}
}
