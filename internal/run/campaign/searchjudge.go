package campaign

import (
	"fmt"
	"slices"
	"time"

	"kafkabench.example/kafka-bench/internal/plan/unit"
	"kafkabench.example/kafka-bench/internal/result"
	"kafkabench.example/kafka-bench/internal/result/figure"
	"kafkabench.example/kafka-bench/internal/run/bench"
	"kafkabench.example/kafka-bench/internal/run/search"
)

// judge says what a run tells of its rate.
func (c SearchConfig) judge(step search.Step, r *result.Run) (result.Probe, search.Outcome) {
	reached := c.reached(r)
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
	if limits := bench.ToolLimits(r); !probe.Passed && len(limits) > 0 {
		probe.Limit = result.LimitTool
		for _, limit := range limits {
			if !slices.Contains(probe.Failures, limit) {
				probe.Failures = append(probe.Failures, limit)
			}
		}
	}
	return probe, search.Outcome{
		Passed: probe.Passed, Stalled: probe.Stalled, TooFew: probe.TooFew,
		Tool: probe.Limit == result.LimitTool, Doubtful: doubtful(r),
	}
}

// reached is what came through in the measured window, records/s: what was acked,
// and delivered to the slowest of the groups.
func (c SearchConfig) reached(r *result.Run) float64 {
	reached := r.Load.AckedPerS
	switch {
	case c.Scenario.Consume.Consumers == 0:
	case len(r.Groups) == 0:
		reached = min(reached, r.Delivery.DeliveredPerS)
	default: // whose delivery of all is the sum
		for _, g := range r.Groups {
			reached = min(reached, g.Delivery.DeliveredPerS)
		}
	}
	return reached
}

// nanos is a time of a run by its figure's name; nil where the run does not have
// it, for its records are too few, say.
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

// doubtful tells whether a run is invalid for nothing but that the tool was not
// able to measure, which the next one may be.
func doubtful(r *result.Run) bool {
	limits := bench.ToolLimits(r)
	return r.Verdict.Status == result.Invalid && !slices.ContainsFunc(r.Verdict.Reasons, func(reason string) bool {
		return !slices.Contains(limits, reason)
	})
}

// failures are why a run's rate does not pass. tooFew of them are percentiles that
// the records are too few for, which is no fault of the rate.
func (c SearchConfig) failures(r *result.Run, reached float64) (failures []string, tooFew int) {
	if reached == 0 {
		failures = append(failures, "nothing came through")
	}
	failures = append(failures, r.Verdict.Reasons...)
	if short := r.Load.OfferedPerS - reached; short > c.slack(r) {
		failures = append(failures, fmt.Sprintf("it did not keep up: %s of %s came through in the measured window",
			unit.PerSecond(reached), unit.PerSecond(r.Load.OfferedPerS)))
	}
	for _, e := range c.Expect {
		met, text := e.Check(r)
		if met {
			continue
		}
		failures = append(failures, text)
		if metric, percentile := percentileOf(e.Figure); percentile > 0 && r.Time[metric].Count > 0 && e.Figure.Missing(r) != "" {
			tooFew++
		}
	}
	return failures, tooFew
}

const (
	// slackRatio is what may be missing of what was offered for no reason: a rate
	// that is not kept up with by more does not hold, whatever is expected of it.
	slackRatio = 0.005
	// edgeWait is for how long the records of a Kafka that keeps up wait, beside the
	// linger: a fetch and a round of work. edgeRecords are on their way at least.
	edgeWait    = 50 * time.Millisecond
	edgeRecords = 2
)

// slack is how much less than was offered may come through in the measured window,
// records/s: slackRatio of it, and what may be on its way at the window's end and
// was not at its start. That is what is offered while a record is on its way, or
// one record for each that can be worked on at once. It knows nothing of the
// expectations and the resolution, so that "keeps up" is the same in every search.
func (c SearchConfig) slack(r *result.Run) float64 {
	offered := r.Load.OfferedPerS
	slack := offered * slackRatio
	if r.Load.Scheduled > 0 {
		wait := edgeWait + time.Duration(c.Scenario.Load.Linger)
		workers := float64(r.Consumer.Workers) / float64(max(1, len(r.Groups)))
		edge := max(edgeRecords, workers, offered*wait.Seconds())
		slack += edge * offered / float64(r.Load.Scheduled) // ÷ the window
	}
	return slack
}
