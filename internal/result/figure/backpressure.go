package figure

import (
	"math"
	"slices"

	"kafkabench.example/kafka-bench/internal/result"
)

func backpressure() []Figure {
	return []Figure{
		{
			Name: "lag_peak_of_max_lag", Title: "consumer lag peak ÷ max_lag", Kind: Number, Better: Lower,
			value:  lagOfBound,
			fields: []string{"backpressure.max_lag_records"},
		},
		{
			Name: "p99_of_target", Title: "p99 ÷ target", Kind: Number, Better: Lower, value: p99OfTarget,
			atLeast: func(r *result.Run) bool {
				return r.Backpressure != nil && r.Backpressure.TargetNs > 0 && HeldTime(r).isBound(r)
			},
			fields: []string{"backpressure.target_ns", "time"},
		},
		{Name: "bound_min", Title: "bound, lowest", Kind: Records,
			value: ofBound(func(b result.Bound) int64 { return b.Min })},
		{Name: "bound_max", Title: "bound, highest", Kind: Records,
			value: ofBound(func(b result.Bound) int64 { return b.Max })},
		ofShed("shed_by_gate", "shed by the gate", "gate", func(s result.ShedCounts) int64 { return s.ByGate }),
		ofShed("shed_by_queue", "shed by a full queue", "queue_full",
			func(s result.ShedCounts) int64 { return s.ByQueue }),
		ofShed("shed_by_degrade", "shed by degrading", "degrade",
			func(s result.ShedCounts) int64 { return s.ByDegrade }),
		{
			Name: "deferred_peak", Title: "deferred, peak", Kind: Records, Better: Lower,
			fields: []string{"backpressure.deferred_peak_records"},
			value:  held(func(b result.Backpressure) float64 { return float64(b.DeferredPeakRecords) }),
		},
		{
			// A repeated request counts again, so this may exceed the scheduled records.
			Name: "refused", Title: "refused by the gate", Kind: Records, fields: []string{"backpressure.refused"},
			value: held(func(b result.Backpressure) float64 { return float64(b.Refused) }),
		},
		{Name: "gate_closed_ratio", Title: "gate closed, of the window", Kind: Ratio, value: gateClosed,
			fields: []string{"backpressure.closed_s"}},
		{
			Name: "blind_time", Title: "lag not known, beyond the grace", Kind: Nanoseconds, Better: Lower,
			fields: []string{"backpressure.blind_s"},
			value:  held(func(b result.Backpressure) float64 { return b.BlindS * 1e9 }),
		},
		{Name: "settling_time", Title: "settling time, of the slowest change", Kind: Nanoseconds, Better: Lower,
			value: settlingTime},
	}
}

const noBackpressure = "there was no backpressure"

func held(v func(result.Backpressure) float64) func(*result.Run) (float64, string) {
	return func(r *result.Run) (float64, string) {
		if r.Backpressure == nil {
			return 0, noBackpressure
		}
		return v(*r.Backpressure), ""
	}
}

// Above 1 the bound was exceeded. Older runs have the peak over window and drain, and not by
// partition.
func lagOfBound(r *result.Run) (float64, string) {
	b := r.Backpressure
	switch {
	case b == nil:
		return 0, noBackpressure
	case b.PeakLagToBound != nil:
		return *b.PeakLagToBound, ""
	case b.MaxLag == 0:
		return 0, "its controller was given no bound"
	case r.Lag.PeakRecords == nil || b.Per == "partition":
		return 0, notMeasured
	}
	return float64(*r.Lag.PeakRecords) / float64(b.MaxLag), ""
}

// HeldTime is the p99 of the time that a controller's target bounds, from the gate to the consumer.
// A shed or immediately admitted record reached the gate when it was due, a deferred one later.
func HeldTime(r *result.Run) Figure {
	metric := "e2e_response_time"
	if r.Backpressure.Excess != "shed" {
		metric = "e2e_service_time"
	}
	all := times()
	return all[slices.IndexFunc(all, func(f Figure) bool { return f.Name == metric+"_p99" })]
}

func p99OfTarget(r *result.Run) (float64, string) {
	switch {
	case r.Backpressure == nil:
		return 0, noBackpressure
	case r.Backpressure.TargetNs == 0:
		return 0, "its controller was given no target"
	}
	p99, missing := HeldTime(r).value(r)
	return p99 / float64(r.Backpressure.TargetNs), missing
}

func ofBound(v func(result.Bound) int64) func(*result.Run) (float64, string) {
	return func(r *result.Run) (float64, string) {
		switch b := r.Backpressure; {
		case b == nil:
			return 0, noBackpressure
		case b.BoundRecords == nil:
			return 0, "its controller has no bound"
		default:
			return float64(v(*b.BoundRecords)), ""
		}
	}
}

// Older runs have the count only in their books.
func ofShed(name, title, reason string, v func(result.ShedCounts) int64) Figure {
	return Figure{
		Name: name, Title: title, Kind: Records, Better: Lower, fields: []string{"load.shed"},
		value: func(r *result.Run) (float64, string) {
			switch b := r.Backpressure; {
			case b == nil:
				return 0, noBackpressure
			case b.Shed != nil:
				return float64(v(*b.Shed)), ""
			case r.Load.Shed > 0 && r.Load.ShedByReason == nil:
				return 0, notMeasured
			}
			return float64(r.Load.ShedByReason[reason]), ""
		},
	}
}

func gateClosed(r *result.Run) (float64, string) {
	if r.Backpressure == nil {
		return 0, noBackpressure
	}
	for _, phase := range r.Run.Phases {
		if phase.Name == "measure" {
			return r.Backpressure.ClosedS * 1e9 / float64(phase.EndNs-phase.StartNs), ""
		}
	}
	return 0, notMeasured
}

// settlingTime is the longest settling time of all changes, because a controller must follow
// changes in both directions.
func settlingTime(r *result.Run) (longest float64, missing string) {
	switch {
	case len(r.Lag.Changes) == 0:
		return 0, "the consumers worked the same throughout"
	case r.Backpressure == nil:
		return 0, noBackpressure
	}
	for _, c := range r.Lag.Changes {
		if c.SettlingS == nil {
			return 0, "it had not settled when the next change or the end came"
		}
		longest = max(longest, Settled(c)*1e9)
	}
	return longest, ""
}

// settlingStep is the interval of readings of the delivered records, in seconds.
const settlingStep = 0.1

// Settled returns the settling time after c in seconds, rounded up to whole settlingSteps.
func Settled(c result.Change) float64 {
	return max(1, math.Ceil(*c.SettlingS/settlingStep-0.001)) * settlingStep
}
