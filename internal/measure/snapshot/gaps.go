package snapshot

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
	LastNs int64 // before of which there is none, BeforeAll
	FromNs int64
	ToNs   int64 // AfterAll where no acknowledgement came any more
}

// The times before and after everything.
const (
	BeforeAll int64 = math.MinInt64 / 2
	AfterAll  int64 = math.MaxInt64 / 2
)

// Gaps are the times without an acknowledgement in one partition, in their order,
// of some of the workers.
type Gaps struct {
	// AllNs is the length from which on every time without an acknowledgement is
	// here; of shorter ones some may be.
	AllNs int64
	All   []Gap
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
		if both.ToNs-both.LastNs > merged.AllNs || both.ToNs == AfterAll {
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
		if gap.ToNs == AfterAll {
			gap.ToNs = end
		}
		if gap.FromNs < end && gap.ToNs > gap.FromNs {
			all = append(all, gap)
		}
	}
	return all
}

// Waiting is g where records waited, to the end, that were due from a time on.
func (g Gaps) Waiting(from int64) Gaps {
	all := slices.Clone(g.All)
	if n := len(all); n > 0 && all[n-1].ToNs == AfterAll {
		all[n-1].FromNs = max(all[n-1].LastNs, from)
	}
	return Gaps{AllNs: g.AllNs, All: all}
}
