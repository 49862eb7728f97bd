package figure

import (
	"fmt"
	"slices"
	"strings"

	"kafkabench.example/kafka-bench/internal/plan/unit"
	"kafkabench.example/kafka-bench/internal/result"
)

// statistic is one figure of a distribution of times.
type statistic struct {
	name       string
	title      string
	percentile float64 // 0 for those that any count supports
	ns         func(result.Time) float64
}

var statistics = []statistic{
	{"min", "min", 0, func(t result.Time) float64 { return float64(t.MinNs) }},
	{"p50", "p50", 50, func(t result.Time) float64 { return float64(t.P50Ns) }},
	{"p75", "p75", 75, func(t result.Time) float64 { return float64(t.P75Ns) }},
	{"p90", "p90", 90, func(t result.Time) float64 { return float64(t.P90Ns) }},
	{"p95", "p95", 95, func(t result.Time) float64 { return float64(t.P95Ns) }},
	{"p99", "p99", 99, func(t result.Time) float64 { return float64(t.P99Ns) }},
	{"p99_5", "p99.5", 99.5, func(t result.Time) float64 { return float64(t.P995Ns) }},
	{"p99_9", "p99.9", 99.9, func(t result.Time) float64 { return float64(t.P999Ns) }},
	{"p99_99", "p99.99", 99.99, func(t result.Time) float64 { return float64(t.P9999Ns) }},
	{"max", "max", 0, func(t result.Time) float64 { return float64(t.MaxNs) }},
	{"mean", "mean", 0, func(t result.Time) float64 { return t.MeanNs }},
	{"stddev", "stddev", 0, func(t result.Time) float64 { return t.StddevNs }},
}

func statisticNames() []string {
	names := make([]string, len(statistics))
	for i, s := range statistics {
		names[i] = s.name
	}
	return names
}

// times are the statistics of every time of a record.
func times() []Figure {
	var all []Figure
	for _, metric := range result.TimeMetrics {
		for _, s := range statistics {
			all = append(all, Figure{
				Name:    metric + "_" + s.name,
				Title:   strings.ReplaceAll(metric, "_", " ") + " " + s.title,
				Kind:    Nanoseconds,
				Better:  Lower,
				value:   s.of(metric),
				atLeast: func(r *result.Run) bool { return slices.Contains(r.Time[metric].AtLeast, s.name+"_ns") },
				fields:  []string{"time." + metric + "." + s.name + "_ns"},
			})
		}
	}
	return all
}

// of takes the statistic of a metric.
func (s statistic) of(metric string) func(*result.Run) (float64, string) {
	return func(r *result.Run) (float64, string) {
		t := r.Time[metric]
		population := Independent(r, metric, t.Count+t.NotEnded)
		switch {
		case r.Load.ClosedLoop && fromIntended(metric):
			return 0, "in a closed loop nothing has an intended send time to count from"
		case t.Count+t.NotEnded == 0 || t.Count == 0 && s.ofEnded():
			return 0, notMeasured
		case t.NotEnded > 0 && s.ofAll():
			return 0, fmt.Sprintf("%s of %s records had not ended", unit.Count(t.NotEnded),
				unit.Count(t.Count+t.NotEnded))
		// The count of an imported distribution may not be told, only its figures.
		case s.percentile > 0 && r.Says("time."+metric+".count") && !Supported(s.percentile, population):
			return 0, fmt.Sprintf("%s records are too few for %s", unit.Count(population), s.title)
		}
		return s.ns(t), ""
	}
}

// ofEnded tells the statistics that are of the values that ended, and ofAll those of
// them that would be others if all had.
func (s statistic) ofEnded() bool { return s.name == "min" || s.ofAll() }
func (s statistic) ofAll() bool   { return s.name == "mean" || s.name == "stddev" }

// fromIntended tells the metrics that count from the intended send time.
func fromIntended(metric string) bool {
	return strings.Contains(metric, "response") || metric == "send_delay" || metric == "pacer_lateness"
}

// Independent is how many of count values of a time a percentile of them can rest on
// (see Supported). Where several groups read everything, each record is in the times
// of delivery once for each of them; but its copies were sent and stored together, so
// that what held it up is in all of them, and is one thing that happened.
func Independent(r *result.Run, metric string, count int64) int64 {
	if strings.HasPrefix(metric, "e2e_") || strings.HasPrefix(metric, "processed_") {
		return count / int64(max(1, r.Delivery.Copies))
	}
	return count
}
