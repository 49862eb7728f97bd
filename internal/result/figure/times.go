package figure

import (
	"fmt"
	"slices"
	"strings"

	"kafkabench.example/kafka-bench/internal/plan/unit"
	"kafkabench.example/kafka-bench/internal/result"
)

// Statistic is one figure of a distribution of times.
type Statistic struct {
	Key        string // in names, without _ns
	Title      string
	Percentile float64 // 0 if any count supports it
	Ns         func(result.Time) float64
}

// Statistics has the order statistics in ascending order, then mean and deviations.
var Statistics = []Statistic{
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
	{mad, "MAD", 0, func(t result.Time) float64 {
		if t.MADNs == nil {
			return 0
		}
		return float64(*t.MADNs)
	}},
}

func statisticKeys() []string {
	names := make([]string, len(Statistics))
	for i, s := range Statistics {
		names[i] = s.Key
	}
	return names
}

func times() []Figure {
	var all []Figure
	for _, metric := range result.TimeMetrics {
		for _, s := range Statistics {
			all = append(all, Figure{
				Name:    metric + "_" + s.Key,
				Title:   strings.ReplaceAll(metric, "_", " ") + " " + s.Title,
				Kind:    Nanoseconds,
				Better:  Lower,
				value:   s.of(metric),
				atLeast: func(r *result.Run) bool { return s.AtLeast(r.Time[metric]) },
				clock:   func(r *result.Run) float64 { return s.ClockError(r.Time[metric]) },
				fields:  []string{"time." + metric + "." + s.Key + "_ns"},
			})
		}
	}
	return all
}

func (s Statistic) of(metric string) func(*result.Run) (float64, string) {
	return func(r *result.Run) (float64, string) {
		t := r.Time[metric]
		population := Independent(r, metric, t.Count+t.NotEnded)
		counted := r.Says("time." + metric + ".count") // an imported distribution may have figures without a count
		switch {
		case r.Load.ClosedLoop && fromIntended(metric):
			return 0, "in a closed loop nothing has an intended send time to count from"
		case counted && (t.Count+t.NotEnded == 0 || t.Count == 0 && s.OfEnded()) || !s.Taken(t):
			return 0, notMeasured
		case t.NotEnded > 0 && s.OfAll():
			return 0, fmt.Sprintf("%s of %s records had not ended", unit.Count(t.NotEnded),
				unit.Count(t.Count+t.NotEnded))
		case s.Percentile > 0 && counted && !Supported(s.Percentile, population):
			return 0, fmt.Sprintf("%s records are too few for %s", unit.Count(population), s.Title)
		}
		return s.Ns(t), ""
	}
}

// OfEnded reports whether s is computed only from values that ended.
func (s Statistic) OfEnded() bool { return s.Key == "min" || s.OfAll() }

// OfAll reports whether s needs the values of all records: it is unknown if one has not ended.
func (s Statistic) OfAll() bool { return s.Key == "mean" || s.Key == "stddev" || s.Key == mad }

const mad = "mad"

// Taken reports whether t has the statistic.
func (s Statistic) Taken(t result.Time) bool { return s.Key != mad || t.MADNs != nil }

// AtLeast reports whether s is only a lower bound in t.
func (s Statistic) AtLeast(t result.Time) bool { return slices.Contains(t.AtLeast, s.Key+"_ns") }

// ClockError returns the error of s in t, up or down, from two clocks. A deviation from the median
// has it twice, because the median has it too.
func (s Statistic) ClockError(t result.Time) float64 {
	if s.Key == mad {
		return 2 * float64(t.ErrorNs)
	}
	return float64(t.ErrorNs)
}

func fromIntended(metric string) bool {
	return strings.Contains(metric, "response") || metric == "send_delay" || metric == "pacer_lateness"
}

// Independent returns how many of count values support a percentile (see Supported). Copies of a
// record in several groups share their delays before the broker, so delivery times have one value
// for all groups.
func Independent(r *result.Run, metric string, count int64) int64 {
	if strings.HasPrefix(metric, "e2e_") || strings.HasPrefix(metric, "processed_") {
		return count / int64(max(1, r.Delivery.Copies))
	}
	return count
}
