package plant

import (
	"time"

	"kafkabench.example/kafka-bench/backpressure"
)

// Config is one case: a load, a topic, a group, and a way to control it.
// The zero value of a field means what its comment says.
type Config struct {
	// Seed decides everything that is drawn.
	Seed uint64
	// Warmup is before the measured window, and For is the window's length.
	Warmup, For time.Duration

	// Producers offer the load; each belongs to the gate of its Gate number.
	Producers []Producer
	// Produce is how long a record takes from being admitted to being in the
	// log, and Ack from there to its acknowledgement. Both are drawn evenly from
	// half to one and a half of it.
	Produce, Ack time.Duration
	// FailOneIn is how many records there are to one that fails; 0 is none.
	FailOneIn int

	// Partitions are filled in turn by each producer. Each has a worker.
	Partitions int
	// Members share the partitions, number p going to member p mod Members; 0 is one.
	Members int
	// Fetch is from a record being in the log to its being with an idle worker.
	Fetch time.Duration
	// Work is what a record costs its worker. Steps change it later.
	Work  Work
	Steps []Step
	// Commit is how often a member commits what is processed. Members commit
	// together only if Aligned.
	Commit  time.Duration
	Aligned bool
	Faults  []Fault

	// Poll is how often each gate asks for a reading, and Read how long the
	// answer takes: drawn from zero to twice that. A poll is left out while the
	// one before it has no answer. Committed offsets are read at a drawn moment
	// of that time, high watermarks at a later one.
	Poll, Read time.Duration
	// Delivered makes the readings tell what the application took.
	Delivered bool
	// MarkLate takes the gate's mark when the answer is there, instead of before
	// it is asked for: a mistake, which the credit law does not survive.
	MarkLate bool

	// Gates is the number of gates, each a process of its own that has an equal
	// and fixed share of the bound, if there is one; 0 is one gate that has all of it.
	Gates int
	// NewController makes the controller of one gate.
	NewController func() (backpressure.Controller, error)

	// Bound is what overshoot is measured against, in records; 0 is nothing.
	Bound int64
	// Target is what settling is judged by.
	Target time.Duration
}

// Producer is one source of records with a schedule of its own. It looks at the
// clock once a millisecond.
type Producer struct {
	Gate int
	// Rate is offered in records per second. Every BurstEvery it is BurstRate for
	// BurstFor.
	Rate, BurstRate      float64
	BurstFor, BurstEvery time.Duration
	// Defer keeps what is not admitted, up to that many records, and counts its
	// waiting. The rest is shed, oldest first.
	Defer int64
}

// Work is the distribution of what one record costs.
type Work struct {
	Mean time.Duration
	// Jitter is the width of an even distribution around the mean.
	Jitter time.Duration
	// Exponential draws from an exponential distribution instead.
	Exponential bool
}

// Step changes the work at a time of the measured window.
type Step struct {
	At   time.Duration
	Work Work
}

// Fault is something that happens to the group at a time of the measured window.
type Fault struct {
	Kind   FaultKind
	At     time.Duration
	Member int
	// For is how long the stall, the rebalance, or after a kill the group's
	// noticing takes.
	For time.Duration
}

// FaultKind says what happens.
type FaultKind string

// What can happen to a group.
const (
	// Stall: a member works and commits nothing, and keeps its partitions.
	Stall FaultKind = "stall"
	// Kill: a member vanishes without a commit. The group notices after For; then
	// the others read again from what was committed.
	Kill FaultKind = "kill"
	// Start: a killed member comes back, which takes a rebalance of For.
	Start FaultKind = "start"
	// Rebalance: everybody commits and then works nothing for the time.
	Rebalance FaultKind = "rebalance"
)
