package latency

import (
	"io"
	"math"
	"math/rand/v2"
	"testing"
	"time"
)

func lognormal() *[4096]int64 {
	random := rand.New(rand.NewPCG(1, 2))
	var values [4096]int64
	for i := range values {
		values[i] = int64(2e6 * math.Exp(0.8*random.NormFloat64()))
	}
	return &values
}

func BenchmarkRecord(b *testing.B) {
	values, recorder := lognormal(), NewRecorder(SendDelay)
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		recorder.Record(true, SendDelay, values[i%len(values)])
	}
}

func BenchmarkMerge(b *testing.B) {
	sum, h := NewHistogram(), histogramOf(lognormal()[:]...)
	b.ReportAllocs()
	for b.Loop() {
		sum.Merge(h)
	}
}

func BenchmarkSummary(b *testing.B) {
	h := histogramOf(lognormal()[:]...)
	b.ReportAllocs()
	for b.Loop() {
		h.Summary()
	}
}

func BenchmarkCollect(b *testing.B) {
	var collector Collector
	values, recorders := lognormal(), make([]*Recorder, 20)
	metrics := []Metric{PacerLateness, SendDelay, SendServiceTime, SendResponseTime}
	for i := range recorders {
		recorders[i] = NewRecorder(metrics...)
		collector.Add(recorders[i])
	}
	b.ReportAllocs()
	for b.Loop() {
		b.StopTimer()
		for _, r := range recorders {
			for _, ns := range values[:512] {
				for _, m := range metrics {
					r.Record(true, m, ns)
				}
			}
		}
		b.StartTimer()
		collector.Collect()
	}
}

func BenchmarkLogWrite(b *testing.B) {
	log, h := NewLogWriter(io.Discard, time.Unix(0, 0)), histogramOf(lognormal()[:]...)
	b.ReportAllocs()
	for b.Loop() {
		if err := log.Write(0, time.Second, "send_delay", h); err != nil {
			b.Fatal(err)
		}
	}
}
