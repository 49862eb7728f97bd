package judge

import (
	"slices"

	"kafkabench.example/kafka-bench/internal/measure/latency"
	"kafkabench.example/kafka-bench/internal/result"
	"kafkabench.example/kafka-bench/internal/result/figure"
)

// Curves returns the percentiles of the times of measured records; times that did not end are left
// out. Each curve ends before the first percentile that its number of values does not support.
func Curves(e *Evidence, judged *result.Run) result.Curves {
	curves := result.Curves{Percentiles: result.CurvePercentiles(), Ns: make(map[string][]int64)}
	for m := range latency.Metric(latency.NumMetrics) {
		ns, count := e.Times.Curve(true, m, curves.Percentiles)
		if n := supported(curves.Percentiles, figure.Independent(judged, m.String(), count)); n > 0 {
			curves.Ns[m.String()] = ns[:n]
		}
	}
	return curves
}

// The last percentile is the maximum, which is supported if all others are.
func supported(ascending []float64, count int64) int {
	others := ascending[:len(ascending)-1]
	n := slices.IndexFunc(others, func(p float64) bool { return !figure.Supported(p, count) })
	if n < 0 {
		return len(ascending)
	}
	return n
}
