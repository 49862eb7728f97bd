// Package arrival computes when each record of an open-loop load is due.
//
// An open-loop load is a function from a record's number to its due time, fixed before the run. The deterministic
// processes here (constant, burst, ramp, steps, spike) are given by their rate over time r(t). With N(t), the
// integral of r from 0 to t, record i is due at
//
//	due(i) = floor(the time at which N passes i), in nanoseconds
//
//	rate │      ┌──┐      ┌──┐            N │            ╭─╯
//	     │      │  │      │  │              │      ╭─────╯
//	     │──────┘  └──────┘  └──            │   ╭──╯
//	     └──────────────────────── t        └───┴────┴────┴──── t
//	                                         due(i)  due(i+1) ...
//
// So the number of records in any window is the integral of the rate over it, within one. All arithmetic is in
// integers, so there is no drift after 10⁹ records (ADR 0002). While the rate is zero no record is due; the next one
// is due at the end of that time.
//
// Workers share the load without communication: of n workers, number w has records w, w+n, w+2n and so on. (Poisson
// shares differently.)
//
// Files to know: arrival.go, profile.go, credit.go, stream.go, poisson.go.
package arrival

import (
	"math"
	"time"

	"kafkabench.example/kafka-bench/internal/plan/unit"
)

// Never is the due time of a record that is never due, because the rate stays zero.
const Never = math.MaxInt64

// MaxWorkers bounds the number of workers of a process.
const MaxWorkers = 1 << 16

// Process is an arrival process. A Process never changes and may be shared.
type Process interface {
	// Stripe returns the arrivals of one worker of several, 0 ≤ worker < workers ≤ MaxWorkers;
	// other numbers have no arrivals. The stripes are disjoint, and together they are the whole
	// process.
	Stripe(worker, workers int) Stream
	Initial() unit.Rate // the rate at time zero
	// Expected returns the expected number of arrivals in [0, d). It is exact within one for deterministic
	// processes.
	Expected(d time.Duration) float64

	// d must be above 0.
	withWarmup(d time.Duration) Process
}

// Stream is a cursor on one worker's arrivals, which starts at the first. One goroutine uses it. Advance and Due
// allocate nothing and take nanoseconds.
type Stream interface {
	// Index returns the number of the current record in the whole process.
	Index() int64
	// Due returns nanoseconds since the start of the process, negative during a warm-up, Never after the last
	// record. It never decreases.
	Due() int64
	Advance()
	// Clone returns an independent cursor at the same place.
	Clone() Stream
}

// WithWarmup puts a warm-up before p: in [-d, 0) records are due at rate p.Initial(), and from 0 on exactly as in
// p. Indexes continue through both. If p starts at rate zero, no record is due during the warm-up.
func WithWarmup(d time.Duration, p Process) Process {
	if d <= 0 {
		return p
	}
	return p.withWarmup(d)
}
