package figure

import (
	"maps"
	"slices"
	"strings"

	"kafkabench.example/kafka-bench/internal/result"
)

// Reference is what consumers delivered of a load without backpressure: what they
// can take of it, and what a controller is held against that held the load back.
type Reference struct {
	Name          string  // of the runs
	DeliveredPerS float64 // their median
	// Differs are the settings besides those of backpressure in which they are not
	// as the runs that they are held against: consume.commit, or none.
	Differs []string
}

// References finds for each run of sets of runs the set that offered the same load
// to the same consumers without backpressure. The runs of a set share a scenario. One
// whose scenario differs in backpressure alone is preferred to one that commits at
// another pace as well. A run for which there is none is not in the map.
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

// NotFelt is the setting in which a reference may differ: consumers work no faster
// for it.
const NotFelt = "consume.commit"

// referenceFor is what runs without backpressure are to others, if they are any.
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
	a, b := Settings(set[0].Scenario), Settings(off[0].Scenario)
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

// median of at least one value.
func median(values []float64) float64 {
	slices.Sort(values)
	n := len(values)
	return (values[(n-1)/2] + values[n/2]) / 2
}

// DeliveredOfOff is what a run delivered as a part of what its reference did. Below
// 1, consumers had nothing to do while load was held back. It has no name that Named
// knows, as no run has it by itself.
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
