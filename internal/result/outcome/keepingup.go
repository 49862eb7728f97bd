package outcome

import (
	"time"

	"kafkabench.example/kafka-bench/internal/plan/unit"
	"kafkabench.example/kafka-bench/internal/result"
)

const (
	// slackRatio is the part of a rate that may always be missing.
	slackRatio = 0.005
	// edgeWait is how long records wait for a fetch and a round of work, in addition to the linger,
	// if the cluster keeps up. Even at low rates, slack allows for edgeRecords in flight.
	edgeWait    = 50 * time.Millisecond
	edgeRecords = 2
)

// KeepsUp reports whether the rate that was reached in the measured window is perS, records/s,
// within slack. It ignores expectations, so that it means the same in every run and search.
func KeepsUp(r *result.Run, perS float64) bool { return perS-Reached(r) <= slack(r, perS) }

// Reached returns the records/s of the measured window that were acked, and delivered to the
// slowest group.
func Reached(r *result.Run) float64 {
	reached := r.Load.AckedPerS
	switch {
	case !consumed(r):
	case len(r.Groups) == 0:
		reached = min(reached, r.Delivery.DeliveredPerS)
	default: // Delivery has the sum of all groups
		for _, g := range r.Groups {
			reached = min(reached, g.Delivery.DeliveredPerS)
		}
	}
	return reached
}

// waitsAtMost returns how many records a gate lets wait; 0 without a gate.
func waitsAtMost(r *result.Run) float64 {
	b := r.Backpressure
	if b == nil {
		return 0
	}
	bound := b.MaxLag
	if b.BoundRecords != nil {
		bound = b.BoundRecords.Max
	}
	if b.Per == "partition" {
		partitions, _ := r.Scenario.Int("topic.partitions")
		bound *= partitions
	}
	return float64(bound)
}

// slack is in records/s: slackRatio, and the records that may be on their way when the window ends.
// Those are the records of edgeWait and the linger, at least one per worker, and those that a gate
// lets wait.
func slack(r *result.Run, perS float64) float64 {
	slack := perS * slackRatio
	if r.Load.Scheduled > 0 {
		linger, _ := unit.ParseDuration(r.Scenario.Get("load.linger")) // 0 if it is not set
		wait := edgeWait + time.Duration(linger)
		workers := float64(r.Consumer.Workers) / float64(max(1, len(r.Groups)))
		edge := max(edgeRecords, workers, perS*wait.Seconds()) + waitsAtMost(r)
		slack += edge * r.Load.OfferedPerS / float64(r.Load.Scheduled) // ÷ the window
	}
	return slack
}

func admittedPerS(r *result.Run) float64 {
	return r.Load.OfferedPerS * float64(r.Load.Admitted) / float64(r.Load.Scheduled)
}
