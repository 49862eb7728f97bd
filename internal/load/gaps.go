package load

import (
	"math"
	"slices"
)

// A Gap is a time without an acknowledgement in one partition, on the run's axis,
// while a record waited for one.
//
// No acknowledgement came between LastNs and ToNs. From FromNs on a record waited:
// that is LastNs, or when the oldest of them was due if that was later, so that a
// partition to which nothing is offered has no gap. The length of a gap is
// ToNs − FromNs, which is not positive where nothing waited.
type Gap struct {
	LastNs int64 // before of which there is none, beforeAll
	FromNs int64
	ToNs   int64 // afterAll where no acknowledgement came any more
}

// The times before and after everything.
const (
	beforeAll int64 = math.MinInt64 / 2
	afterAll  int64 = math.MaxInt64 / 2
)

// Gaps are the times without an acknowledgement in one partition, in their order,
// of some of the workers.
type Gaps struct {
	// AllNs is the length from which on every time without an acknowledgement is
	// here; of shorter ones some may be.
	AllNs int64
	All   []Gap
}

// shortestGap is the length of a gap that is kept at first, and mostGaps how many a
// worker keeps of all partitions before it keeps longer ones only.
const (
	shortestGap = int64(1e6)
	mostGaps    = 1 << 16
	fewestGaps  = 16
	enoughGaps  = 1 << 10
)

// ackWatch keeps the gaps in the acknowledgements of one partition as one worker
// sees them. An acknowledgement costs a subtraction and a comparison; what is rare
// is kept, and when that is too much, only what is rarer.
type ackWatch struct {
	last  int64 // the latest acknowledgement
	least int64 // the length of a gap that is kept
	// waiting is when the oldest record was due that was settled since the latest
	// acknowledgement, and was not acknowledged.
	waiting int64
	gaps    []Gap
	limit   int
}

func newAckWatches(partitions int) []ackWatch {
	all := make([]ackWatch, partitions)
	for i := range all {
		all[i] = newAckWatch(partitions)
	}
	return all
}

// newAckWatch is the watch of one of so many partitions.
func newAckWatch(partitions int) ackWatch {
	limit := min(max(mostGaps/partitions, fewestGaps), enoughGaps)
	return ackWatch{last: beforeAll, least: shortestGap, waiting: afterAll, limit: limit}
}

// acked takes an acknowledgement of a record that was due at a time.
func (w *ackWatch) acked(at, due int64) {
	if at-w.last > w.least {
		w.keep(Gap{LastNs: w.last, FromNs: max(w.last, min(due, w.waiting)), ToNs: at})
	}
	// Reports of several goroutines may overtake one another by a hair.
	w.last, w.waiting = max(w.last, at), afterAll
}

// unacked takes a record that was due at a time and was not acknowledged.
func (w *ackWatch) unacked(due int64) { w.waiting = min(w.waiting, due) }

func (w *ackWatch) keep(g Gap) {
	for len(w.gaps) >= w.limit {
		w.least *= 2
		w.gaps = slices.DeleteFunc(w.gaps, func(g Gap) bool { return g.ToNs-g.LastNs <= w.least })
	}
	if g.ToNs-g.LastNs > w.least {
		w.gaps = append(w.gaps, g)
	}
}

// all are the gaps, with the one that has not ended.
func (w *ackWatch) all() Gaps {
	end := Gap{LastNs: w.last, FromNs: max(w.last, w.waiting), ToNs: afterAll}
	return Gaps{AllNs: w.least, All: append(slices.Clone(w.gaps), end)}
}

// Merge is what the workers of g and o together left without an acknowledgement: a
// partition is acknowledged when any of them is, so that the gaps of both are where
// those of each overlap.
func (g Gaps) Merge(o Gaps) Gaps {
	merged := Gaps{AllNs: max(g.AllNs, o.AllNs)}
	for i, j := 0, 0; i < len(g.All) && j < len(o.All); {
		a, b := g.All[i], o.All[j]
		both := Gap{LastNs: max(a.LastNs, b.LastNs), ToNs: min(a.ToNs, b.ToNs)}
		both.FromNs = max(both.LastNs, min(a.FromNs, b.FromNs))
		if both.ToNs-both.LastNs > merged.AllNs || both.ToNs == afterAll {
			merged.All = append(merged.All, both)
		}
		if a.ToNs < b.ToNs {
			i++
		} else {
			j++
		}
	}
	return merged
}

// MergeGaps merges the gaps of others, by partition, into all; nil is nobody's yet.
func MergeGaps(all, others []Gaps) []Gaps {
	if all == nil {
		return others
	}
	for p := range all {
		all[p] = all[p].Merge(others[p])
	}
	return all
}

// Within are the gaps that began before the end of a window which begins at zero,
// those in which nothing waited left out. A gap lasts until the acknowledgement that
// ends it, be it behind the window, and until the end where none came.
func (g Gaps) Within(end int64) (all []Gap) {
	for _, gap := range g.All {
		gap.FromNs = max(gap.FromNs, 0)
		if gap.ToNs == afterAll {
			gap.ToNs = end
		}
		if gap.FromNs < end && gap.ToNs > gap.FromNs {
			all = append(all, gap)
		}
	}
	return all
}

// AckGaps are the gaps in the acknowledgements of each partition, of all workers
// together, once they are closed; nil where nobody produces.
func (ps *Producers) AckGaps() (all []Gaps) {
	for _, w := range ps.workers {
		w.recorder.Lock()
		own := make([]Gaps, len(w.acks))
		for p := range w.acks {
			own[p] = w.acks[p].all()
		}
		w.recorder.Unlock()
		all = MergeGaps(all, own)
	}
	return all
}

// DeliveryGaps are the times in each partition in which nothing was handed over that
// had not been before, while records were due; without stamps, in which nothing was. A
// consumer does not know what it never got: in the gap that has not ended nothing
// waits, unless Waiting says that something did.
func (g *Group) DeliveryGaps() []Gaps {
	all := make([]Gaps, len(g.partitions))
	for i, p := range g.partitions {
		p.receiver.Lock()
		all[i] = p.handed.all()
		p.receiver.Unlock()
	}
	return all
}

// Waiting is g where records waited, to the end, that were due from a time on.
func (g Gaps) Waiting(from int64) Gaps {
	all := slices.Clone(g.All)
	if n := len(all); n > 0 && all[n-1].ToNs == afterAll {
		all[n-1].FromNs = max(all[n-1].LastNs, from)
	}
	return Gaps{AllNs: g.AllNs, All: all}
}
