package snapshot

import (
	"math"
	"time"

	"kafkabench.example/kafka-bench/internal/measure/ledger"
)

// Received are a worker's counts of what it was handed.
type Received struct {
	Delivered         int64 // duplicates included; where there are stamps, intact records of this run
	DeliveredInWindow int64 // of those, handed over within the measured window
	// Unique counts first deliveries: of an intact record that arrives for the first time,
	// or without stamps of one whose offset is above all before it. UniqueInWindow were
	// handed over within the measured window, UniqueAfter at its end or later.
	Unique, UniqueInWindow, UniqueAfter int64
	Processed                           int64
	// Handed are the keys and values of all that was handed over; Bytes of that in the window.
	Handed, Bytes int64
	// FirstNs is when the first of Delivered was handed over; it means nothing without one.
	FirstNs int64
	// WorkInWindow is the simulated work that fell into the measured window,
	// in nanoseconds.
	WorkInWindow int64
	// Timed counts the deliveries that have an e2e service time, and ServiceNs is its
	// sum over them.
	Timed, ServiceNs int64
	// Crossed counts those of Delivered whose producer has another clock than the worker.
	Crossed int64
}

// Add adds o to r.
func (r *Received) Add(o Received) {
	if r.Delivered == 0 || o.Delivered > 0 && o.FirstNs < r.FirstNs {
		r.FirstNs = o.FirstNs
	}
	r.Delivered += o.Delivered
	r.DeliveredInWindow += o.DeliveredInWindow
	r.Unique += o.Unique
	r.UniqueInWindow += o.UniqueInWindow
	r.UniqueAfter += o.UniqueAfter
	r.Processed += o.Processed
	r.Handed += o.Handed
	r.Bytes += o.Bytes
	r.WorkInWindow += o.WorkInWindow
	r.Timed += o.Timed
	r.ServiceNs += o.ServiceNs
	r.Crossed += o.Crossed
}

// Duplicates are the deliveries that are not the first of their record.
func (r Received) Duplicates() int64 { return r.Delivered - r.Unique }

// MemberCounts are what the members of a group did as clients.
type MemberCounts struct {
	Polls, EmptyPolls     int64
	Commits, CommitErrors int64
	CommitTime            time.Duration // of the commits in sum, their round trips included
	// Rebalances are assignments and revocations, but for the first assignment of
	// a member that was there from the start.
	Rebalances int64
}

// Add adds o to c.
func (c *MemberCounts) Add(o MemberCounts) {
	c.Polls += o.Polls
	c.EmptyPolls += o.EmptyPolls
	c.Commits += o.Commits
	c.CommitErrors += o.CommitErrors
	c.CommitTime += o.CommitTime
	c.Rebalances += o.Rebalances
}

// Reached is how far a group has come in one partition.
type Reached struct {
	// Position is the offset after the highest record handed over and the control
	// records behind it, and At when that record was, for the first time; before any
	// it is where the partition starts, and NeverHanded. It never goes back, though
	// records may be delivered again.
	Position, At int64
	// Delivered counts handed-over records, duplicates included; Arrived those
	// that came for the first time, corrupt ones included (by their offsets, where
	// records carry no stamp).
	Delivered, Arrived int64
	// Awaited is, for each producer, which sequences are to arrive: those above the highest
	// that arrived, or with a queue, which is in no order, all that did not. Corrupt counts
	// what arrived at a queue and is among them all the same, because nobody can read which
	// it was.
	Awaited []ledger.Awaited
	Corrupt int64
	// Settled reports whether Position counts what a queue has settled, from where the
	// partition starts: the counts of several processes add up.
	Settled bool
}

// NeverHanded is when a partition's last record was handed over of which none was.
const NeverHanded int64 = math.MinInt64

// Loss is what a killed member took with it.
type Loss struct {
	Partitions []int32 // that it had, in order
	// Uncommitted is how many records it had been handed and had not committed:
	// as many are delivered again at the most, by as much as the brokers know.
	Uncommitted int64
	// OfQueue is set of a member of a queue, of which only that is known: Unsettled
	// records were in its hands.
	OfQueue   bool
	Unsettled int64
}
