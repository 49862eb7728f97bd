package showtest

import (
	"fmt"
	"math"
	"testing"
	"time"

	"kafkabench.example/kafka-bench/internal/result"
	"kafkabench.example/kafka-bench/internal/result/resulttest"
)

// Study makes the runs of a study of backpressure: variants of an overload.
type Study struct {
	*Maker
}

// NewStudy returns a Study. Studies with the same seed make the same runs.
func NewStudy(t *testing.T, seed uint64) Study { return Study{NewMaker(t, seed)} }

// Variant returns a repeat of a variant: an overload, with or without a gate.
func (s Study) Variant(variant string, plan resulttest.Plan, change func(*result.Recorded)) *result.Recorded {
	r := Simulate(s.t, plan)
	s.Made++
	run := &r.Run
	run.Run.Name, run.Run.ID = "backpressure-short-"+variant, fmt.Sprintf("r%05d", s.Made)
	run.Run.StartedAt = resulttest.StartedAt.Add(time.Duration(s.Made) * time.Minute)
	run.Run.FinishedAt = run.Run.StartedAt.Add(time.Minute)
	r.Dir = fmt.Sprintf("runs/%s-%s-%s", run.Run.StartedAt.Format("20060102T150405Z"), run.Run.Name, run.Run.ID)
	resulttest.Set(&run.Scenario, "name", run.Run.Name)
	resulttest.Set(&run.Scenario, "consume.commit", "1s")
	resulttest.Set(&run.Scenario, "backpressure", map[string]any{"controller": variant})
	run.Delivery.DeliveredPerS *= 1 + 0.001*s.Random.NormFloat64()
	noise := 1 + 0.01*s.Random.NormFloat64()
	for _, metric := range result.TimeMetrics {
		run.Time[metric] = Scaled(run.Time[metric], noise)
	}
	*run.Lag.PeakRecords += s.Random.Int64N(90)
	if change != nil {
		change(r)
	}
	if b := run.Backpressure; b != nil && b.MaxLag > 0 {
		ratio := float64(*run.Lag.PeakRecords) / float64(b.MaxLag)
		b.PeakLagToBound = &ratio
	}
	return r
}

func (s Study) bounded(controller string, bound func(i int) int64, peak int64, perS, busy float64) func(*result.Recorded) {
	return func(r *result.Recorded) {
		run := &r.Run
		b := run.Backpressure
		b.Controller, b.ResumeLag, b.Decisions, b.Signal, b.Per = controller, 0, 0, "committed", "topic"
		b.Shed = &result.ShedCounts{ByGate: run.Load.Shed}
		b.BoundRecords = &result.Bound{Min: math.MaxInt64}
		for i := range r.Intervals {
			at := bound(i)
			r.Intervals[i].BoundRecords = &at
			if lag := r.Intervals[i].LagRecords; lag != nil {
				*lag = min(*lag, at)
			}
			b.BoundRecords.Min, b.BoundRecords.Max, b.BoundRecords.Last = min(b.BoundRecords.Min, at), max(b.BoundRecords.Max, at), at
		}
		*run.Lag.PeakRecords = peak - s.Random.Int64N(60)
		run.Delivery.DeliveredPerS = perS + 3*s.Random.NormFloat64()
		*run.Consumer.Utilisation = busy
	}
}

// Credit returns a run that keeps the lag below 5,000 records and all consumers busy.
func (s Study) Credit() *result.Recorded {
	return s.Variant("credit", resulttest.OverloadTight(), s.bounded("credit", func(int) int64 { return 5000 }, 4931, 2640, 0.9975))
}

// Latency returns a run with a target of 250 ms that commits ten times as often as Credit, and
// leaves some capacity unused.
func (s Study) Latency() *result.Recorded {
	return s.Variant("latency", resulttest.OverloadTight(), func(r *result.Recorded) {
		s.bounded("latency", func(i int) int64 { return 640 + 30*int64(i%4) }, 720, 2561, 0.9701)(r)
		r.Run.Backpressure.MaxLag, r.Run.Backpressure.TargetNs = 0, 250e6
		resulttest.Set(&r.Run.Scenario, "consume.commit", "100ms")
		for _, metric := range []string{"e2e_service_time", "e2e_response_time", "processed_response_time"} {
			r.Run.Time[metric] = Scaled(r.Run.Time[metric], 0.2)
		}
	})
}
