package snapshot

import (
	"math"
	"slices"
)

// Sent are the sending side's counts of one phase.
type Sent struct {
	Scheduled     int64
	Admitted      int64
	ShedByGate    int64
	ShedByQueue   int64 // the queue at the source was full
	ShedByDegrade int64 // not kept
	Acked         int64
	AckedInWindow int64 // acked in the measured window, whatever their phase
	Failed        int64
	Unknown       int64
	AckedBytes    int64 // keys and values
}

// Shed returns the records dropped at the source.
func (s Sent) Shed() int64 { return s.ShedByGate + s.ShedByQueue + s.ShedByDegrade }

// Deferred returns the records that still wait at the source.
func (s Sent) Deferred() int64 { return s.Scheduled - s.Admitted - s.Shed() }

// InFlight returns the produced records that are not completed.
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

// Behind is how far the receiving side is behind the sending side.
type Behind struct {
	// AckedIn counts acked records by partition.
	AckedIn []int64
	// OpenRecords counts, by partition, sent records that have not arrived and are neither failed nor unknown; nil if
	// this is not known. OldestDueNs is when the oldest of these was due; NothingDue without one.
	OpenRecords, OldestDueNs []int64
	// WaitingRecords wait at the source; the oldest was due at WaitingDueNs.
	WaitingRecords, WaitingDueNs int64
}

// NothingDue is later than every due time.
const NothingDue int64 = math.MaxInt64

// NewBehind returns a Behind with these acks and no open records.
func NewBehind(ackedIn []int64) Behind {
	n := len(ackedIn)
	return Behind{AckedIn: ackedIn, OpenRecords: make([]int64, n), OldestDueNs: slices.Repeat([]int64{NothingDue}, n)}
}

// Clone returns a deep copy.
func (b Behind) Clone() Behind {
	b.AckedIn, b.OpenRecords, b.OldestDueNs = slices.Clone(b.AckedIn), slices.Clone(b.OpenRecords), slices.Clone(b.OldestDueNs)
	return b
}

// Merge adds o to b; no worker may be in both.
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

// MergeWaiting adds up two queues: the number of records, and the due time of the oldest.
func MergeWaiting(records, dueNs, moreRecords, moreDueNs int64) (sum, oldestDueNs int64) {
	if records == 0 || moreRecords > 0 && moreDueNs < dueNs {
		dueNs = moreDueNs
	}
	return records + moreRecords, dueNs
}

// Spending is how workers spent a volume: LastNs is the latest due time of a record that they offered, NextNs the due
// time of the first record that they did not offer.
type Spending struct{ LastNs, NextNs int64 }

// Unspent is the Spending without workers: merging it changes nothing.
var Unspent = Spending{LastNs: math.MinInt64, NextNs: math.MaxInt64}

// End returns the resulting end of the measured window.
func (s Spending) End() int64 { return max(s.LastNs+1, s.NextNs) }

// Merge returns the spending of both groups of workers.
func (s Spending) Merge(o Spending) Spending {
	return Spending{max(s.LastNs, o.LastNs), min(s.NextNs, o.NextNs)}
}
