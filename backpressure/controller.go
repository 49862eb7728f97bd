package backpressure

import (
	"math"
	"time"
)

// Unlimited is the ceiling of a gate that lets everything through.
const Unlimited int64 = math.MaxInt64

// Observation is all that a controller knows when it decides.
type Observation struct {
	// At is the time of the decision on any monotonic axis, and Age how long before
	// that the reading was asked for.
	At, Age time.Duration

	// Lag is the consumer lag in records that the gate answers for: the sum over
	// the partitions of high watermark − committed offset or, where other producers
	// have gates of their own, what of that this gate admitted.
	Lag int64
	// Committed counts the records committed so far and never falls. Its origin is
	// arbitrary: only differences mean anything. In a gate with a share it counts
	// those that this gate admitted.
	Committed int64
	// Partitions is the reading by partition, of everybody's records; nil where the
	// source does not tell.
	Partitions []Partition

	// Admitted is the number of records admitted so far, and Settled how many of
	// them had a known fate when the reading was asked for: they were in the log
	// and so in the reading, or never will be. At the time of the decision at most
	// Lag + Admitted − Settled records are in the log and not committed.
	Admitted, Settled int64
	// Refused counts the records that were asked for and not granted at once.
	Refused int64
	// Share is this gate's part of the bound, from 0 to 1.
	Share float64
	// Open tells whether the ceiling of the last decision has room. A gate that was
	// blind in between does not count as closed for that.
	Open bool
}

// Decision is what a controller answers.
type Decision struct {
	// Ceiling is the number of records that may have been admitted in all.
	// A ceiling at or below what is already admitted closes the gate.
	Ceiling int64
	// Bound is the lag in records that the ceiling stands for; Unlimited where
	// the controller has none in force.
	Bound int64
	// Reason says in one line why, with the figures that led to it.
	Reason string
}

// Controller decides how much may be admitted. Its answer depends on the
// observations it was given and on nothing else: no clock, no randomness, no
// input or output. It is called from one goroutine at a time.
type Controller interface {
	Decide(Observation) Decision
}

// Pacer is a controller whose ceiling rises with time between two readings.
type Pacer interface {
	Controller
	// Ceiling is the ceiling at a time on the observations' axis, not before that
	// of the last observation.
	Ceiling(at time.Duration) int64
}

// Limiter is a controller that has a bound: all but [Off] and on/off control such as
// [Hysteresis]. A gate admits nothing before its first reading then, for of a lag
// that nobody has read no bound can be kept; and a bound is what gates can have a
// [Share] of.
type Limiter interface {
	Controller
	// Limit is the highest that the whole bound can become, in records; Unlimited
	// where that is not known. It never changes. An Acquire of more is an error
	// instead of a wait without end.
	Limit() int64
}
