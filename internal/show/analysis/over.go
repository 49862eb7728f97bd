package analysis

import (
	"cmp"
	"slices"

	"kafkabench.example/kafka-bench/internal/result"
)

// Held is a number of records from StartNs to EndNs.
type Held struct {
	StartNs, EndNs int64
	Records        int64
}

// LagOver returns the consumer lag over time. Each value lasts until the next sample; without
// samples (sampled is false), each interval has one value.
func LagOver(intervals []result.Interval) (all []Held, sampled bool) {
	var samples []result.LagSample
	for _, i := range intervals {
		samples = append(samples, i.LagSamples...)
		if i.LagRecords != nil {
			all = append(all, Held{i.StartNs, i.EndNs, *i.LagRecords})
		}
	}
	if len(samples) == 0 {
		return all, len(all) == 0
	}
	// Two readers of the lag may store their samples out of order.
	slices.SortStableFunc(samples, func(a, b result.LagSample) int { return cmp.Compare(a.AtNs, b.AtNs) })
	all = all[:0]
	first := intervals[0].StartNs // some runs have a sample from before the time axis
	for i, s := range samples {
		end := max(intervals[len(intervals)-1].EndNs, s.AtNs+1)
		if i+1 < len(samples) {
			end = max(samples[i+1].AtNs, s.AtNs+1)
		}
		if end > first {
			all = append(all, Held{max(s.AtNs, first), end, s.Records})
		}
	}
	return all, true
}

// Stored returns, for each whole interval of the measured window, the bytes stored at its middle,
// including fill and warm-up, and the throughput in bytes of keys and values per second. from and to
// are the bytes stored when the first of these intervals begins and the last one ends.
func Stored(r *result.Recorded) (stored, perS []float64, from, to float64) {
	total := 0.0
	if r.Run.Fill != nil {
		total = float64(r.Run.Fill.Bytes)
	}
	size := 0.0
	if r.Run.Load.Acked > 0 {
		size = float64(r.Run.Load.Bytes) / float64(r.Run.Load.Acked)
	}
	end := Window(&r.Run)
	for _, iv := range r.Intervals {
		bytes := float64(iv.Acked) * size
		if length := iv.Seconds(); iv.StartNs >= 0 && iv.EndNs <= end && length > 0 {
			if len(stored) == 0 {
				from = total
			}
			stored, perS, to = append(stored, total+bytes/2), append(perS, bytes/length), total+bytes
		}
		total += bytes
	}
	return stored, perS, from, to
}

// Estimates reports whether a controller bounds its own estimate of the unprocessed records. The
// consumer lag also counts processed, uncommitted records, and may exceed such a bound.
func Estimates(b *result.Backpressure) bool {
	return b != nil && slices.Contains([]string{"latency", "aimd", "gradient"}, b.Controller)
}
