package plant_test

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"kafkabench.example/kafka-bench/internal/lagcontrol"
	"kafkabench.example/kafka-bench/internal/load/controller"
	"kafkabench.example/kafka-bench/internal/project/plant"
)

func credit(maxLag int64) func() (lagcontrol.Controller, error) {
	return func() (lagcontrol.Controller, error) { return lagcontrol.NewCredit(maxLag) }
}

func hard(maxLag int64) []kind {
	return []kind{
		{"credit", credit(maxLag)},
		{"latency", func() (lagcontrol.Controller, error) {
			return lagcontrol.NewLatency(lagcontrol.LatencyConfig{Target: target, MaxLag: maxLag})
		}},
		{"aimd", func() (lagcontrol.Controller, error) {
			return controller.NewAIMD(controller.AIMDConfig{Target: target, MaxLag: maxLag})
		}},
		{"gradient", func() (lagcontrol.Controller, error) {
			return controller.NewGradient(controller.GradientConfig{MaxLag: maxLag})
		}},
	}
}

func drawTime(t *rapid.T, low, high time.Duration, name string) time.Duration {
	return time.Duration(rapid.Int64Range(int64(low), int64(high)).Draw(t, name))
}

func drawConfig(t *rapid.T) plant.Config {
	c := plant.Config{
		Seed: rapid.Uint64().Draw(t, "seed"), For: 3 * time.Second,
		Produce: drawTime(t, 0, 100*ms, "produce"), Ack: drawTime(t, 0, 300*ms, "ack"),
		FailOneIn:  rapid.IntRange(0, 10).Draw(t, "one fails in"),
		Partitions: rapid.IntRange(1, 6).Draw(t, "partitions"),
		Members:    rapid.IntRange(1, 3).Draw(t, "members"),
		Fetch:      drawTime(t, 0, 20*ms, "fetch"),
		Work:       plant.Work{Mean: drawTime(t, 10*time.Microsecond, 20*ms, "work"), Exponential: rapid.Bool().Draw(t, "exponential")},
		Commit:     drawTime(t, 5*ms, 2*time.Second, "commit"),
		Poll:       drawTime(t, 5*ms, 500*ms, "poll"), Read: drawTime(t, 0, time.Second, "read"),
		Delivered: rapid.Bool().Draw(t, "delivered"),
		Gates:     rapid.IntRange(1, 3).Draw(t, "gates"),
	}
	for i := range rapid.IntRange(1, 4).Draw(t, "producers") {
		c.Producers = append(c.Producers, plant.Producer{
			Gate: i % c.Gates, Rate: rapid.Float64Range(0, 3000).Draw(t, "rate"),
			BurstRate: rapid.Float64Range(0, 20_000).Draw(t, "burst"), BurstFor: 100 * ms, BurstEvery: 700 * ms,
			Defer: rapid.SampledFrom([]int64{0, 50, 1 << 40}).Draw(t, "defer"),
		})
	}
	for range rapid.IntRange(0, 4).Draw(t, "faults") {
		c.Faults = append(c.Faults, plant.Fault{
			Kind: rapid.SampledFrom([]plant.FaultKind{plant.Stall, plant.Kill, plant.Start, plant.Rebalance}).Draw(t, "fault"),
			At:   drawTime(t, 0, 3*time.Second, "at"), For: drawTime(t, 0, time.Second, "for"),
			Member: rapid.IntRange(0, c.Members-1).Draw(t, "member"),
		})
	}
	return c
}

func TestNoScheduleExceedsTheBound(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := drawConfig(t)
		c.Bound = rapid.Int64Range(3, 500).Draw(t, "bound")
		k := rapid.SampledFrom(hard(c.Bound)).Draw(t, "controller")
		c.NewController = k.make
		r, err := plant.Run(c)
		if err != nil {
			t.Fatal(err)
		}
		if r.PeakLag > c.Bound {
			t.Fatalf("%s: a lag of %d with a bound of %d", k.name, r.PeakLag, c.Bound)
		}
	})
}

// With a late mark, acks between reading and mark count as seen. So the test above can fail.
func TestAMarkTakenLateBreaksTheBound(t *testing.T) {
	c := faults(plant.Fault{Kind: plant.Stall, At: time.Second, For: 2 * time.Second})
	c.Members, c.For, c.Read, c.MarkLate = 1, 5*time.Second, 200*ms, true
	if r := run(t, c, credit(bound)); r.Overshoot <= 1 {
		t.Errorf("peak ÷ bound is %.2f although the mark is taken too late", r.Overshoot)
	}
	c.MarkLate = false
	if r := run(t, c, credit(bound)); r.Overshoot > 1 {
		t.Errorf("peak ÷ bound is %.2f with the mark taken in time", r.Overshoot)
	}
}

func TestCreditUsesTheConsumersFully(t *testing.T) {
	for _, c := range some(cases...) {
		r, off := run(t, c.config, credit(bound)), run(t, c.config, kinds[0].make)
		if r.Overshoot > 1 {
			t.Errorf("%s: peak ÷ bound is %.3f", c.name, r.Overshoot)
		}
		needed := c.fastest * (c.config.Commit + 2*c.config.Poll).Seconds()
		if c.fastest == 0 || needed > bound {
			continue
		}
		if u := utilisation(r, off); u < 0.99 {
			t.Errorf("%s: utilisation is %.3f", c.name, u)
		}
	}
}

// The bound is above what commits each 100 ms need, but below what commits each second need.
func TestCreditLeavesAHealthyGroupAlone(t *testing.T) {
	if r := run(t, healthy(100*ms), credit(bound)); r.Shed != 0 {
		t.Errorf("%d of %d records were shed", r.Shed, r.Offered)
	}
	if r := run(t, healthy(time.Second), credit(bound)); r.Shed == 0 {
		t.Error("nothing was shed though commits each second at 10,000/s need a bound above 10,000")
	}
}

// A gate that needs less than its third of the bound is not limited.
func TestSharesKeepOneBound(t *testing.T) {
	r := run(t, threeGates(), credit(bound))
	if r.PeakLag > bound {
		t.Errorf("a lag of %d with a bound of %d", r.PeakLag, bound)
	}
	if r.BoundMax != bound/3 {
		t.Errorf("a third of %d is %d", bound, r.BoundMax)
	}
}
