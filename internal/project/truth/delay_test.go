package truth

import (
	"testing"
	"time"

	"kafkabench.example/kafka-bench/internal/measure/latency"
	"kafkabench.example/kafka-bench/internal/project/virtual"
	"kafkabench.example/kafka-bench/internal/result"
)

const (
	lingers   = time.Millisecond // of the scenario small
	delayed   = 300 * time.Millisecond
	delayRate = 500 // records/s
)

// Every record is its own batch and request. The window is five times the delay.
func delayedRun(t *testing.T, c *virtual.Cluster) *result.Recorded {
	t.Helper()
	s := smallScenario(t, "delay", "load.rate=500/s", "load.in_flight=1000", "phases.measure=1500ms")
	r := run(t, config(t, c, s))
	wantValid(t, r)
	wantBalance(t, r)
	wantCount(t, "unique", r.Run.Delivery.Unique, 1500/2)
	wantExactly(t, r, "pacer_lateness", 0)
	wantExactly(t, r, "send_delay", 0)
	return r
}

func TestFixedDelay(t *testing.T) {
	t.Parallel()
	for name, delay := range map[string]time.Duration{"none": 0, "produce": delayed} {
		t.Run(name, func(t *testing.T) {
			virtual.Test(t, virtual.Options{ProduceDelay: delay}, func(t *testing.T, c *virtual.Cluster) {
				r := delayedRun(t, c)
				for _, metric := range []string{
					"send_service_time", "send_response_time", "e2e_service_time", "e2e_response_time",
				} {
					wantExactly(t, r, metric, lingers+delay)
				}
			})
		})
	}
}

// A record that arrives while a response is delayed waits for the next one: first a random part of
// the delay, then the whole delay.
func TestFetchDelay(t *testing.T) {
	t.Parallel()
	virtual.Test(t, virtual.Options{FetchDelay: delayed}, func(t *testing.T, c *virtual.Cluster) {
		r := delayedRun(t, c)
		wantExactly(t, r, "send_service_time", lingers)
		wantExactly(t, r, "send_response_time", lingers)
		wantExactly(t, r, "poll_time", delayed)
		// A record that arrives at the moment of a request may just miss it, which costs one rank
		// and one record interval.
		const next = time.Second / delayRate
		for _, metric := range []string{"e2e_service_time", "e2e_response_time"} {
			got := r.Run.Time[metric]
			wantBetween(t, metric+" min", got.MinNs, lingers+delayed, lingers+delayed+next)
			for _, p := range []struct {
				part float64
				is   int64
			}{{0.5, got.P50Ns}, {0.75, got.P75Ns}, {0.9, got.P90Ns}, {0.95, got.P95Ns}, {0.99, got.P99Ns}} {
				uniform := lingers + delayed + time.Duration(p.part*float64(delayed))
				wantBetween(t, metric, p.is, uniform-next, uniform+next)
			}
			wantBetween(t, metric+" max", got.MaxNs, lingers+2*delayed-next, lingers+2*delayed)
		}
	})
}

// Lateness is in response times but not in service times, and the run is invalid.
func TestLatePacer(t *testing.T) {
	t.Parallel()
	virtual.Test(t, virtual.Options{}, func(t *testing.T, c *virtual.Cluster) {
		cfg := config(t, c, smallScenario(t, "late"))
		const over = 50 * time.Millisecond
		cfg.Sleep = func(d time.Duration) { time.Sleep(d + over) }
		r := run(t, cfg)
		wantReason(t, r, "the pacer was late: 50.0 ms at p99, above its bound of 20ms")
		wantBalance(t, r)
		wantSeries(t, r)
		wantHistograms(t, r)
		wantCount(t, "unique", r.Run.Delivery.Unique, 1000)
		// A worker wakes 50 ms after a record is due, and sends that one and the 25 that came due
		// since, each 2 ms: they are late by 50, 48, … 0 ms.
		for metric, after := range map[string]time.Duration{
			"pacer_lateness": 0, "send_delay": 0, "send_response_time": lingers, "e2e_response_time": lingers,
		} {
			got := r.Run.Time[metric]
			wantTime(t, metric+" min", got.MinNs, after)
			wantBetween(t, metric+" p50", got.P50Ns, after+over/2-time.Millisecond, after+over/2+time.Millisecond)
			wantTime(t, metric+" p99", got.P99Ns, after+over)
			wantTime(t, metric+" max", got.MaxNs, after+over)
		}
		wantExactly(t, r, "send_service_time", lingers)
		wantExactly(t, r, "e2e_service_time", lingers)
	})
}

func wantExactly(t *testing.T, r *result.Recorded, metric string, want time.Duration) {
	t.Helper()
	got := r.Run.Time[metric]
	if got.Count == 0 || got.Negative > 0 {
		t.Errorf("%s has %d values, and %d below 0", metric, got.Count, got.Negative)
	}
	wantTime(t, metric+" min", got.MinNs, want)
	wantTime(t, metric+" max", got.MaxNs, want)
}

func wantTime(t *testing.T, what string, got int64, want time.Duration) {
	t.Helper()
	wantBetween(t, what, got, want, want)
}

func wantBetween(t *testing.T, what string, got int64, least, most time.Duration) {
	t.Helper()
	if g := rounded(got); g < rounded(int64(least)) || g > rounded(int64(most)) {
		t.Errorf("%s is %v, want %v to %v", what, time.Duration(got), least, most)
	}
}

// rounded is the greatest value in the histogram's slot of v.
func rounded(v int64) int64 {
	h := latency.NewHistogram()
	h.Record(v)
	return h.Percentile(100)
}
