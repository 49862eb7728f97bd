package plant_test

import (
	"time"

	"kafkabench.example/kafka-bench/internal/lagcontrol"
	"kafkabench.example/kafka-bench/internal/load/controller"
	"kafkabench.example/kafka-bench/internal/project/plant"
)

const (
	ms     = time.Millisecond
	bound  = 5000
	target = 250 * ms
)

// Twelve workers process 2,667 records a second.
var (
	work = plant.Work{Mean: 4500 * time.Microsecond, Jitter: 1 * ms}
	fast = plant.Work{Mean: work.Mean / 4, Jitter: work.Jitter / 4}
	easy = plant.Work{Mean: work.Mean / 16, Jitter: work.Jitter / 16}
)

type kind struct {
	name string
	make func() (lagcontrol.Controller, error)
}

var kinds = []kind{
	{"off", func() (lagcontrol.Controller, error) { return nil, nil }}, //nolint:nilnil // there is none
	{"hysteresis 20000/5000", func() (lagcontrol.Controller, error) { return controller.NewHysteresis(20_000, 5000) }},
	{"hysteresis 5000/1000", func() (lagcontrol.Controller, error) { return controller.NewHysteresis(bound, 1000) }},
	{"credit 5000", func() (lagcontrol.Controller, error) { return lagcontrol.NewCredit(bound) }},
	{"latency 250ms", func() (lagcontrol.Controller, error) {
		return lagcontrol.NewLatency(lagcontrol.LatencyConfig{Target: target})
	}},
	{"aimd 250ms", func() (lagcontrol.Controller, error) {
		return controller.NewAIMD(controller.AIMDConfig{Target: target})
	}},
	{"gradient", func() (lagcontrol.Controller, error) {
		return controller.NewGradient(controller.GradientConfig{})
	}},
}

func producers(n int, rate float64) []plant.Producer {
	all := make([]plant.Producer, n)
	for i := range all {
		all[i].Rate = rate / float64(n)
	}
	return all
}

// overload offers 10,000/s to consumers of 2,667/s.
func overload(commit time.Duration) plant.Config {
	return plant.Config{
		Seed: 1, Warmup: 3 * time.Second, For: 20 * time.Second,
		Producers: producers(8, 10_000), Produce: 7 * ms, Ack: 2 * ms,
		Partitions: 12, Members: 2, Fetch: 3 * ms, Work: work, Commit: commit,
		Poll: 100 * ms, Read: 3 * ms, Bound: bound, Target: target,
	}
}

// Commits and readings are at the same moments, and 25 ms pass from producer to consumer.
func locked(commit time.Duration) plant.Config {
	c := overload(commit)
	c.Aligned, c.Produce, c.Fetch = true, 20*ms, 5*ms
	return c
}

// steps has four times the capacity in the middle third.
func steps(commit time.Duration) plant.Config {
	c := overload(commit)
	c.Producers, c.For = producers(8, 20_000), 30*time.Second
	c.Steps = []plant.Step{{At: 10 * time.Second, Work: fast}, {At: 20 * time.Second, Work: work}}
	return c
}

func healthy(commit time.Duration) plant.Config {
	c := overload(commit)
	c.Work = easy
	return c
}

func bursty() plant.Config {
	c := overload(100 * ms)
	for i := range c.Producers {
		c.Producers[i] = plant.Producer{Rate: 1500.0 / 8, BurstRate: 12_000.0 / 8, BurstFor: 2 * time.Second, BurstEvery: 8 * time.Second}
	}
	return c
}

func faults(all ...plant.Fault) plant.Config {
	c := overload(100 * ms)
	c.Faults = all
	return c
}

func threeGates() plant.Config {
	c := overload(100 * ms)
	c.Gates = 3
	c.Producers = nil
	for i, rate := range []float64{6000, 3000, 1000} {
		for _, p := range producers(2, rate) {
			p.Gate = i
			c.Producers = append(c.Producers, p)
		}
	}
	return c
}

type example struct {
	name   string
	config plant.Config
	// fastest is the rate of busy consumers in records per second. It is 0 if only a backlog could
	// keep them busy during a pause of the load.
	fastest float64
}

var cases = []example{
	{"overload, commits each 100 ms", overload(100 * ms), 2667},
	{"overload, commits each 1 s", overload(time.Second), 2667},
	{"overload, commits each 100 ms, at the moments of the readings", locked(100 * ms), 2667},
	{"overload, commits each 1 s, at the moments of the readings", locked(time.Second), 2667},
	{"capacity ×4 up and down, commits each 100 ms", steps(100 * ms), 10667},
	{"capacity ×4 up and down, commits each 1 s", steps(time.Second), 10667},
	{"bursts of 12,000/s on 1,500/s", bursty(), 0},
	{"a member stalls for 3 s", faults(plant.Fault{Kind: plant.Stall, At: 8 * time.Second, For: 3 * time.Second}), 2667},
	{"a member is killed, and is back after 8 s", faults(
		plant.Fault{Kind: plant.Kill, At: 5 * time.Second, For: 3 * time.Second},
		plant.Fault{Kind: plant.Start, At: 13 * time.Second, For: 300 * ms}), 2667},
	{"a rebalance of 1 s", faults(plant.Fault{Kind: plant.Rebalance, At: 8 * time.Second, For: time.Second}), 2667},
	{"three gates that want 6,000, 3,000 and 1,000/s", threeGates(), 2667},
	{"healthy: 10,000/s on 42,667/s, commits each 100 ms", healthy(100 * ms), 10000},
	{"healthy, commits each 1 s", healthy(time.Second), 10000},
}
