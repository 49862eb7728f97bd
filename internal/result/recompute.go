package result

import (
	"math"
	"slices"
	"time"
)

// recompute sets the figures that runs from before AckedInWindow lack, or stored wrongly: they had 0
// as the acked rate of the warm-up, and the measured window's rates as its delivery rates. Without
// intervals of the warm-up, its delivery rates are not known.
func (r *Run) recompute(intervals []Interval) {
	if !r.Finished() || r.Load.AckedInWindow != nil {
		return
	}
	acked, delivered := r.Load.AckedPerS, r.Delivery.DeliveredPerS
	known := acked > 0 && r.Says("load.acked_per_s") && r.Says("delivery.delivered_per_s") &&
		(r.Consumer.Members > 0 || !r.Says("consumer.members"))
	if known && r.Method() != 1 { // method 1 counted duplicates as delivered
		ratio := delivered / (float64(max(1, r.Delivery.Copies)) * acked)
		r.Delivery.DeliveredToAcked = &ratio
	}
	if r.Run.Imported == nil {
		r.recomputeWarmup(intervals)
	}
}

func (r *Run) recomputeWarmup(intervals []Interval) {
	w := &r.Warmup
	w.Load.AckedPerS, w.Delivery.DeliveredPerS, w.Delivery.DuplicatesPerS = 0, nil, nil
	at := slices.IndexFunc(r.Run.Phases, func(p Phase) bool { return p.Name == "warm-up" })
	if at < 0 || r.Run.Phases[at].EndNs <= r.Run.Phases[at].StartNs {
		return
	}
	phase := r.Run.Phases[at]
	length := time.Duration(phase.EndNs - phase.StartNs).Seconds()
	acked := w.Load.Acked
	if r.Fill != nil && int64(math.Round(w.Load.OfferedPerS*length)) != w.Load.Scheduled {
		acked -= r.Fill.Records // the consumers read the fill, so the book has its records
	}
	w.Load.AckedPerS = float64(acked) / length
	if delivered, duplicates, known := deliveredIn(phase, intervals); known && r.Consumer.Members > 0 {
		perS, againPerS := float64(delivered-duplicates)/length, float64(duplicates)/length
		w.Delivery.DeliveredPerS, w.Delivery.DuplicatesPerS = &perS, &againPerS
	}
}

// deliveredIn returns the deliveries in a phase. They are unknown if the intervals do not cover the
// phase, if a process did not answer at its end, or if the last reading was later than 1 % of the
// phase's length.
func deliveredIn(phase Phase, intervals []Interval) (delivered, duplicates int64, known bool) {
	at := phase.StartNs
	for _, i := range intervals {
		if i.StartNs != at || i.EndNs > phase.EndNs {
			return 0, 0, false
		}
		delivered, duplicates, at = delivered+i.Delivered, duplicates+i.Duplicates, i.EndNs
		if at == phase.EndNs {
			return delivered, duplicates, len(i.Late) == 0 && (i.ReadToNs-at)*100 <= at-phase.StartNs
		}
	}
	return 0, 0, false
}
