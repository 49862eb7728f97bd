package lagcontrol

import (
	"math"
	"time"
)

// Unlimited is the ceiling of a gate that admits everything.
const Unlimited int64 = math.MaxInt64

// Observation is the complete input of a controller's decision.
type Observation struct {
	// At is the time of the decision, on any monotonic axis. Age is the time from the request of
	// the reading until At.
	At, Age time.Duration

	// Lag is the consumer lag in records: the sum over the partitions of high watermark − committed
	// offset. With a [Share], Lag and Committed count only this gate's records.
	Lag int64
	// Committed counts committed records. It never falls; only its differences have a meaning.
	Committed int64
	// Partitions are those of the reading, so they count the records of all producers; nil if not
	// reported.
	Partitions []Partition

	// Admitted counts the records admitted so far. Settled counts the records whose fate was known
	// when the reading was requested: they are in the reading, or never in the log. So at most Lag
	// + Admitted − Settled records are in the log and not committed.
	Admitted, Settled int64
	// Refused counts the records that were not admitted at once.
	Refused int64
	// Share is this gate's part of the bound, from 0 to 1.
	Share float64
	// Open reports whether Admitted is below the controller's last ceiling, also in a blind gate.
	Open bool
}

// Decision is a controller's answer.
type Decision struct {
	// Ceiling is the highest number of records that may have been admitted since New. A ceiling at
	// or below Admitted closes the gate.
	Ceiling int64
	// Bound is the lag in records that the ceiling enforces; Unlimited if none.
	Bound int64
	// Reason explains the decision in one line, with figures.
	Reason string
}

// Controller decides how many records may be admitted. Its answer depends only on its observations.
// The gate calls it from one goroutine at a time.
type Controller interface {
	Decide(Observation) Decision
}

// Pacer is a controller whose ceiling rises with time between two readings.
type Pacer interface {
	Controller
	// Ceiling returns the ceiling at a time on the axis of the observations. The time is not before
	// the last observation.
	Ceiling(at time.Duration) int64
}

// Limiter is a controller that has a bound. Its gate admits nothing before the first reading. A [Share] divides the bound, so it needs a Limiter.
type Limiter interface {
	Controller
	// Limit is the highest possible value of the whole bound, in records; Unlimited if unknown. It
	// never changes. An Acquire of more records is an error.
	Limit() int64
}

// unbounded admits everything.
type unbounded struct{}

func (unbounded) Decide(Observation) Decision {
	return Decision{Ceiling: Unlimited, Bound: Unlimited, Reason: "there is no bound"}
}
