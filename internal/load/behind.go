package load

import (
	"math"
	"slices"

	"kafkabench.example/kafka-bench/internal/measure/latency"
	"kafkabench.example/kafka-bench/internal/measure/ledger"
)

// Behind is how far the sending side is ahead of the receiving one at a moment:
// what an interval asks, in one answer.
type Behind struct {
	// AckedIn is the number of acknowledged records in each partition.
	AckedIn []int64
	// OpenRecords is, for each partition, how many records were sent there, did not arrive,
	// and did not fail either, nor are unknown: the user has no answer. OldestDueNs is when
	// the oldest of them was due; NothingDue where there is none.
	OpenRecords, OldestDueNs []int64
	// WaitingRecords wait at the source, the oldest of them since WaitingDueNs.
	WaitingRecords, WaitingDueNs int64
}

// NothingDue is later than every due time.
const NothingDue int64 = math.MaxInt64

// NewBehind has acknowledged records in each partition, and none that is open.
func NewBehind(ackedIn []int64) Behind {
	return Behind{AckedIn: ackedIn, OpenRecords: make([]int64, len(ackedIn)), OldestDueNs: slices.Repeat([]int64{NothingDue}, len(ackedIn))}
}

// Clone returns a copy that shares nothing with b.
func (b Behind) Clone() Behind {
	b.AckedIn, b.OpenRecords, b.OldestDueNs = slices.Clone(b.AckedIn), slices.Clone(b.OpenRecords), slices.Clone(b.OldestDueNs)
	return b
}

// Behind answers for all partitions, given what is to arrive in each of them of the lane
// of each producer. Asking is what makes the lanes forget what has arrived.
func (ps *Producers) Behind(awaited [][]ledger.Awaited) Behind {
	b := NewBehind(ps.AckedIn(len(awaited)))
	for partition := range awaited {
		b.OpenRecords[partition], b.OldestDueNs[partition] = ps.openIn(partition, awaited[partition])
	}
	b.WaitingRecords, b.WaitingDueNs = ps.Waiting()
	return b
}

// Merge is what b and o are together, of workers that are in one of them each.
func (b Behind) Merge(o Behind) Behind {
	for p := range b.AckedIn {
		b.AckedIn[p] += o.AckedIn[p]
		b.OpenRecords[p] += o.OpenRecords[p]
		b.OldestDueNs[p] = min(b.OldestDueNs[p], o.OldestDueNs[p])
	}
	b.WaitingRecords, b.WaitingDueNs = MergeWaiting(b.WaitingRecords, b.WaitingDueNs, o.WaitingRecords, o.WaitingDueNs)
	return b
}

// MergeWaiting adds up two queues, of which the one whose head was due first has
// the oldest record.
func MergeWaiting(records, dueNs, moreRecords, moreDueNs int64) (sum, oldestDueNs int64) {
	if records == 0 || moreRecords > 0 && moreDueNs < dueNs {
		dueNs = moreDueNs
	}
	return records + moreRecords, dueNs
}

// EndAt ends the measured window earlier, and with it what is offered.
func (ps *Producers) EndAt(ns int64) { ps.axis.EndAt(ns) }

// Err is why workers ended before their time: never, for those of this process.
func (ps *Producers) Err() error { return nil }

// AddTo has a collector gather the histograms of the sending side.
func (ps *Producers) AddTo(c *latency.Collector) {
	for _, recorder := range ps.Recorders() {
		c.Add(recorder)
	}
}

// Spending is how the volume came to its end, once Spent is closed.
func (ps *Producers) Spending() Spending {
	ps.volume.mu.Lock()
	defer ps.volume.mu.Unlock()
	return Spending{LastNs: ps.volume.last, NextNs: ps.volume.next}
}
