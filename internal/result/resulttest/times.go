package resulttest

import (
	"math"
	"slices"

	"kafkabench.example/kafka-bench/internal/result"
)

// times holds every single value of each metric.
type times map[string][]int64

func (t times) add(metric string, ns int64) { t[metric] = append(t[metric], ns) }

// at is the q quantile of sorted values, by nearest rank.
func at(sorted []int64, q float64) int64 {
	rank := int(math.Ceil(q * float64(len(sorted))))
	return sorted[max(rank, 1)-1]
}

func (t times) short() map[string]result.IntervalTime {
	short := map[string]result.IntervalTime{}
	for metric, values := range t {
		slices.Sort(values)
		short[metric] = result.IntervalTime{
			Count: int64(len(values)), P50Ns: at(values, 0.5), P99Ns: at(values, 0.99), MaxNs: values[len(values)-1],
		}
	}
	return short
}

func (t times) full() map[string]result.Time {
	full := map[string]result.Time{}
	for metric, values := range t {
		slices.Sort(values)
		n := float64(len(values))
		var sum, squares float64
		for _, v := range values {
			sum += float64(v)
		}
		mean := sum / n
		for _, v := range values {
			squares += (float64(v) - mean) * (float64(v) - mean)
		}
		full[metric] = result.Time{
			Count: int64(len(values)), MinNs: values[0], MeanNs: math.Round(mean), StddevNs: math.Round(math.Sqrt(squares / n)),
			P50Ns: at(values, 0.50), P75Ns: at(values, 0.75), P90Ns: at(values, 0.90), P95Ns: at(values, 0.95),
			P99Ns: at(values, 0.99), P995Ns: at(values, 0.995), P999Ns: at(values, 0.999), P9999Ns: at(values, 0.9999),
			MaxNs: values[len(values)-1],
		}
	}
	return full
}
