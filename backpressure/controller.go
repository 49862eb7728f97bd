package backpressure

import (
	"math"
	"time"
)

// Unlimited is the ceiling of a gate that admits everything.
const Unlimited int64 = math.MaxInt64

// Observation is the complete input of a controller's decision.
type Observation struct {
	// At is the time of the decision on any monotonic axis. Age is the time since the reading was
	// asked for.
	At, Age time.Duration

	// Lag is the consumer lag in records: the sum over the partitions of high watermark −
	// committed offset. In a gate with a [Share] it counts only this gate's records.
	Lag int64
	// Committed counts committed records and never falls; only its differences have a meaning. In a
	// gate with a share it counts only this gate's records.
	Committed int64
	// Partitions is the reading by partition, with the records of all producers; nil if
	// the source does not report partitions.
	Partitions []Partition

	// Admitted is the number of records admitted so far. Settled is how many of them had a known
	// fate when the reading was asked for: they are in the reading, or never in the log.
	Admitted, Settled int64
	// Refused counts the records that were asked for and not admitted at once.
	Refused int64
	// Share is this gate's part of the bound, from 0 to 1.
	Share float64
	// Open reports whether Admitted is below the controller's last ceiling. A blind gate
	// does not change that.
	Open bool
}

// Decision is a controller's answer.
type Decision struct {
	// Ceiling is how many records may have been admitted in all.
	Ceiling int64
	// Bound is the lag in records that the ceiling enforces; Unlimited if none.
	Bound int64
	// Reason explains the decision in one line, with figures.
	Reason string
}

// Controller decides how many records may be admitted. Its answer depends only on its observations,
// not on a clock or on randomness. The gate calls it from one goroutine at a time.
type Controller interface {
	Decide(Observation) Decision
}

// Pacer is a controller whose ceiling rises with time between two readings.
type Pacer interface {
	Controller
	// Ceiling returns the ceiling at a time on the axis of the observations, at or after the last
	// observation.
	Ceiling(at time.Duration) int64
}

// Limiter is a controller that has a bound; [Off] and [Hysteresis] have none. Its gate admits
// nothing before the first reading. Only a bound can be divided by a [Share].
type Limiter interface {
	Controller
	// Limit is the highest possible value of the whole bound, in records; Unlimited if unknown. It
	// never changes. An Acquire of more records is an error.
	Limit() int64
}
