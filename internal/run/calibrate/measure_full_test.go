//go:build full

package calibrate

import (
	"context"
	"testing"
	"time"

	"kafkabench.example/kafka-bench/internal/kafka/driver/franz"
	"kafkabench.example/kafka-bench/internal/result"
)

// A busy machine may send nothing in a fifth of a second; then no rate is tried.
func TestMeasure(t *testing.T) {
	var told []string
	c, err := Measure(context.Background(), Config{
		Plan: Plan{
			Quick: true, RecordBytes: []int{1024}, Halvings: 1,
			Warmup: 50 * time.Millisecond, Measure: 200 * time.Millisecond, Micro: 20 * time.Millisecond,
		},
		Driver: franz.New(), Tool: result.Tool{Version: "test"},
		Progress: func(what string) { told = append(told, what) },
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(c.Offers) != 2 || len(c.Costs) != 1 || len(c.Sleeps) != len(sleeps) || len(told) < 2 {
		t.Fatalf("%+v, told %q", c, told)
	}
	for _, o := range c.Offers {
		if tried := o.HighestPerS != nil || o.FailedPerS != nil; tried && o.ClosedLoopPerS <= 0 {
			t.Errorf("rates were tried without a closed loop: %+v", o)
		}
		if o.HighestPerS != nil && (*o.HighestPerS > o.ClosedLoopPerS || o.LatenessP99Ns <= 0) {
			t.Errorf("%+v", o)
		}
		if step, known := o.Step(); known && step <= 0 {
			t.Errorf("%v/s held, and %v/s did not", *o.HighestPerS, *o.FailedPerS)
		}
	}
	for _, s := range c.Sleeps {
		if s.P50Ns <= 0 || s.P99Ns < s.P50Ns {
			t.Errorf("%+v", s)
		}
	}
	for _, cost := range c.Costs {
		if cost.GenerateNs <= 0 || cost.StampNs <= 0 || cost.RecordNs <= 0 {
			t.Errorf("%+v", cost)
		}
	}
	if c.ClockNs <= 0 || c.Host.CPUs == 0 {
		t.Errorf("%+v", c)
	}
}
