package snapshot

import (
	"math"
	"time"

	"kafkabench.example/kafka-bench/internal/measure/ledger"
)

// Received are a worker's counts of deliveries.
type Received struct {
	// Delivered includes duplicates; with stamps, only intact records of this run. DeliveredBefore counts those before
	// the measured window, DeliveredInWindow those in it.
	Delivered, DeliveredBefore, DeliveredInWindow int64
	// Unique counts first deliveries; without stamps, offsets tell which delivery is the first. UniqueBefore counts
	// those before the measured window, UniqueInWindow those in it, UniqueAfter later ones.
	Unique, UniqueBefore, UniqueInWindow, UniqueAfter int64
	Processed                                         int64
	// Handed counts the bytes of all delivered keys and values, Bytes only those delivered in the
	// measured window.
	Handed, Bytes int64
	// FirstNs is the time of the first delivery; undefined without one.
	FirstNs int64
	// WorkInWindow is the simulated work in the measured window, in nanoseconds.
	WorkInWindow int64
	// Timed counts deliveries with an e2e service time; ServiceNs sums those times.
	Timed, ServiceNs int64
	// Crossed counts deliveries whose producer has another clock.
	Crossed int64
}

// Add adds o to r.
func (r *Received) Add(o Received) {
	if r.Delivered == 0 || o.Delivered > 0 && o.FirstNs < r.FirstNs {
		r.FirstNs = o.FirstNs
	}
	r.Delivered += o.Delivered
	r.DeliveredBefore += o.DeliveredBefore
	r.DeliveredInWindow += o.DeliveredInWindow
	r.Unique += o.Unique
	r.UniqueBefore += o.UniqueBefore
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

// Duplicates returns the deliveries that are not the first of their record.
func (r Received) Duplicates() int64 { return r.Delivered - r.Unique }

// MemberCounts are what the members of a group did as clients.
type MemberCounts struct {
	Polls, EmptyPolls     int64
	Commits, CommitErrors int64
	CommitTime            time.Duration // with round trips
	// Rebalances counts assignments and revocations, except the first assignment of a member that
	// was there from the start.
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

// Reached is a group's progress in one partition.
type Reached struct {
	// Position is the offset after the highest delivered record and the control records behind it; it never
	// decreases. At is when that record was first delivered. Before any delivery, At is NeverHanded.
	Position, At int64
	// Delivered includes duplicates. Arrived counts first deliveries and corrupt records; without stamps, offsets tell
	// which delivery is the first.
	Delivered, Arrived int64
	// Awaited has, for each producer, the sequences still to arrive. In a queue, which has no
	// order, these are all missing sequences; otherwise those above the highest arrived sequence.
	// Corrupt records of a queue stay in Awaited, because their sequences cannot be read.
	Awaited []ledger.Awaited
	Corrupt int64
	// Settled reports whether Position is the first offset plus the number of records that a queue has settled. Those
	// numbers add up over processes.
	Settled bool
}

// NeverHanded is the value of Reached.At while nothing was delivered.
const NeverHanded int64 = math.MinInt64

// Loss is what a killed member lost.
type Loss struct {
	Partitions []int32 // assigned to it, ascending
	// Uncommitted is the number of delivered, uncommitted records, an upper bound of the redeliveries.
	Uncommitted int64
	// OfQueue marks a member of a queue, for which only Unsettled is known.
	OfQueue   bool
	Unsettled int64
}
