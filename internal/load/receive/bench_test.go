package receive

import (
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"kafkabench.example/kafka-bench/internal/kafka/driver"
	"kafkabench.example/kafka-bench/internal/load"
	"kafkabench.example/kafka-bench/internal/load/loadtest"
	"kafkabench.example/kafka-bench/internal/measure/latency"
	"kafkabench.example/kafka-bench/internal/measure/ledger"
)

// BenchmarkDelivery alternates two variants; the ratio of their medians should be at most 1.02.
func BenchmarkDelivery(b *testing.B) {
	const producers = 8
	records := stampedBy(b, 100, make([]time.Duration, producers)...)
	var offset atomic.Int64
	offset.Store(int64(time.Microsecond))
	other := make(load.Offsets, producers)
	for i := range other {
		other[i] = &offset
	}
	deliver := delivery(records)
	deliveries := []struct {
		name    string
		offsets load.Offsets
	}{{"one clock", nil}, {"other clocks", other}}
	for _, d := range deliveries {
		b.Run(d.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				deliver(d.offsets)
			}
		})
	}
	b.Run("both", func(b *testing.B) {
		var took [2][]time.Duration
		for round := 0; b.Loop(); round++ {
			for turn := range took {
				side := (round + turn) % len(took)
				began := time.Now()
				deliver(deliveries[side].offsets)
				took[side] = append(took[side], time.Since(began))
			}
		}
		for side := range took {
			slices.Sort(took[side])
		}
		median := len(took[0]) / 2
		b.ReportMetric(float64(took[1][median])/float64(took[0][median]), "with/without")
	})
}

// Both variants share one worker, because the place of its histograms in memory matters.
func delivery(records []driver.Received) func(load.Offsets) {
	w := &worker{
		axis: load.NewAxis(nil), idle: true, stamped: true, open: true, timed: 8, run: loadtest.Run,
		recorder: latency.NewRecorder(latency.E2EServiceTime, latency.E2EResponseTime, latency.ProcessedResponseTime),
	}
	w.axis.Set(0, time.Hour)
	a := &assignment{place: &place{}}
	return func(offsets load.Offsets) {
		w.offsets = offsets
		a.partition = &partition{receiver: ledger.NewReceiver(0, 8), handed: load.NewGapWatch(1), offsets: offsets}
		w.deliver(a, records, int64(time.Second), 0)
	}
}
