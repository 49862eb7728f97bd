package backpressure_test

import (
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"kafka-bench/backpressure"
)

// ceiling is a controller that says what it is told to.
type ceiling struct{ at int64 }

func (c *ceiling) Decide(backpressure.Observation) backpressure.Decision {
	return backpressure.Decision{Ceiling: c.at, Reason: "told so"}
}

func TestGateIsOpenUntilToldOtherwise(t *testing.T) {
	gate := backpressure.NewGate(&ceiling{})
	if got := gate.Admit(1_000_000); got != 1_000_000 {
		t.Errorf("a new gate admitted %d of 1000000", got)
	}
}

// Whatever is asked for by however many goroutines, what is admitted stays at or
// below the highest ceiling, and is what Admit granted.
func TestGateKeepsItsCeiling(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := &ceiling{}
		gate := backpressure.NewGate(c)
		c.at = rapid.Int64Range(0, 10_000).Draw(t, "ceiling")
		gate.Report(0, 0, 0)
		asks := rapid.SliceOfN(rapid.Int64Range(1, 700), 1, 8).Draw(t, "asks")
		granted := make([]int64, len(asks))
		var wg sync.WaitGroup
		for i, n := range asks {
			wg.Go(func() {
				for range 10 {
					granted[i] += gate.Admit(n)
				}
			})
		}
		wg.Wait()
		var sum, asked int64
		for i := range asks {
			sum += granted[i]
			asked += 10 * asks[i]
		}
		if want := min(asked, c.at); sum != want || gate.Admitted() != want {
			t.Fatalf("admitted %d, granted %d; want %d", gate.Admitted(), sum, want)
		}
	})
}

func TestGateGrantsAPart(t *testing.T) {
	c := &ceiling{at: 10}
	gate := backpressure.NewGate(c)
	gate.Report(0, 0, 0)
	for i, want := range []int64{7, 3, 0} {
		if got := gate.Admit(7); got != want {
			t.Errorf("ask %d: admitted %d, want %d", i, got, want)
		}
	}
}

func TestGateStatsAddUpTheClosedTime(t *testing.T) {
	c := &ceiling{}
	gate := backpressure.NewGate(c)
	report := func(at time.Duration, ceiling int64, age time.Duration) *backpressure.Change {
		c.at = ceiling
		return gate.Report(at, 42, age)
	}
	report(1*time.Second, backpressure.Unlimited, 5*time.Millisecond)
	if change := report(2*time.Second, 0, 30*time.Millisecond); change == nil || change.Open || change.Lag != 42 || change.Reason != "told so" {
		t.Errorf("closing reported %+v", change)
	}
	if change := report(3*time.Second, 0, time.Millisecond); change != nil {
		t.Errorf("a gate that stays closed reported %+v", change)
	}
	report(4*time.Second, backpressure.Unlimited, time.Millisecond)
	report(5*time.Second, 0, time.Millisecond)
	got := gate.Stats(5500 * time.Millisecond)
	want := backpressure.Stats{Reports: 5, Changes: 3, Closed: 2500 * time.Millisecond, MaxAge: 30 * time.Millisecond}
	if got != want {
		t.Errorf("stats %+v, want %+v", got, want)
	}
}

func BenchmarkGateAdmit(b *testing.B) {
	gate := backpressure.NewGate(&ceiling{})
	b.ReportAllocs()
	for b.Loop() {
		gate.Admit(1)
	}
}
