package judge

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"kafkabench.example/kafka-bench/internal/measure/latency"
	"kafkabench.example/kafka-bench/internal/result"
	"kafkabench.example/kafka-bench/internal/result/figure"
)

// A curve ends before the first percentile that its values do not support; copies of one record
// support none.
func TestCurves(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		recorder, alone := latency.NewRecorder(latency.E2EResponseTime, latency.SendDelay), latency.NewHistogram()
		var collector latency.Collector
		collector.Add(recorder)
		for range rapid.IntRange(0, 8).Draw(t, "distinct values") {
			ns, n := rapid.Int64Range(0, 1e10).Draw(t, "ns"), rapid.Int64Range(1, 1_500_000).Draw(t, "n")
			recorder.RecordN(true, latency.E2EResponseTime, ns, n)
			recorder.RecordN(false, latency.E2EResponseTime, ns/2, n)
			alone.RecordN(ns, n)
		}
		recorder.RecordN(true, latency.SendDelay, 5, 9) // too few for the lowest percentile
		collector.Collect()
		run := &result.Run{Delivery: result.Delivery{Copies: rapid.IntRange(1, 3).Draw(t, "copies")}}
		curves := Curves(&Evidence{Times: &collector}, run)
		if ns, has := curves.Ns["send_delay"]; has || len(curves.Ns) > 1 {
			t.Fatalf("nine values have the curve %v, of %d curves", ns, len(curves.Ns))
		}
		curve := curves.Ns["e2e_response_time"]
		for i, ns := range curve {
			if p := curves.Percentiles[i]; ns != alone.Percentile(p) {
				t.Fatalf("p%v is %d, want %d", p, ns, alone.Percentile(p))
			}
		}
		records := alone.Count() / int64(run.Delivery.Copies)
		var want []float64
		for _, p := range curves.Percentiles {
			if figure.Supported(p, records) {
				want = append(want, p)
			}
		}
		if len(want) == len(curves.Percentiles)-1 {
			want = append(want, 100)
		}
		if !slices.Equal(curves.Percentiles[:len(curve)], want) {
			t.Fatalf("%d records have a curve of %d percentiles, and support %d", records, len(curve), len(want))
		}
	})
}
