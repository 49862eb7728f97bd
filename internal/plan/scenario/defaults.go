package scenario

import (
	"math"
	"slices"
	"time"

	"kafkabench.example/kafka-bench/internal/plan/payload"
	"kafkabench.example/kafka-bench/internal/plan/unit"
)

// Defaults returns the scenario of an empty file. A comment gives the reason for a value that
// differs from the default of Kafka's Java producer.
func Defaults() Scenario {
	return Scenario{
		Name:    "unnamed",
		Driver:  "franz",
		Cluster: Cluster{Brokers: 1, Heap: unit.GiB, Metrics: "jmx"},
		Topic:   Topic{Partitions: 12, Replication: 1},
		Load: Load{
			Rate:         unit.Rate{Records: 1000, Per: time.Second}, // any laptop sustains it
			Arrival:      Arrival{Process: "constant"},
			Producers:    1,
			Processes:    1, // measure the client of one process
			Clients:      0, // one for each producer; workers share no lock
			Pacer:        "frugal",
			Partitioning: "sticky", // the default of Kafka's producer without keys (KIP-480)
			Record: Record{
				Size:    FixedSize(512),
				Payload: Payload{Class: "json"},
				Stamp:   "value", // the size on the wire is load.record.size
				Seed:    42,
				Keys:    Keys{Distribution: "none"},
			},
			// Kafka's default is all, with idempotence. On one local broker, acks 1 means the same
			// as acks all, and other tools publish figures with acks 1. For a replicated topic,
			// Warnings reports acks 1.
			Acks:        "1",
			Idempotent:  false,
			Compression: "snappy", // Kafka's default is none, but few production clusters use it
			Level:       0,
			Linger:      unit.Duration(5 * time.Millisecond), // Kafka's default since 4.0 (KIP-1030)
			Batch:       Batch(64 * unit.KiB),                // Kafka's default, 16 KiB, is 32 records of 512 B
			InFlight:    5,                                   // Kafka's default, and the maximum with idempotence
			// Kafka's default, 2m, is longer than most runs; failing records would still be open at
			// the end.
			DeliveryTimeout: unit.Duration(30 * time.Second),
			MaxBuffered:     10_000,
		},
		Consume: Consume{
			Consumers:  1,
			Groups:     1,
			Processes:  1,
			Assignment: "group",
			Parallel:   "consumer", // one loop, as in most consumers
			Work:       Work{Distribution: "fixed"},
			Commit:     Commit{Interval: unit.Duration(time.Second)}, // Kafka's default is 5s, which shows as lag
			Protocol:   "classic",
			// Kafka's default. With a longer wait, a resumed partition would wait longer for the
			// current fetch.
			Fetch: Fetch{MaxWait: unit.Duration(500 * time.Millisecond)},
		},
		Phases: Phases{
			Warmup:  unit.Duration(3 * time.Second),
			Measure: unit.Duration(30 * time.Second),
			Drain:   unit.Duration(30 * time.Second),
		},
		Backpressure: Backpressure{
			Controller:  "off",
			Poll:        unit.Duration(100 * time.Millisecond),
			Signal:      "committed", // available to any application
			Excess:      "defer",     // drops no records, and shows the cost of waiting
			MaxDeferred: 1_000_000,
			// Longer than a broker's failover, and than the time until the lag exceeds its bound.
			Grace: unit.Duration(5 * time.Second),
			Blind: "closed",
		},
		Sampling: Sampling{
			Interval: unit.Duration(time.Second),
			Lag:      unit.Duration(500 * time.Millisecond),
			Brokers:  unit.Duration(5 * time.Second), // reading some hundred metrics costs the broker work
			Replicas: unit.Duration(100 * time.Millisecond),
		},
		Repeat: 1,
	}
}

// openWarmup marks a warm-up without a value, because 0 is valid.
const openWarmup = unit.Duration(math.MinInt64)

type derivation struct {
	path   string
	follow string
	open   func(*Scenario) bool
	fill   func(*Scenario)
}

