package receive

import (
	"slices"
	"testing"
	"time"

	"kafkabench.example/kafka-bench/internal/kafka/driver"
	"kafkabench.example/kafka-bench/internal/load"
	"kafkabench.example/kafka-bench/internal/load/loadtest"
	"kafkabench.example/kafka-bench/internal/measure/latency"
	"kafkabench.example/kafka-bench/internal/measure/ledger"
)

// BenchmarkDelivery is the hand-over of 800 records of 8 producers. In "both" the two take
// turns, so that whatever the machine does meanwhile is done to both; the metric is the ratio
// of the medians, of which more than 1.02 is too much.
func BenchmarkDelivery(b *testing.B) {
	const producers = 8
	records := stampedBy(b, 100, make([]time.Duration, producers)...)
	other := offsetsOf(producers)
	other[0], other[1] = other[2], other[2] // the dearest: all of them
	deliveries := []struct {
		name    string
		deliver func()
	}{{"one clock", deliveryOf(records, nil)}, {"other clocks", deliveryOf(records, other)}}
	for _, d := range deliveries {
		b.Run(d.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				d.deliver()
			}
		})
	}
	b.Run("both", func(b *testing.B) {
		var took [2][]time.Duration
		for round := 0; b.Loop(); round++ {
			for turn := range took {
				side := (round + turn) % len(took)
				began := time.Now()
				deliveries[side].deliver()
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

// deliveryOf returns what hands records over to a worker, as if for the first time.
func deliveryOf(records []driver.Received, offsets Offsets) func() {
	w := &worker{
		axis: load.NewAxis(nil), idle: true, stamped: true, open: true, timed: 8, run: loadtest.Run, offsets: offsets,
		recorder: latency.NewRecorder(latency.E2EServiceTime, latency.E2EResponseTime, latency.ProcessedResponseTime),
	}
	w.axis.Set(0, time.Hour)
	a := &assignment{place: &place{}}
	return func() {
		a.partition = &partition{receiver: ledger.NewReceiver(0, 8), handed: load.NewGapWatch(1), offsets: offsets}
		w.deliver(a, records, int64(time.Second), 0)
	}
}
