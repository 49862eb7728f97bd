// Package arrival computes when each record of an open-loop load is due.
//
// An open-loop load is a function from a record's number to its due time, fixed
// before the run and untouched by what happens in it. The deterministic
// processes here (constant, burst, ramp, steps, spike) are given by their rate
// over time r(t); with N(t), the integral of r from 0 to t, record i is due at
//
//	due(i) = floor(the time at which N passes i), in nanoseconds
//
//	rate │      ┌──┐      ┌──┐            N │            ╭─╯
//	     │      │  │      │  │              │      ╭─────╯
//	     │──────┘  └──────┘  └──            │   ╭──╯
//	     └──────────────────────── t        └───┴────┴────┴──── t
//	                                         due(i)  due(i+1) ...
//
// so that the number of records in any window is the integral of the rate over
// it, within one. The arithmetic is in integers throughout: after 10⁹ records
// there is no drift, because there is nothing that could drift. While the rate
// is zero nothing is due, and the record that the silence delays comes at its
// end.
//
// The load is spread over workers without any of them talking to another: of n
// workers, number w has records w, w+n, w+2n and so on of the whole. (A Poisson
// process is spread in another way, see Poisson.)
//
// Files to know: arrival.go, profile.go, credit.go, stream.go, poisson.go.
package arrival

import (
	"math"
	"time"

	"kafkabench.example/kafka-bench/internal/plan/unit"
)

// Never is the due time of a record that will not come, because the rate has
// become zero for good.
const Never = math.MaxInt64

// MaxWorkers bounds over how many workers a process can be spread.
const MaxWorkers = 1 << 16

// Process is an arrival process; the constructors of this package make them.
// A Process does not change and may be shared.
type Process interface {
	// Stripe returns the arrivals of one worker of several, 0 ≤ worker <
	// workers ≤ MaxWorkers; a worker outside of that has no arrivals. The
	// stripes are disjoint, and together they are the whole process.
	Stripe(worker, workers int) Stream
	// Initial is the rate at time zero.
	Initial() unit.Rate
	// Expected is the number of arrivals to expect in [0, d); zero where d is
	// negative. Deterministic processes have that number within one.
	Expected(d time.Duration) float64

	// withWarmup returns the process with d > 0 of warm-up before it.
	withWarmup(d time.Duration) Process
}

// Stream is a cursor on one worker's arrivals, set on the first of them. It is
// used by one goroutine. Advance and Due allocate nothing and cost nanoseconds.
type Stream interface {
	// Index is the number of the current record in the whole process.
	Index() int64
	// Due is when the current record is due: nanoseconds since the process
	// started, negative during a warm-up, Never when there are no more. It
	// never decreases.
	Due() int64
	// Advance goes on to the next record.
	Advance()
	// Clone returns an independent cursor at the same place.
	Clone() Stream
}

// WithWarmup puts a warm-up before p: in [-d, 0) records are due at p.Initial(),
// and from 0 on they are due as in p, exactly as they would be without warm-up.
// Indexes run on through both. Where p starts at rate zero, nothing is due
// during the warm-up. A d of zero or less changes nothing.
func WithWarmup(d time.Duration, p Process) Process {
	if d <= 0 {
		return p
	}
	return p.withWarmup(d)
}
