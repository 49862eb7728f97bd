package judge

import (
	"kafkabench.example/kafka-bench/internal/measure/snapshot"
	"kafkabench.example/kafka-bench/internal/result"
)

// group is "" if there is only one.
func shares(group string, all []snapshot.Share) []result.Share {
	out := make([]result.Share, len(all))
	for i, s := range all {
		out[i] = result.Share{Group: group, Number: s.Number, Records: s.Records, Bytes: s.Bytes}
		if s.Records > 0 {
			out[i].FirstNs, out[i].LastNs = &s.FirstNs, &s.LastNs
		}
	}
	return out
}

func (e *Evidence) consumerShares() (all []result.Share) {
	for _, g := range e.Groups {
		name := g.Name
		if len(e.Groups) == 1 {
			name = ""
		}
		all = append(all, shares(name, g.Standing.Shares)...)
	}
	return all
}

// firstRecord is the time from when groups could fetch to their first record; nil if none came.
func (e *Evidence) firstRecord(groups []Group) *int64 {
	got := received(groups)
	if got.Delivered == 0 {
		return nil
	}
	after := max(0, got.FirstNs-e.FetchingNs)
	return &after
}
