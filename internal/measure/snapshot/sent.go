package snapshot

import (
	"math"
	"slices"
)

// Sent are the counts of one phase's records on the sending side.
type Sent struct {
	Scheduled     int64
	Admitted      int64
	ShedByGate    int64
	ShedByQueue   int64 // the queue at the source was full
	ShedByDegrade int64 // the gate did not admit them, and they were not chosen to wait
	Acked         int64
	AckedInWindow int64 // acked within the measured window, whatever the phase
	Failed        int64
	Unknown       int64
	AckedBytes    int64 // keys and values
}

// Shed is everything that was dropped at the source.
func (s Sent) Shed() int64 { return s.ShedByGate + s.ShedByQueue + s.ShedByDegrade }

// Deferred is what still waits at the source.
func (s Sent) Deferred() int64 { return s.Scheduled - s.Admitted - s.Shed() }

// InFlight is what the client was given and has not reported on.
func (s Sent) InFlight() int64 { return s.Admitted - s.Acked - s.Failed - s.Unknown }

// Add adds o to s.
func (s *Sent) Add(o Sent) {
	s.Scheduled += o.Scheduled
	s.Admitted += o.Admitted
	s.ShedByGate += o.ShedByGate
	s.ShedByQueue += o.ShedByQueue
	s.ShedByDegrade += o.ShedByDegrade
	s.Acked += o.Acked
	s.AckedInWindow += o.AckedInWindow
	s.Failed += o.Failed
	s.Unknown += o.Unknown
	s.AckedBytes += o.AckedBytes
}

// Behind is how far the sending side is ahead of the receiving one at a moment:
// what an interval asks, in one answer.
type Behind struct {
	// AckedIn is the number of acknowledged records in each partition.
	AckedIn []int64
	// OpenRecords is, for each partition, how many records were sent there, did not arrive,
	// and did not fail either, nor are unknown: the user has no answer. OldestDueNs is when
	// the oldest of them was due; NothingDue where there is none.
	// Both are nil where that is not known.
	OpenRecords, OldestDueNs []int64
	// WaitingRecords wait at the source, the oldest of them since WaitingDueNs.
	WaitingRecords, WaitingDueNs int64
}

// NothingDue is later than every due time.
const NothingDue int64 = math.MaxInt64

// NewBehind has acknowledged records in each partition, and none that is open.
func NewBehind(ackedIn []int64) Behind {
	n := len(ackedIn)
	return Behind{AckedIn: ackedIn, OpenRecords: make([]int64, n), OldestDueNs: slices.Repeat([]int64{NothingDue}, n)}
}

// Clone returns a copy that shares nothing with b.
func (b Behind) Clone() Behind {
	b.AckedIn, b.OpenRecords, b.OldestDueNs = slices.Clone(b.AckedIn), slices.Clone(b.OpenRecords), slices.Clone(b.OldestDueNs)
	return b
}

// Merge is what b and o are together, of workers that are in one of them each.
func (b Behind) Merge(o Behind) Behind {
	for p := range b.AckedIn {
		b.AckedIn[p] += o.AckedIn[p]
	}
	if b.OpenRecords == nil {
		b.OpenRecords, b.OldestDueNs = slices.Clone(o.OpenRecords), slices.Clone(o.OldestDueNs)
	} else if o.OpenRecords != nil {
		for p := range b.OpenRecords {
			b.OpenRecords[p] += o.OpenRecords[p]
			b.OldestDueNs[p] = min(b.OldestDueNs[p], o.OldestDueNs[p])
		}
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

// Spending is how the volume of some workers came to its end: when the last record
// was due, and when the first of those would have been that were not offered any
// more. Before anything was spent it is the zero of Merge.
type Spending struct{ LastNs, NextNs int64 }

// Unspent is the Spending of nobody.
var Unspent = Spending{LastNs: math.MinInt64, NextNs: math.MaxInt64}

// End is when the measured window ends by it.
func (s Spending) End() int64 { return max(s.LastNs+1, s.NextNs) }

// Merge is the spending of both.
func (s Spending) Merge(o Spending) Spending {
	return Spending{max(s.LastNs, o.LastNs), min(s.NextNs, o.NextNs)}
}
