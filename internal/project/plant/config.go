package plant

import (
	"time"

	"kafkabench.example/kafka-bench/internal/lagcontrol"
)

// Config is one case: a load, a topic, a group, and a way to control it.
type Config struct {
	// Seed determines all random draws.
	Seed uint64
	// Warmup precedes the measured window, whose length is For.
	Warmup, For time.Duration

	// Producers offer the load; each belongs to the gate with its Gate number.
	Producers []Producer
	// Produce is the time from a record's admission to its append, and Ack from there to its ack.
	// Each is drawn uniformly from half to one and a half of the value.
	Produce, Ack time.Duration
	// One of FailOneIn records fails; 0 means none.
	FailOneIn int

	// Partitions are filled in turn by each producer. Each partition has a worker.
	Partitions int
	// Members share the partitions: partition p belongs to member p mod Members; 0 means one.
	Members int
	// Fetch is the time from a record's append until an idle worker has it.
	Fetch time.Duration
	// Work is the processing time of a record; Steps change it.
	Work  Work
	Steps []Step
	// Commit is the interval at which a member commits processed records, all members at once if
	// Aligned.
	Commit  time.Duration
	Aligned bool
	Faults  []Fault

	// Poll is the interval at which each gate asks for a reading. Read is the mean time of the
	// answer, drawn from zero to twice that. A poll is skipped while the previous one has no
	// answer. Committed offsets are read at a random moment of that time, and high watermarks at a
	// later one.
	Poll, Read time.Duration
	// Delivered adds delivered positions to the readings.
	Delivered bool
	// MarkLate takes the gate's mark when the answer arrives: a mistake that breaks the bound.
	MarkLate bool

	// Gates is the number of gates, each with an equal, fixed part of the bound; 0 means one gate.
	Gates int
	// NewController makes the controller of one gate.
	NewController func() (lagcontrol.Controller, error)

	// Bound is the reference of Overshoot, in records; 0 means none.
	Bound int64
	// Target is the time from due to delivered by which settling is judged.
	Target time.Duration
}

// Producer is one source of records with its own schedule. It checks the clock once a millisecond.
type Producer struct {
	Gate int
	// Rate is the offered load in records per second. Every BurstEvery, it is BurstRate for
	// BurstFor.
	Rate, BurstRate      float64
	BurstFor, BurstEvery time.Duration
	// Defer is the number of records that may wait for admission. Further ones are shed, oldest
	// first.
	Defer int64
}

// Work is the distribution of a record's processing time.
type Work struct {
	Mean time.Duration
	// Jitter is the width of a uniform distribution around the mean.
	Jitter time.Duration
	// Exponential draws from an exponential distribution instead.
	Exponential bool
}

// Step changes the work at a time of the measured window.
type Step struct {
	At   time.Duration
	Work Work
}

// Fault is a fault of the group at a time of the measured window.
type Fault struct {
	Kind   FaultKind
	At     time.Duration
	Member int
	// For is the length of the stall or the rebalance, or the time until the group notices a kill.
	For time.Duration
}

// FaultKind is the kind of a fault.
type FaultKind string

// The kinds of faults.
const (
	// Stall: a member neither processes nor commits, and keeps its partitions.
	Stall FaultKind = "stall"
	// Kill: a member vanishes without a commit. The group notices after For; then the others read
	// again from the committed offsets.
	Kill FaultKind = "kill"
	// Start: a killed member comes back, which takes a rebalance of For.
	Start FaultKind = "start"
	// Rebalance: all members commit, and then process nothing during For.
	Rebalance FaultKind = "rebalance"
)
