package campaign

import (
	"fmt"
	"slices"

	"kafkabench.example/kafka-bench/internal/plan/unit"
	"kafkabench.example/kafka-bench/internal/result"
	"kafkabench.example/kafka-bench/internal/result/figure"
	"kafkabench.example/kafka-bench/internal/result/outcome"
	"kafkabench.example/kafka-bench/internal/run/judge"
	"kafkabench.example/kafka-bench/internal/run/search"
)

func (c SearchConfig) judge(step search.Step, r *result.Run) (result.Probe, search.Outcome) {
	reached := outcome.Reached(r)
	probe := result.Probe{
		Phase: string(step.Phase), OfferedPerS: step.PerS, AckedPerS: r.Load.AckedPerS,
		Stalled: reached == 0 && r.Load.Scheduled > 0,
	}
	if step.PerS == search.ClosedLoop {
		probe.OfferedPerS, probe.Passed = r.Load.OfferedPerS, !probe.Stalled
		return probe, search.Outcome{Stalled: probe.Stalled, ReachedPerS: reached}
	}
	metric := c.begin().ResponseMetric
	probe.ResponseP50Ns, probe.ResponseP99Ns = nanos(r, metric+"_p50"), nanos(r, metric+"_p99")
	failures, tooFew := c.failures(r, reached)
	probe.Failures = failures
	probe.Passed = len(probe.Failures) == 0
	probe.TooFew = tooFew > 0 && tooFew == len(probe.Failures)
	if limits := judge.ToolLimits(r); !probe.Passed && len(limits) > 0 {
		probe.Limit = result.LimitTool
		for _, limit := range limits {
			if !slices.Contains(probe.Failures, limit) {
				probe.Failures = append(probe.Failures, limit)
			}
		}
	}
	probe.Doubtful = !probe.Passed && doubtful(r)
	return probe, search.Outcome{
		Passed: probe.Passed, Stalled: probe.Stalled, TooFew: probe.TooFew,
		Tool: probe.Limit == result.LimitTool, Doubtful: probe.Doubtful,
	}
}

// nanos returns nil if the run does not have the figure.
func nanos(r *result.Run, name string) *int64 {
	f, err := figure.Named(name)
	if err != nil {
		return nil
	}
	v, known := f.Value(r)
	if !known {
		return nil
	}
	ns := int64(v)
	return &ns
}

func doubtful(r *result.Run) bool {
	limits := judge.ToolLimits(r)
	return r.Verdict.Status == result.Invalid && !slices.ContainsFunc(r.Verdict.Reasons, func(reason string) bool {
		return !slices.Contains(limits, reason)
	})
}

// tooFew is how many of the failures are percentiles with too few records.
func (c SearchConfig) failures(r *result.Run, reached float64) (failures []string, tooFew int) {
	if reached == 0 {
		failures = append(failures, "nothing came through")
	}
	failures = append(failures, r.Verdict.Reasons...)
	if !outcome.KeepsUp(r, r.Load.OfferedPerS) {
		failures = append(failures, fmt.Sprintf("it did not keep up: %s of %s came through in the measured window",
			unit.PerSecond(reached), unit.PerSecond(r.Load.OfferedPerS)))
	}
	for _, e := range c.Expect {
		checked := e.Among(c.mostJudged()).Check(r, nil)
		if checked.Outcome == figure.Met {
			continue
		}
		failures = append(failures, checked.Text)
		if metric, percentile := percentileOf(e.Figure); percentile > 0 && r.Time[metric].Count > 0 &&
			e.Figure.Missing(r) != "" {
			tooFew++
		}
	}
	return failures, tooFew
}
