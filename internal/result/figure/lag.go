package figure

import (
	"kafkabench.example/kafka-bench/internal/measure/stats"
	"kafkabench.example/kafka-bench/internal/result"
)

func lag() []Figure {
	return []Figure{
		{
			Name: "lag_peak", Title: "consumer lag peak", Kind: Records, Better: Lower,
			value: pointed(func(r *result.Run) *int64 { return r.Lag.PeakRecords }),
		},
		{
			Name: "lag_final", Title: "consumer lag at the end", Kind: Records, Better: Lower,
			value: pointed(func(r *result.Run) *int64 { return r.Lag.FinalRecords }),
		},
		{
			Name: "backlog_peak", Title: "backlog peak", Kind: Records, Better: Lower,
			fields: []string{"lag.backlog_peak_records"},
			value:  when(consumed, func(r *result.Run) float64 { return float64(r.Lag.BacklogPeakRecords) }),
		},
		{
			// Even a stable backlog varies with each poll, so its slope is never 0.
			Name: "backlog_growth", Title: "backlog growth", Kind: PerSecond, Better: Lower,
			value: pointed(func(r *result.Run) *float64 { return r.Lag.BacklogGrowthPerS }), margin: growthMargin,
		},
		{
			Name: "time_lag_peak", Title: "time lag peak", Kind: Nanoseconds, Better: Lower,
			fields: []string{"lag.time_lag_peak_ns"},
			value:  when(timeLagSeen, func(r *result.Run) float64 { return float64(r.Lag.TimeLagPeakNs) }),
		},
		{
			Name: "drained_ratio", Title: "drained in time", Kind: Ratio, Better: Higher,
			fields: []string{"lag.drained"},
			value:  when(consumed, func(r *result.Run) float64 { return truth(r.Lag.Drained) }),
		},
		{
			Name: "drain_time", Title: "drain time", Kind: Nanoseconds, Better: Lower,
			fields: []string{"lag.drain_time_s", "lag.drained"},
			value:  when(drained, func(r *result.Run) float64 { return r.Lag.DrainTimeS * 1e9 }),
		},
		{
			Name: "drain_per_s", Title: "delivered in the drain", Kind: PerSecond, Better: Higher,
			fields: []string{"lag.drain_per_s"},
			value:  when(consumed, func(r *result.Run) float64 { return r.Lag.DrainPerS }),
		},
		{Name: "recovery_time", Title: "recovery time", Kind: Nanoseconds, Better: Lower, value: recoveryTime},
		{
			Name: "utilisation", Title: "consumers busy", Kind: Ratio,
			value: pointed(func(r *result.Run) *float64 { return r.Consumer.Utilisation }),
		},
		{
			Name: "capacity_per_s", Title: "what the consumers can take", Kind: PerSecond,
			value: pointed(func(r *result.Run) *float64 { return r.Consumer.CapacityPerS }),
		},
		{
			Name: "consumers_ready_time", Title: "until the consumers had their partitions", Kind: Nanoseconds,
			Better: Lower, value: pointed(func(r *result.Run) *int64 { return r.Consumer.ReadyNs }),
		},
		{
			Name: "first_record_time", Title: "until the first record was delivered", Kind: Nanoseconds, Better: Lower,
			value: pointed(func(r *result.Run) *int64 { return r.Consumer.FirstRecordNs }),
		},
		{
			Name: "rebalances", Title: "rebalances", Kind: Count, Better: Lower,
			fields: []string{"consumer.rebalances"},
			value:  when(consumed, func(r *result.Run) float64 { return float64(r.Consumer.Rebalances) }),
		},
		{
			Name: "commit_errors", Title: "commit errors", Kind: Count, Better: Lower,
			fields: []string{"consumer.commit_errors"},
			value:  when(consumed, func(r *result.Run) float64 { return float64(r.Consumer.CommitErrors) }),
		},
	}
}

// growthLevel is the chance that any of several runs with stable backlogs shows a growth.
const growthLevel = 0.05

// growthMargin is two standard errors of the slope. For several tests it is Student's quantile at
// their part of growthLevel (Bonferroni), one-sided, since a backlog that shrinks is no fault.
func growthMargin(r *result.Run, tests int) float64 {
	if r.Lag.BacklogGrowthErrorPerS == nil {
		return 0
	}
	errors, degrees := 2., r.Lag.BacklogReadings-2
	if tests > 1 && degrees > 0 {
		errors = stats.StudentQuantile(2*growthLevel/float64(tests), degrees)
	}
	return errors * *r.Lag.BacklogGrowthErrorPerS
}

// If no reading at an interval's end found an undelivered record, a peak of 0 is not a measurement.
func timeLagSeen(r *result.Run) string {
	if why := consumed(r); why != "" {
		return why
	}
	if r.Lag.TimeLagPeakNs == 0 && r.Load.Acked > 0 {
		return "no look at an interval's end found an undelivered record"
	}
	return ""
}

func drained(r *result.Run) string {
	if why := consumed(r); why != "" {
		return why
	}
	if !r.Lag.Drained {
		return "it did not drain in time"
	}
	return ""
}

// recoveryTime is the time from the last change of the consumers' work until the backlog was
// normal.
func recoveryTime(r *result.Run) (float64, string) {
	if len(r.Lag.Changes) == 0 {
		return 0, "the consumers worked the same throughout"
	}
	last := r.Lag.Changes[len(r.Lag.Changes)-1]
	if last.DrainTimeS == nil {
		return 0, "there was no backlog, or it was not drained"
	}
	return *last.DrainTimeS * 1e9, ""
}

func truth(b bool) float64 {
	if b {
		return 1
	}
	return 0
}
