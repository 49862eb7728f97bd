package calibrate

import (
	"context"
	"fmt"
	"runtime"
	"time"

	"kafkabench.example/kafka-bench/internal/load"
	"kafkabench.example/kafka-bench/internal/measure/latency"
	"kafkabench.example/kafka-bench/internal/plan/payload"
	"kafkabench.example/kafka-bench/internal/plan/scenario"
)

var sleeps = []time.Duration{50 * time.Microsecond, time.Millisecond, 10 * time.Millisecond}

func (m *measurer) small(ctx context.Context, c *Calibration) error {
	m.tell("timers, clock, and the cost of a record")
	for _, asked := range sleeps {
		s, err := oversleep(ctx, asked, m.cfg.Plan.Micro)
		if err != nil {
			return err
		}
		c.Sleeps = append(c.Sleeps, s)
	}
	c.ClockNs = clockCost(m.cfg.Plan.Micro)
	recording := recordingCost(m.cfg.Plan.Micro)
	for _, bytes := range m.cfg.Plan.RecordBytes {
		if err := ctx.Err(); err != nil {
			return err
		}
		cost, err := payloadCost(bytes, m.cfg.Plan.Micro)
		if err != nil {
			return err
		}
		cost.RecordNs = recording
		c.Costs = append(c.Costs, cost)
	}
	return nil
}

func oversleep(ctx context.Context, asked, length time.Duration) (Sleep, error) {
	h := latency.NewHistogram()
	for began := time.Now(); time.Since(began) < length; {
		if err := ctx.Err(); err != nil {
			return Sleep{}, err
		}
		before := time.Now()
		time.Sleep(asked)
		h.Record(int64(time.Since(before) - asked))
	}
	return Sleep{AskedNs: int64(asked), P50Ns: h.Percentile(50), P99Ns: h.Percentile(99)}, nil
}

// costOf is in nanoseconds.
func costOf(length time.Duration, work func(i uint64)) float64 {
	const batch = 1000
	began := time.Now()
	calls := uint64(0)
	for time.Since(began) < length {
		for range batch {
			work(calls)
			calls++
		}
	}
	return float64(time.Since(began)) / float64(calls)
}

// clockCost is in nanoseconds.
func clockCost(length time.Duration) float64 {
	axis := load.NewAxis(nil)
	axis.Set(0, time.Hour)
	var sum int64
	cost := costOf(length, func(uint64) { sum += axis.Now() })
	runtime.KeepAlive(sum)
	return cost
}

// recordingCost returns the cost of recording a record's four sender times, in nanoseconds.
func recordingCost(length time.Duration) float64 {
	metrics := []latency.Metric{latency.PacerLateness, latency.SendDelay, latency.SendServiceTime,
		latency.SendResponseTime}
	r := latency.NewRecorder(metrics...)
	r.Lock()
	defer r.Unlock()
	return costOf(length, func(i uint64) {
		ns := int64(i%1000) * 1000
		for _, m := range metrics {
			r.Record(true, m, ns)
		}
	})
}

func payloadCost(bytes int, length time.Duration) (Cost, error) {
	record := scenario.Defaults().Load.Record
	began := time.Now()
	corpus, err := payload.NewCorpus(payload.Spec{
		Class: record.Payload.Class, Seed: record.Seed, Stamped: true,
		Sizes: payload.Sizes{Distribution: "fixed", Values: []int{bytes}},
	})
	if err != nil {
		return Cost{}, fmt.Errorf("records of %d bytes: %w", bytes, err)
	}
	cost := Cost{RecordBytes: bytes, GenerateNs: float64(time.Since(began)) / float64(corpus.Len())}
	value := make([]byte, bytes)
	stamp := payload.Stamp{Run: 1, Producer: 1}
	cost.StampNs = costOf(length, func(i uint64) {
		stamp.Sequence = i
		value = corpus.Value(value, i, &stamp)
	})
	return cost, nil
}
