package backpressure

import (
	"math"
	"time"
)

// Unlimited is the ceiling of a gate that lets everything through.
const Unlimited int64 = math.MaxInt64

// Observation is all that a controller knows when it decides.
type Observation struct {
	// At is the time of the decision on any monotonic axis.
	At time.Duration
	// Lag is the consumer lag in records: the sum over the topic's partitions
	// of high watermark − committed offset.
	Lag int64
	// Age is how old that reading is: from when the offsets were asked for.
	Age time.Duration
	// Admitted is the number of records admitted so far.
	Admitted int64
	// Open tells whether the gate would admit a record right now.
	Open bool
}

// Decision is what a controller answers.
type Decision struct {
	// Ceiling is the number of records that may have been admitted in all.
	// A ceiling at or below what is already admitted closes the gate.
	Ceiling int64
	// Reason says in one line why, with the figures that led to it.
	Reason string
}

// Controller decides how much may be admitted. Its answer depends on the
// observations it was given and on nothing else: no clock, no randomness, no
// input or output. It is called from one goroutine at a time.
type Controller interface {
	Decide(Observation) Decision
}
