package outcome

import (
	"time"

	"kafkabench.example/kafka-bench/internal/plan/unit"
	"kafkabench.example/kafka-bench/internal/result"
)

const (
	// slackRatio is what may be missing of a rate for no reason: one that is not kept up
	// with by more does not hold, whatever is expected of it.
	slackRatio = 0.005
	// edgeWait is for how long the records of a Kafka that keeps up wait, beside the
	// linger: a fetch and a round of work. edgeRecords are on their way at least.
	edgeWait    = 50 * time.Millisecond
	edgeRecords = 2
)

// KeepsUp tells whether what came through in the measured window is as much as a rate,
// records/s, that was put in. It knows nothing of expectations, so that "keeps up" is the
// same in every run and search.
func KeepsUp(r *result.Run, perS float64) bool { return perS-Reached(r) <= slack(r, perS) }

// Reached is what came through in the measured window, records/s: what was acked, and
// delivered to the slowest of the groups.
func Reached(r *result.Run) float64 {
	reached := r.Load.AckedPerS
	switch {
	case !consumed(r):
	case len(r.Groups) == 0:
		reached = min(reached, r.Delivery.DeliveredPerS)
	default: // whose delivery of all is the sum
		for _, g := range r.Groups {
			reached = min(reached, g.Delivery.DeliveredPerS)
		}
	}
	return reached
}

// waitsAtMost is how many records a gate lets wait in the topic; none without one. An on/off gate
// lets as many in at once.
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

// slack is how much less may come through in the measured window, records/s: slackRatio,
// and what may be on its way at the window's end and was not at its start. That is what
// is offered while a record is on its way, or one record for each that can be worked on
// at once, and what a gate lets wait.
func slack(r *result.Run, perS float64) float64 {
	slack := perS * slackRatio
	if r.Load.Scheduled > 0 {
		linger, _ := unit.ParseDuration(r.Scenario.Get("load.linger")) // 0 where it says none
		wait := edgeWait + time.Duration(linger)
		workers := float64(r.Consumer.Workers) / float64(max(1, len(r.Groups)))
		edge := max(edgeRecords, workers, perS*wait.Seconds()) + waitsAtMost(r)
		slack += edge * r.Load.OfferedPerS / float64(r.Load.Scheduled) // ÷ the window
	}
	return slack
}

// admittedPerS is what the producers were let send, records/s of the measured window.
func admittedPerS(r *result.Run) float64 {
	return r.Load.OfferedPerS * float64(r.Load.Admitted) / float64(r.Load.Scheduled)
}
