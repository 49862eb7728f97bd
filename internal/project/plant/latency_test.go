package plant_test

import (
	"fmt"
	"testing"
	"time"

	"kafkabench.example/kafka-bench/internal/lagcontrol"
	"kafkabench.example/kafka-bench/internal/project/plant"
)

func latency() (lagcontrol.Controller, error) {
	return lagcontrol.NewLatency(lagcontrol.LatencyConfig{Target: target})
}

// At any phase of the commits, the controller reaches the goals of the backpressure study: the p99
// is at most a fifth above the target, and the utilisation at least 0.97.
func TestLatencyHoldsItsTarget(t *testing.T) {
	for _, seed := range some[uint64](0, 1, 2, 3, 4, 5, 6, 7, 8, 9) {
		c := overload(100 * ms)
		c.Seed = seed
		r, off := run(t, c, latency), run(t, c, kinds[0].make)
		if r.E2EP99 > 300*ms || utilisation(r, off) < 0.97 {
			t.Errorf("seed %d: p99 %v, utilisation %.3f", seed, r.E2EP99, utilisation(r, off))
		}
	}
}

// A reading sees a commit at once or an interval later.
func TestLatencyHoldsItsTargetWhereCommitsMeetReadings(t *testing.T) {
	for _, seed := range some[uint64](0, 1, 2, 3, 4) {
		for _, commit := range []time.Duration{100 * ms, time.Second} {
			c := locked(commit)
			c.Seed, c.Warmup = seed, 8*time.Second
			r, off := run(t, c, latency), run(t, c, kinds[0].make)
			if r.E2EP99 > 300*ms || utilisation(r, off) < 0.97 {
				t.Errorf("seed %d, commits each %v: p99 %v, utilisation %.3f", seed, commit, r.E2EP99, utilisation(r, off))
			}
		}
	}
}

func TestLatencySettles(t *testing.T) {
	for _, seed := range some[uint64](0, 1, 2, 3, 4) {
		c := steps(100 * ms)
		c.Seed = seed
		r, off := run(t, c, latency), run(t, c, kinds[0].make)
		for i, d := range r.Settling {
			if d < 0 || d > 3*time.Second {
				t.Errorf("seed %d, step %d: settled after %v", seed, i, d)
			}
		}
		if u := utilisation(r, off); u < 0.97 {
			t.Errorf("seed %d: utilisation %.3f", seed, u)
		}
	}
}

// The limits are wider than above: between two commits the controller estimates the progress, and
// it sees a new capacity a commit later.
func TestLatencyWithCommitsEachSecond(t *testing.T) {
	c := overload(time.Second)
	c.Warmup = 8 * time.Second
	r, off := run(t, c, latency), run(t, c, kinds[0].make)
	if r.E2EP99 > 320*ms || utilisation(r, off) < 0.97 {
		t.Errorf("p99 %v, utilisation %.3f", r.E2EP99, utilisation(r, off))
	}
	c = steps(time.Second)
	c.Warmup = 8 * time.Second
	for i, d := range run(t, c, latency).Settling {
		if d < 0 || d > 6*time.Second {
			t.Errorf("step %d: settled after %v", i, d)
		}
	}
}

func TestLatencyWithDelivered(t *testing.T) {
	c := steps(5 * time.Second)
	c.Delivered = true
	r, off := run(t, c, latency), run(t, c, kinds[0].make)
	for i, d := range r.Settling {
		if d < 0 || d > 3*time.Second {
			t.Errorf("step %d: settled after %v", i, d)
		}
	}
	if u := utilisation(r, off); u < 0.97 {
		t.Errorf("utilisation %.3f", u)
	}
}

func TestLatencyLeavesAHealthyGroupAlone(t *testing.T) {
	for _, commit := range some(100*ms, time.Second) {
		c := healthy(commit)
		c.Warmup = 10 * time.Second
		if r := run(t, c, latency); r.Shed > 0 {
			t.Errorf("commits each %v: %d of %d records were shed", commit, r.Shed, r.Offered)
		}
	}
}

func TestLatencyRecovers(t *testing.T) {
	for _, f := range some(
		plant.Fault{Kind: plant.Kill, For: 3 * time.Second},
		plant.Fault{Kind: plant.Stall, For: 5 * time.Second},
		plant.Fault{Kind: plant.Rebalance, For: 3 * time.Second},
	) {
		t.Run(string(f.Kind), func(t *testing.T) {
			c := overload(100 * ms)
			c.Warmup, c.Members = 15*time.Second, 1
			f.At = -10 * time.Second
			c.Faults = []plant.Fault{f, {Kind: plant.Start, At: -9 * time.Second, For: 100 * ms}}
			if f.Kind != plant.Kill {
				c.Faults = c.Faults[:1]
			}
			r, off := run(t, c, latency), run(t, c, kinds[0].make)
			if r.E2EP99 > 300*ms || utilisation(r, off) < 0.99 {
				t.Errorf("p99 %v, utilisation %.3f", r.E2EP99, utilisation(r, off))
			}
		})
	}
}

func TestLatencyEnvelope(t *testing.T) {
	for _, capacity := range some[float64](4000, 1000, 16_000) {
		for _, partitions := range some(12, 1, 24) {
			for _, commit := range []time.Duration{50 * ms, 100 * ms, time.Second} {
				name := fmt.Sprintf("%.0f/s on %d, commits each %v", capacity, partitions, commit)
				c := overload(commit)
				mean := time.Duration(float64(partitions) / capacity * float64(time.Second))
				c.Work = plant.Work{Mean: mean, Jitter: mean / 4}
				c.Partitions, c.Producers = partitions, producers(4, 2*capacity)
				c.Warmup, c.For = 12*time.Second, 8*time.Second
				r, off := run(t, c, latency), run(t, c, kinds[0].make)
				if r.E2EP99 > 350*ms || utilisation(r, off) < 0.97 {
					t.Errorf("%s: p99 %v, utilisation %.3f", name, r.E2EP99, utilisation(r, off))
				}
			}
		}
	}
}
