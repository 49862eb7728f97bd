package scenario

import (
	"math"
	"slices"
	"time"

	"kafkabench.example/kafka-bench/internal/plan/unit"
)

// Defaults is the scenario of an empty file: what every value is when nobody
// says otherwise. Where Kafka's Java producer has a default of its own and this
// one differs, the comment says why.
func Defaults() Scenario {
	return Scenario{
		Name:    "unnamed",
		Driver:  "franz",
		Cluster: Cluster{Brokers: 1, Heap: unit.GiB, Metrics: "jmx"},
		Topic:   Topic{Partitions: 12, Replication: 1},
		Load: Load{
			Rate:         unit.Rate{Records: 1000, Per: time.Second}, // any laptop holds it
			Arrival:      Arrival{Process: "constant"},
			Producers:    1,
			Processes:    1, // the tool's own: what it measures is one process's client
			Clients:      0, // one for each producer: workers share no lock
			Pacer:        "frugal",
			Partitioning: "sticky", // as Kafka's own producer without keys (KIP-480)
			Record: Record{
				Size:    FixedSize(512),
				Payload: "json",
				Seed:    42,
				Keys:    Keys{Distribution: "none"},
			},
			// Kafka's own is all, with idempotence. On the one local broker
			// that a run starts by default both cost next to nothing and mean
			// the same; acks 1 is what the figures of other tools were taken
			// with. With replication it is a caveat, and Warnings says so.
			Acks:        "1",
			Idempotent:  false,
			Compression: "snappy", // Kafka's own is none; few who run Kafka leave it there
			Level:       0,
			Linger:      unit.Duration(5 * time.Millisecond), // Kafka's own since 4.0 (KIP-1030)
			Batch:       Batch(64 * unit.KiB),                // Kafka's own, 16 KiB, is 32 records of 512 B
			InFlight:    5,                                   // Kafka's own, and the most that idempotence allows
			// Kafka's own is 2m, longer than most runs: a record in trouble
			// would still be in trouble when the books are closed.
			DeliveryTimeout: unit.Duration(30 * time.Second),
			MaxBuffered:     10_000,
		},
		Consume: Consume{
			Consumers:  1,
			Groups:     1,
			Processes:  1, // the tool's own, as with the producers
			Assignment: "group",
			Parallel:   "consumer", // how most consumers are written: one loop
			Work:       Work{Distribution: "fixed"},
			Commit:     Commit{Interval: unit.Duration(time.Second)}, // Kafka's own is 5s, which shows as lag
			Protocol:   "classic",
			// Kafka's own. A paused partition that is resumed waits for the
			// fetch that is under way, so a client's longer default would let
			// a consumer run dry beside a full log.
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
			Signal:      "committed", // what any application can ask for
			Per:         "topic",
			Excess:      "defer", // loses nothing, and shows what waiting costs
			MaxDeferred: 1_000_000,
			// Longer than a broker's failover takes, and than the lag needs to
			// get out of hand.
			Grace: unit.Duration(5 * time.Second),
			Blind: "closed", // what is not known to fit is not sent
			Share: "static",
		},
		Sampling: Sampling{
			Interval: unit.Duration(time.Second),
			Lag:      unit.Duration(500 * time.Millisecond),
			Brokers:  unit.Duration(5 * time.Second), // a reading of some hundred metrics is work for a broker
			Replicas: unit.Duration(100 * time.Millisecond),
		},
		Repeat: 1,
	}
}

// openWarmup stands for a warm-up that is left open, because none is legal.
const openWarmup = unit.Duration(math.MinInt64)

// A derivation is a value that follows from other values when it is left open.
type derivation struct {
	path   string
	follow string // what the value follows from, for errors
	open   func(*Scenario) bool
	fill   func(*Scenario)
}

// derived are the values that follow from other values when they are left open.
// Zero is never a legal value for one of them but the warm-up, so zero is "open";
// a zero that somebody wrote is a mistake, which the loader reports by what follows.
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
				s.Cluster.Heap /= 2 // a laptop has to hold them all
			}
		},
	},
	{
		"consume.from", "end, or start where nobody produces",
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
		"phases.warmup", "3s, or none where nobody produces",
		func(s *Scenario) bool { return s.Phases.Warmup == openWarmup },
		func(s *Scenario) {
			s.Phases.Warmup = Defaults().Phases.Warmup
			if s.Load.Producers == 0 {
				s.Phases.Warmup = 0 // it would only read on; nothing has to be warm to read a log
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

// blank is what a file is read over: Defaults, with the derived values open.
func blank() Scenario {
	s := Defaults()
	s.Name = ""
	s.Load.Rate = unit.Rate{}
	s.Cluster.Brokers, s.Cluster.Heap = 0, 0
	s.Phases.Warmup = openWarmup
	s.Consume.Work.Distribution = ""
	return s
}

// Resolve returns s with the values filled in that follow from others: the rate
// of steps, the length of a ramp and of the last step, the number of keys, the
// distribution of work, the values of a queue, the brokers of a replicated topic and their heap, where
// reading a topic begins that holds something and whether that is warmed up, the lag at
// which a closed gate opens, the target and the share that is kept of a controller
// that has one. It changes nothing that is set, and judges nothing.
func (s Scenario) Resolve() Scenario {
	s.Load.Arrival.Steps = slices.Clone(s.Load.Arrival.Steps)
	s.Consume.Changes = slices.Clone(s.Consume.Changes)
	for _, d := range derived {
		if d.open(&s) {
			d.fill(&s)
		}
	}
	s.Load.Arrival.resolveSteps(s.Phases.Measure)
	s.Consume.Work.resolve()
	s.Consume.Queue.DeadLetter = s.Consume.Queue.Dead()
	for i := range s.Consume.Changes {
		s.Consume.Changes[i].Work.resolve()
	}
	return s
}

// resolveSteps gives the last step the time that the others leave.
func (a *Arrival) resolveSteps(measure unit.Duration) {
	if len(a.Steps) == 0 {
		return
	}
	last := &a.Steps[len(a.Steps)-1]
	if left := measure - a.stepsLength(); last.For == 0 && left > 0 {
		last.For = left
	}
}

// stepsLength is the length of all steps together.
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

// counted tells whether the distribution chooses among a number of keys.
func (k Keys) counted() bool {
	return slices.Contains([]string{"sequential", "uniform", "zipf"}, k.Distribution)
}

// Duration is how long one run of s takes, without starting a cluster: at least
// the warm-up and the measured window, at most the whole drain as well. All of
// them together take Repeat times as long.
func (s Scenario) Duration() (least, most time.Duration) {
	least = time.Duration(s.Phases.Warmup + s.Phases.Measure)
	return least, least + time.Duration(s.Phases.Drain)
}
