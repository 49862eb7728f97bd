package resulttest

import (
	"math"
	"slices"

	"kafkabench.example/kafka-bench/internal/result"
)

type times map[string][]int64

func (t times) add(metric string, ns int64) { t[metric] = append(t[metric], ns) }

// nearest rank
func at(sorted []int64, q float64) int64 {
	rank := int(math.Ceil(q * float64(len(sorted))))
	return sorted[max(rank, 1)-1]
}

func (t times) short() map[string]result.IntervalTime {
	short := map[string]result.IntervalTime{}
	for metric, values := range t {
		slices.Sort(values)
		sum := 0.0
		for _, v := range values {
			sum += float64(v)
		}
		p90, mean := at(values, 0.9), math.Round(sum/float64(len(values)))
		short[metric] = result.IntervalTime{
			Count: int64(len(values)), P50Ns: at(values, 0.5), P90Ns: &p90, P99Ns: at(values, 0.99),
			MaxNs: values[len(values)-1], MeanNs: &mean,
		}
	}
	return short
}

// open returns how many further records belong to a metric's population, and their least value.
func (t times) full(open func(metric string, ended int64) (records, floor int64)) map[string]result.Time {
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
		median, distances := at(values, 0.5), make([]int64, len(values))
		for i, v := range values {
			distances[i] = max(v-median, median-v)
		}
		slices.Sort(distances)
		mad := at(distances, 0.5)
		missing, floor := open(metric, int64(len(values)))
		d := result.Time{
			Count: int64(len(values)), MinNs: values[0], MeanNs: math.Round(mean), StddevNs: math.Round(math.Sqrt(squares / n)), MADNs: &mad, NotEnded: missing,
		}
		all := slices.Concat(slices.Repeat([]int64{floor}, int(missing)), values)
		slices.Sort(all)
		for _, p := range []struct {
			ns   *int64
			q    float64
			name string
		}{
			{&d.P50Ns, 0.50, "p50_ns"}, {&d.P75Ns, 0.75, "p75_ns"}, {&d.P90Ns, 0.90, "p90_ns"}, {&d.P95Ns, 0.95, "p95_ns"}, {&d.P99Ns, 0.99, "p99_ns"},
			{&d.P995Ns, 0.995, "p99_5_ns"}, {&d.P999Ns, 0.999, "p99_9_ns"}, {&d.P9999Ns, 0.9999, "p99_99_ns"}, {&d.MaxNs, 1, "max_ns"},
		} {
			if rank := max(int(math.Ceil(p.q*float64(len(all)))), 1); rank <= len(values) {
				*p.ns = values[rank-1]
				continue
			}
			*p.ns = at(all, p.q)
			d.AtLeast = append(d.AtLeast, p.name)
		}
		full[metric] = d
	}
	return full
}
