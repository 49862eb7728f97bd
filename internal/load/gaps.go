package load

import (
	"slices"

	"kafkabench.example/kafka-bench/internal/measure/snapshot"
)

// shortestGap is the length of a gap that is kept at first, and mostGaps how many a
// worker keeps of all partitions before it keeps longer ones only.
const (
	shortestGap = int64(1e6)
	mostGaps    = 1 << 16
	fewestGaps  = 16
	enoughGaps  = 1 << 10
)

// GapWatch keeps the gaps in the acknowledgements of one partition as one worker
// sees them, or the gaps in its deliveries. An acknowledgement costs a subtraction and a
// comparison; what is rare is kept, and when that is too much, only what is rarer.
type GapWatch struct {
	last  int64 // the latest acknowledgement
	least int64 // the length of a gap that is kept
	// waiting is when the oldest record was due whose fate was known since the latest
	// acknowledgement, and was not acknowledged.
	waiting int64
	gaps    []snapshot.Gap
	limit   int
}

// NewGapWatch returns the watch of one partition, of a topic with this number of partitions.
func NewGapWatch(partitions int) GapWatch {
	limit := min(max(mostGaps/partitions, fewestGaps), enoughGaps)
	return GapWatch{last: snapshot.BeforeAll, least: shortestGap, waiting: snapshot.AfterAll, limit: limit}
}

// Ends reports whether an acknowledgement at a time ends a gap that is kept. If it does not,
// it makes no difference when its record was due.
func (w *GapWatch) Ends(at int64) bool { return at-w.last > w.least }

// Acked takes an acknowledgement of a record that was due at a time.
func (w *GapWatch) Acked(at, due int64) {
	if w.Ends(at) {
		w.keep(snapshot.Gap{LastNs: w.last, FromNs: max(w.last, min(due, w.waiting)), ToNs: at})
	}
	// Reports of several goroutines may overtake one another by a hair.
	w.last, w.waiting = max(w.last, at), snapshot.AfterAll
}

// Unacked takes a record that was due at a time and was not acknowledged.
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

// Last is when the latest acknowledgement came; snapshot.BeforeAll if there was none.
func (w *GapWatch) Last() int64 { return w.last }

// Gaps returns the gaps, with the one that has not ended.
func (w *GapWatch) Gaps() snapshot.Gaps {
	end := snapshot.Gap{LastNs: w.last, FromNs: max(w.last, w.waiting), ToNs: snapshot.AfterAll}
	return snapshot.Gaps{AllNs: w.least, All: append(slices.Clone(w.gaps), end)}
}
