package figure

import (
	"maps"
	"slices"
	"strings"

	"kafkabench.example/kafka-bench/internal/result"
)

// Reference is what consumers delivered without backpressure, for comparison.
type Reference struct {
	Name          string  // of the runs
	DeliveredPerS float64 // their median
	// Differs are the differing settings outside of backpressure: consume.commit, or none.
	Differs []string
}

// References finds, for each run, the set of runs with the same load and consumers, and without
// backpressure. The runs of a set share a scenario. A set that differs only in backpressure is
// preferred to one that also differs in NotFelt. Runs without a reference are not in the map.
func References(sets [][]*result.Run) map[*result.Run]Reference {
	found := map[*result.Run]Reference{}
	for _, set := range sets {
		best, some := Reference{}, false
		for _, other := range sets {
			reference, same := referenceFor(set, other)
			if same && (!some || len(reference.Differs) < len(best.Differs)) {
				best, some = reference, true
			}
		}
		if some {
			for _, r := range set {
				found[r] = best
			}
		}
	}
	return found
}

// NotFelt is the only setting besides backpressure that may differ; it does not change the
// consumers' speed.
const NotFelt = "consume.commit"

func referenceFor(set, off []*result.Run) (Reference, bool) {
	if len(set) == 0 || len(off) == 0 || off[0].Backpressure != nil {
		return Reference{}, false
	}
	rate := Figure{Since: since("delivered_per_s")}.Among(slices.Concat(set, off))
	if slices.ContainsFunc(set, func(r *result.Run) bool { return rate.Otherwise(r) != "" }) {
		return Reference{}, false
	}
	var perS []float64
	for _, r := range off {
		if consumed(r) != "" || !r.Finished() || rate.Otherwise(r) != "" {
			return Reference{}, false
		}
		perS = append(perS, r.Delivery.DeliveredPerS)
	}
	a, b := Configuration(set[0]), Configuration(off[0])
	names := maps.Clone(a)
	maps.Copy(names, b)
	reference := Reference{Name: off[0].Run.Name, DeliveredPerS: median(perS)}
	for _, name := range slices.Sorted(maps.Keys(names)) {
		switch {
		case a[name] == b[name] || strings.HasPrefix(name, "backpressure."):
		case name == NotFelt:
			reference.Differs = append(reference.Differs, name)
		default:
			return Reference{}, false
		}
	}
	return reference, len(b) > 0 && reference.DeliveredPerS > 0
}

func median(values []float64) float64 {
	slices.Sort(values)
	n := len(values)
	return (values[(n-1)/2] + values[n/2]) / 2
}

// DeliveredOfOff is what a run delivered ÷ what its reference delivered. Below 1 consumers were
// idle while load was held back. Named does not know it, because a single run does not have it.
func DeliveredOfOff(references map[*result.Run]Reference) Figure {
	return Figure{
		Name: "delivered_of_off", Title: "delivered ÷ without backpressure", Kind: Ratio, Better: Higher,
		fields: []string{"delivery.delivered_per_s"},
		Since:  since("delivered_per_s"),
		value: func(r *result.Run) (float64, string) {
			reference, known := references[r]
			switch {
			case consumed(r) != "":
				return 0, consumed(r)
			case !known:
				return 0, "no run offered the same to the same consumers without backpressure"
			}
			return r.Delivery.DeliveredPerS / reference.DeliveredPerS, ""
		},
	}
}
