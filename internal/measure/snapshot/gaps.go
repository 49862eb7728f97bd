package snapshot

import (
	"math"
	"slices"
)

// A Gap is a period without an ack in one partition, on the run's axis, while a record waited for
// an ack.
//
// No ack came between LastNs and ToNs. A record waited from FromNs: that is LastNs, or the due time of the oldest
// waiting record if that is later. A gap's length, ToNs − FromNs, is not positive if no record waited.
type Gap struct {
	LastNs int64 // or BeforeAll
	FromNs int64
	ToNs   int64 // or AfterAll
}

// Times before and after all others.
const (
	BeforeAll int64 = math.MinInt64 / 2
	AfterAll  int64 = math.MaxInt64 / 2
)

// Gaps holds the gaps of one partition in ascending order.
type Gaps struct {
	// All has every gap longer than AllNs nanoseconds, and perhaps some shorter gaps.
	AllNs int64
	All   []Gap
}

// Merge returns the overlaps of gaps of g and o, because an ack of any worker ends a gap.
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

// MergeGaps merges others into all, which may be nil, by partition.
func MergeGaps(all, others []Gaps) []Gaps {
	if all == nil {
		return others
	}
	for p := range all {
		all[p] = all[p].Merge(others[p])
	}
	return all
}

// Within returns the gaps in which a record waited and that begin before end. The window goes from
// zero to end. A gap lasts until its ack, even after the window; without an ack it lasts until end.
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

// Waiting returns g for records that wait in its last gap; the oldest was due at from.
func (g Gaps) Waiting(from int64) Gaps {
	all := slices.Clone(g.All)
	if n := len(all); n > 0 && all[n-1].ToNs == AfterAll {
		all[n-1].FromNs = max(all[n-1].LastNs, from)
	}
	return Gaps{AllNs: g.AllNs, All: all}
}
