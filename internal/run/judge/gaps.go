package judge

import (
	"cmp"
	"slices"
	"time"

	"kafkabench.example/kafka-bench/internal/measure/snapshot"
	"kafkabench.example/kafka-bench/internal/result"
)

// A run keeps no shorter gaps.
const shortestGap = 250 * time.Millisecond

type gap struct {
	result.AckGap
	delivery bool
}

func (e *Evidence) gaps() *result.Gaps {
	g := &result.Gaps{AtLeastNs: int64(shortestGap)}
	if e.sends() {
		g.Acks = []result.AckGap{}
	}
	groups, known := e.deliveryGaps()
	if known {
		g.Deliveries = []result.AckGap{}
	}
	acks := e.last().AckGaps
	for _, partitions := range append([][]snapshot.Gaps{acks}, groups...) {
		for _, p := range partitions {
			g.AtLeastNs = max(g.AtLeastNs, p.AllNs)
		}
	}
	all := gapsIn(acks, e.EndNs, g.AtLeastNs)
	for i, partitions := range groups {
		for _, found := range gapsIn(partitions, max(e.drainedNs(), e.EndNs), g.AtLeastNs) {
			if found.delivery = true; len(groups) > 1 {
				found.Group = e.Groups[i].Name
			}
			all = append(all, found)
		}
	}
	slices.SortStableFunc(all, func(a, b gap) int { return cmp.Compare(b.ToNs-b.FromNs, a.ToNs-a.FromNs) })
	g.LeftOut = max(0, len(all)-result.MaxGaps)
	all = all[:len(all)-g.LeftOut]
	slices.SortStableFunc(all, func(a, b gap) int {
		return cmp.Or(cmp.Compare(a.FromNs, b.FromNs), cmp.Compare(a.Partition, b.Partition), cmp.Compare(a.Group, b.Group))
	})
	for _, found := range all {
		if found.delivery {
			g.Deliveries = append(g.Deliveries, found.AckGap)
		} else {
			g.Acks = append(g.Acks, found.AckGap)
		}
	}
	return g
}

// known is false if a group's gaps are unknown, or if there is no group.
func (e *Evidence) deliveryGaps() (groups [][]snapshot.Gaps, known bool) {
	var behind []snapshot.Backlog
	if !e.Drained && !e.endless() {
		behind = e.behind()
	}
	for i, g := range e.Groups {
		switch {
		case g.Gaps == nil:
			return nil, false
		case behind != nil:
			groups = append(groups, waitedInVain(g.Gaps, behind[i].Partitions))
		default:
			groups = append(groups, g.Gaps)
		}
	}
	return groups, len(groups) > 0
}

func gapsIn(partitions []snapshot.Gaps, end, atLeast int64) (all []gap) {
	for p, gaps := range partitions {
		for _, g := range gaps.Within(end) {
			if g.ToNs-g.FromNs >= atLeast {
				all = append(all, gap{AckGap: result.AckGap{
					Partition: int32(p), FromNs: g.FromNs, ToNs: g.ToNs, Open: g.ToNs == end,
				}})
			}
		}
	}
	return all
}
