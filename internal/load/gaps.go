package load

import (
	"slices"

	"kafkabench.example/kafka-bench/internal/measure/snapshot"
)

// A full watch drops its shorter gaps and then keeps only longer ones. Times are in ns.
const (
	shortestGap = int64(1e6)
	mostGaps    = 1 << 16
	fewestGaps  = 16
	enoughGaps  = 1 << 10
)

// GapWatch keeps the gaps between the acks of one partition, as one worker sees them, or between the deliveries of one
// partition. A wait counts from a record's due time and not from its actual send: if records of a dead partition fill the
// client's buffer, the records of the other partitions wait, too.
type GapWatch struct {
	last  int64
	least int64
	// waiting is the earliest due time of the records that were completed without an ack since the
	// latest ack.
	waiting int64
	gaps    []snapshot.Gap
	limit   int
}

// NewGapWatch returns the watch of one partition of a topic that has this number of partitions.
func NewGapWatch(partitions int) GapWatch {
	limit := min(max(mostGaps/partitions, fewestGaps), enoughGaps)
	return GapWatch{last: snapshot.BeforeAll, least: shortestGap, waiting: snapshot.AfterAll, limit: limit}
}

// Ends reports whether an ack at the given time ends a gap that is long enough to be kept.
func (w *GapWatch) Ends(at int64) bool { return at-w.last > w.least }

// Acked enters the ack of a record: at is the time of the ack, due the record's due time.
func (w *GapWatch) Acked(at, due int64) {
	if w.Ends(at) {
		w.keep(snapshot.Gap{LastNs: w.last, FromNs: max(w.last, min(due, w.waiting)), ToNs: at})
	}
	// Reports of several goroutines may arrive slightly out of order.
	w.last, w.waiting = max(w.last, at), snapshot.AfterAll
}

// Unacked enters a record that was completed without an ack.
func (w *GapWatch) Unacked(due int64) { w.waiting = min(w.waiting, due) }

func (w *GapWatch) keep(g snapshot.Gap) {
	for len(w.gaps) >= w.limit {
		w.least *= 2
		w.gaps = slices.DeleteFunc(w.gaps, func(g snapshot.Gap) bool { return g.ToNs-g.LastNs <= w.least })
	}
	if g.ToNs-g.LastNs > w.least {
		w.gaps = append(w.gaps, g)
	}
}

// Last returns the time of the latest ack; snapshot.BeforeAll before the first.
func (w *GapWatch) Last() int64 { return w.last }

// Gaps returns the gaps, including the last one, which has not ended.
func (w *GapWatch) Gaps() snapshot.Gaps {
	end := snapshot.Gap{LastNs: w.last, FromNs: max(w.last, w.waiting), ToNs: snapshot.AfterAll}
	return snapshot.Gaps{AllNs: w.least, All: append(slices.Clone(w.gaps), end)}
}