// 0 marks an open value, except for the warm-up. The loader reports a written 0 as a mistake.
var derived = append([]derivation{
	{
		"load.rate", "the first step's rate, or 1k/s",
		func(s *Scenario) bool { return s.Load.Rate.IsZero() },
		func(s *Scenario) {
			s.Load.Rate = Defaults().Load.Rate
			if steps := s.Load.Arrival.Steps; len(steps) > 0 {
				s.Load.Rate = steps[0].Rate
			}
		},
	},
	{
		"load.arrival.over", "the whole measured window",
		func(s *Scenario) bool { return s.Load.Arrival.Over == 0 && s.Load.Arrival.Process == "ramp" },
		func(s *Scenario) { s.Load.Arrival.Over = s.Phases.Measure },
	},
	{
		stampKey, "value, or header with a file",
		func(s *Scenario) bool { return s.Load.Record.Stamp == "" },
		func(s *Scenario) {
			s.Load.Record.Stamp = Defaults().Load.Record.Stamp
			if s.Load.Record.Payload.File != "" {
				s.Load.Record.Stamp = HeaderStamp
			}
		},
	},
	{
		"load.record.payload.format", payload.Lines,
		func(s *Scenario) bool { return s.Load.Record.Payload.File != "" && s.Load.Record.Payload.Format == "" },
		func(s *Scenario) { s.Load.Record.Payload.Format = payload.Lines },
	},
	{
		"load.record.keys.count", "10000",
		func(s *Scenario) bool { return s.Load.Record.Keys.Count == 0 && s.Load.Record.Keys.counted() },
		func(s *Scenario) { s.Load.Record.Keys.Count = 10_000 },
	},
	{
		"load.record.keys.skew", "1.1",
		func(s *Scenario) bool {
			return s.Load.Record.Keys.Skew == 0 && s.Load.Record.Keys.Distribution == "zipf"
		},
		func(s *Scenario) { s.Load.Record.Keys.Skew = 1.1 },
	},
	{
		"cluster.brokers", "topic.replication",
		func(s *Scenario) bool { return s.Cluster.Brokers == 0 },
		func(s *Scenario) { s.Cluster.Brokers = max(1, s.Topic.Replication) },
	},
	{
		"cluster.heap", "1GiB for one broker, 512MiB for each of several",
		func(s *Scenario) bool { return s.Cluster.Heap == 0 },
		func(s *Scenario) {
			s.Cluster.Heap = Defaults().Cluster.Heap
			if s.Cluster.Brokers > 1 {
				s.Cluster.Heap /= 2 // for a laptop's memory
			}
		},
	},
	{
		"consume.from", "end, or start without producers",
		func(s *Scenario) bool {
			return s.Consume.From == "" && (s.Topic.Existing != "" || s.Filled())
		},
		func(s *Scenario) {
			s.Consume.From = "end"
			if s.Load.Producers == 0 {
				s.Consume.From = "start"
			}
		},
	},
	{
		"phases.warmup", "3s, or none without producers",
		func(s *Scenario) bool { return s.Phases.Warmup == openWarmup },
		func(s *Scenario) {
			s.Phases.Warmup = Defaults().Phases.Warmup
			if s.Load.Producers == 0 {
				s.Phases.Warmup = 0 // reading a log needs no warm-up
			}
		},
	},
	{
		"backpressure.resume_lag", "half of max_lag",
		func(s *Scenario) bool {
			return s.Backpressure.ResumeLag == 0 && s.Backpressure.Controller == "hysteresis"
		},
		func(s *Scenario) { s.Backpressure.ResumeLag = s.Backpressure.MaxLag / 2 },
	},
	{
		"backpressure.target", "250ms for aimd; latency asks for one",
		func(s *Scenario) bool { return s.Backpressure.Target == 0 && s.Backpressure.Controller == "aimd" },
		func(s *Scenario) { s.Backpressure.Target = unit.Duration(250 * time.Millisecond) },
	},
	{
		"backpressure.keep", "10",
		func(s *Scenario) bool { return s.Backpressure.Keep == 0 && s.Backpressure.Excess == "degrade" },
		func(s *Scenario) { s.Backpressure.Keep = 10 },
	},
}, openQueue...)

// blank returns Defaults with the derived values open.
func blank() Scenario {
	s := Defaults()
	s.Name = ""
	s.Load.Rate = unit.Rate{}
	s.Cluster.Brokers, s.Cluster.Heap = 0, 0
	s.Phases.Warmup = openWarmup
	s.Consume.Work.Distribution, s.Load.Record.Stamp = "", ""
	return s
}

// Resolve returns s with its open values filled in: the derived values, the last step's time, the
// work's distribution and a queue's dead letters. It does not validate.
func (s Scenario) Resolve() Scenario {
	s.Load.Arrival.Steps = slices.Clone(s.Load.Arrival.Steps)
	s.Consume.Changes = slices.Clone(s.Consume.Changes)
	for _, d := range derived {
		if d.open(&s) {
			d.fill(&s)
		}
	}
	if s.Load.Record.Payload.File != "" {
		s.Load.Record.Payload.Class = ""
	}
	s.Load.Arrival.resolveSteps(s.Phases.Measure)
	s.Consume.Work.resolve()
	s.Consume.Queue.DeadLetter = s.Consume.Queue.Dead()
	for i := range s.Consume.Changes {
		s.Consume.Changes[i].Work.resolve()
	}
	return s
}

func (a *Arrival) resolveSteps(measure unit.Duration) {
	if len(a.Steps) == 0 {
		return
	}
	last := &a.Steps[len(a.Steps)-1]
	if left := measure - a.stepsLength(); last.For == 0 && left > 0 {
		last.For = left
	}
}

func (a *Arrival) stepsLength() (sum unit.Duration) {
	for _, step := range a.Steps {
		sum += step.For
	}
	return sum
}

func (w *Work) resolve() {
	switch {
	case w.Distribution != "":
	case w.Median != 0 || w.P50 != 0:
		w.Distribution = "lognormal"
	case w.Jitter != 0:
		w.Distribution = "uniform"
	default:
		w.Distribution = "fixed"
	}
}

func (k Keys) counted() bool {
	return slices.Contains([]string{"sequential", "uniform", "zipf"}, k.Distribution)
}

// Duration returns how long one run of s takes, without the start of a cluster: at least the
// warm-up and the measured window, at most also the drain. In a closed loop an amount may end the
// window at any time.
func (s Scenario) Duration() (least, most time.Duration) {
	least = time.Duration(s.Phases.Warmup + s.Phases.Measure)
	most = least + time.Duration(s.Phases.Drain)
	if s.Load.Rate.IsMax() && s.Load.AmountKey() != "" {
		least = time.Duration(s.Phases.Warmup)
	}
	return least, most
}
