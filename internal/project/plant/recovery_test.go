package plant_test

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"kafkabench.example/kafka-bench/internal/lagcontrol"
	"kafkabench.example/kafka-bench/internal/project/plant"
)

// recovery is the time from the end of a disturbance until the consumers are used again, by commit
// interval.
var recovery = map[time.Duration]time.Duration{100 * ms: 10 * time.Second, time.Second: 30 * time.Second}

// Controllers that find their bound themselves use nine tenths of the group's capacity again.
func TestControllersRecoverFromABadSpell(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		commit := rapid.SampledFrom([]time.Duration{100 * ms, time.Second}).Draw(t, "commit")
		spell := drawTime(t, time.Second, 40*time.Second, "spell")
		c := overload(commit)
		c.Seed, c.Gates = rapid.Uint64().Draw(t, "seed"), rapid.SampledFrom([]int{1, 3}).Draw(t, "gates")
		c.Aligned = rapid.Bool().Draw(t, "aligned")
		c.Partitions, c.Work, c.Producers = 4, plant.Work{Mean: 8 * ms, Jitter: 2 * ms}, producers(3, 900)
		for i := range c.Producers {
			c.Producers[i].Gate = i % c.Gates
		}
		c.Warmup, c.For = 5*time.Second+spell+recovery[commit], 5*time.Second
		begin := 5*time.Second - c.Warmup
		switch kind := rapid.SampledFrom([]plant.FaultKind{"slow", plant.Stall, plant.Rebalance, plant.Kill}).Draw(t, "fault"); kind {
		case "slow":
			ill := plant.Work{Mean: drawTime(t, 20*ms, time.Second, "work"), Exponential: rapid.Bool().Draw(t, "exponential")}
			c.Steps = []plant.Step{{At: begin, Work: ill}, {At: begin + spell, Work: c.Work}}
		case plant.Kill:
			c.Members = 1
			c.Faults = []plant.Fault{{Kind: kind, At: begin, For: spell / 2}, {Kind: plant.Start, At: begin + spell, For: 100 * ms}}
		default:
			c.Members = rapid.IntRange(1, 3).Draw(t, "members")
			c.Faults = []plant.Fault{{Kind: kind, At: begin, For: spell}}
		}
		k := rapid.SampledFrom(kinds[4:]).Draw(t, "controller")
		r := runRapid(t, c, k.make)
		if capacity := float64(c.Partitions) / c.Work.Mean.Seconds(); float64(r.Delivered) < 0.9*capacity*c.For.Seconds() {
			t.Fatalf("%s: %d delivered in %v, of %.0f/s", k.name, r.Delivered, c.For, capacity)
		}
	})
}

func runRapid(t *rapid.T, c plant.Config, make func() (lagcontrol.Controller, error)) plant.Result {
	c.NewController = make
	r, err := plant.Run(c)
	if err != nil {
		t.Fatal(err)
	}
	return r
}
