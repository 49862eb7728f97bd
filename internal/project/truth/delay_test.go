package truth

import (
	"fmt"
	"testing"
	"time"

	"kafkabench.example/kafka-bench/internal/kafka/cluster"
	"kafkabench.example/kafka-bench/internal/result"
)

// percentile of a result.Time, with the share of the values at or below it.
type percentile struct {
	share float64
	name  string
	of    func(result.Time) int64
}

// percentiles of 2000 values, as far as they rest on ten of them: what is above
// is a single hiccup of the machine, which one run has and the other has not.
var percentiles = []percentile{
	{0.50, "p50", func(t result.Time) int64 { return t.P50Ns }},
	{0.75, "p75", func(t result.Time) int64 { return t.P75Ns }},
	{0.90, "p90", func(t result.Time) int64 { return t.P90Ns }},
	{0.95, "p95", func(t result.Time) int64 { return t.P95Ns }},
	{0.99, "p99", func(t result.Time) int64 { return t.P99Ns }},
	{0.995, "p99.5", func(t result.Time) int64 { return t.P995Ns }},
}

// TestFixedDelay makes three runs at the same time, that differ in nothing but in
// how late the broker is: not at all, by a fixed time on its way in (acks and
// deliveries), by a fixed time on its way out to the consumer. Every percentile
// of the delayed ones lies at the delay plus the undelayed one.
func TestFixedDelay(t *testing.T) {
	t.Parallel()
	const d = 300 * time.Millisecond
	s := smallScenario(t, "delay", "load.rate=500/s", "load.in_flight=1000", "phases.measure=4s", "phases.warmup=1s")
	whole := func(float64) time.Duration { return d }
	none := func(float64) time.Duration { return 0 }
	// A record that arrives while a response is on its way to the consumer waits
	// for the next one. Responses follow on each other at the delay, so it waits
	// for a uniform part of that, and then for the whole.
	uniform := func(share float64) time.Duration { return d + time.Duration(share*float64(d)) }
	const plain, produce, fetch = 0, 1, 2
	shifts := []struct {
		metric  string
		delayed int
		delay   func(share float64) time.Duration
	}{
		{"send_service_time", produce, whole}, {"send_response_time", produce, whole},
		{"e2e_service_time", produce, whole}, {"e2e_response_time", produce, whole},
		{"send_delay", produce, none}, {"pacer_lateness", produce, none}, {"send_response_time", fetch, none},
		{"e2e_service_time", fetch, uniform}, {"e2e_response_time", fetch, uniform},
	}
	later := func(runs []*result.Recorded) string {
		for _, s := range shifts {
			for _, p := range percentiles {
				if off, tolerance := shift(p, s.metric, runs[s.delayed], runs[plain], s.delay); off > tolerance {
					return fmt.Sprintf("%s: %s is %v too late", s.metric, p.name, off-tolerance)
				}
			}
		}
		return ""
	}
	runs := unstarved(t, func() []*result.Recorded {
		return runTogether(t,
			config(t, embedded(t, cluster.EmbeddedOptions{}), s),
			config(t, embedded(t, cluster.EmbeddedOptions{ProduceDelay: d}), s),
			config(t, embedded(t, cluster.EmbeddedOptions{FetchDelay: d}), s))
	}, later)
	for _, r := range runs {
		wantValid(t, r)
		wantBalance(t, r)
		wantCount(t, "unique", r.Run.Delivery.Unique, 2000)
	}
	for _, s := range shifts {
		wantShifted(t, s.metric, runs[s.delayed], runs[plain], s.delay)
	}
}

// shift is by how much a percentile is off the undelayed one plus the delay's, and by how
// much it may be: see wantShifted.
func shift(p percentile, metric string, delayed, plain *result.Recorded, delay func(share float64) time.Duration) (off, tolerance time.Duration) {
	is, undelayed := time.Duration(p.of(delayed.Run.Time[metric])), time.Duration(p.of(plain.Run.Time[metric]))
	return is - undelayed - delay(p.share), 30*time.Millisecond + undelayed
}

// wantShifted compares each percentile of a metric with the undelayed one plus
// the delay's. It may differ by a tenth of the 300 ms and by as much as the
// undelayed one: that is how busy the machine was, and the record that had bad
// luck with the one is not always the one that had it with the other. Of starved
// runs only the lower bound is left. No value at all may be below the delay.
func wantShifted(t *testing.T, metric string, delayed, plain *result.Recorded, delay func(share float64) time.Duration) {
	t.Helper()
	got, base := delayed.Run.Time[metric], plain.Run.Time[metric]
	if least := time.Duration(got.MinNs); least < delay(0) {
		t.Errorf("%s: a value of %v is below the delay of %v", metric, least, delay(0))
	}
	for _, p := range percentiles {
		off, tolerance := shift(p, metric, delayed, plain, delay)
		is, undelayed := time.Duration(p.of(got)), time.Duration(p.of(base))
		t.Logf("%s %s: %v, undelayed %v, off by %v", metric, p.name, is, undelayed, off)
		if off < -tolerance || off > tolerance && !starved(delayed, plain) {
			t.Errorf("%s: %s is %v, and should be at %v + %v", metric, p.name, is, undelayed, delay(p.share))
		}
	}
}
