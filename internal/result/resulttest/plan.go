// Package resulttest simulates runs for tests that read results. It simulates each record, with a
// slightly late pacer, a broker that answers in milliseconds, consumers with a fixed capacity, and
// a gate. So the figures are consistent: books balance, and lag is records that were acked and not
// committed. The same plan gives the same bytes on every machine.
package resulttest

import (
	"time"

	"kafkabench.example/kafka-bench/internal/result"
)

// Plan describes a simulated run.
type Plan struct {
	Name string
	ID   string
	Seed uint64

	RatePerS   int64
	Partitions int
	Members    int
	// Work for each record, to which Jitter is added uniformly; with zero work consumers always
	// keep up.
	Work, Jitter time.Duration

	// MaxLag closes the gate and ResumeLag opens it, in records; a MaxLag of zero is no
	// backpressure. Excess is "shed" or "defer".
	MaxLag, ResumeLag int64
	Excess            string

	Warmup, Measure, Drain time.Duration
}

// Overload offers 10,000/s to consumers that can process 2,667/s.
func Overload() Plan {
	return Plan{
		Name: "overload", ID: "o7fq2m", Seed: 1,
		RatePerS: 10_000, Partitions: 12, Members: 2,
		Work: 4 * time.Millisecond, Jitter: time.Millisecond,
		Warmup: 3 * time.Second, Measure: 20 * time.Second, Drain: 60 * time.Second,
	}
}

// OverloadLoose is Overload behind a gate that closes at 20,000 records of lag.
func OverloadLoose() Plan {
	p := Overload()
	p.Name, p.ID = "overload-loose", "l5xw7c"
	p.MaxLag, p.ResumeLag, p.Excess = 20_000, 5_000, "shed"
	return p
}

// OverloadTight is Overload behind a gate that closes at 5,000 records of lag.
func OverloadTight() Plan {
	p := Overload()
	p.Name, p.ID = "overload-tight", "t3va6k"
	p.MaxLag, p.ResumeLag, p.Excess = 5_000, 1_000, "shed"
	return p
}

// Baseline is a load that the consumers can process.
func Baseline() Plan {
	p := Overload()
	p.Name, p.ID = "baseline", "b2mzr4"
	p.Members, p.Work, p.Jitter = 4, 0, 0
	return p
}

// StartedAt is the start of all simulated runs.
var StartedAt = time.Date(2026, 11, 21, 19, 59, 0, 0, time.UTC)

// Run simulates the plan.
func (p Plan) Run() *result.Recorded {
	s := newSimulation(p)
	s.run()
	return s.recorded()
}
