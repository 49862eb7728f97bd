package judge

import (
	"slices"
	"time"

	"kafkabench.example/kafka-bench/internal/measure/latency"
	"kafkabench.example/kafka-bench/internal/measure/snapshot"
	"kafkabench.example/kafka-bench/internal/result"
)

func (e *Evidence) lag() result.Lag {
	seen := e.Seen
	l := result.Lag{
		BacklogPeakRecords: seen.BacklogPeak, TimeLagPeakNs: seen.TimeLagPeakNs, Drained: e.Drained,
		DrainFromNs: e.drainFromNs(), Changes: slices.Clone(seen.Changes),
		PeakRecords: seen.Lag.Peak, PeakAtLeastRecords: seen.Lag.PeakAtLeast,
		FinalRecords: seen.Lag.Final, FinalPartitions: seen.Lag.FinalPartitions,
		BacklogGrowthPerS: seen.GrowthPerS, BacklogGrowthErrorPerS: seen.GrowthErrorPerS,
		BacklogReadings: seen.GrowthReadings,
	}
	settled(l.Changes, seen.Looks, e.EndNs, time.Duration(e.Scenario.Backpressure.Target))
	// Right before its delivery, a record was as old as its e2e time.
	for _, m := range []latency.Metric{latency.E2EResponseTime, latency.E2EServiceTime} {
		if d := e.Times.Totals(true, m); d.Count > 0 {
			l.TimeLagPeakNs = max(l.TimeLagPeakNs, d.MaxNs)
			break
		}
	}
	if len(seen.Held) > 0 { // usually more than at the end of the first interval
		l.BacklogPeakRecords = max(l.BacklogPeakRecords, seen.Held[snapshot.Slowest(seen.Held)].Records)
	}
	for _, c := range seen.Changes { // a backlog ends with a change, usually between two intervals
		l.BacklogPeakRecords = max(l.BacklogPeakRecords, c.BacklogRecords)
	}
	if !e.endless() {
		l.DrainTimeS = time.Duration(max(0, e.drainedNs()-l.DrainFromNs)).Seconds()
	}
	if l.DrainTimeS > 0 {
		l.DrainPerS = float64(e.lateDeliveries()) / l.DrainTimeS
	}
	return l
}

// The drain begins at the window's end, or, if consumers were held until the drain, when they begin
// to fetch.
func (e *Evidence) drainFromNs() int64 {
	if e.ConsumersNs == 0 { // not held, or held only until the window began
		return e.EndNs
	}
	return max(e.EndNs, e.ConsumersNs)
}

func (e *Evidence) lateDeliveries() int64 {
	if e.Drained {
		return received(e.Groups).UniqueAfter
	}
	return e.LateAtFinish
}

func (e *Evidence) drainedNs() int64 {
	if e.Drained && len(e.Groups) > 0 {
		// An interrupted run may have no delivery.
		return max(snapshot.LastDelivery(e.atStop()), e.StartedNs)
	}
	return e.FinishedNs
}
