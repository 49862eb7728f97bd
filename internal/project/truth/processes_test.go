package truth

import (
	"fmt"
	"testing"
	"time"

	"kafkabench.example/kafka-bench/internal/project/virtual"
	"kafkabench.example/kafka-bench/internal/result"
)

// With producers in three processes, the same records are offered, and times come from one clock.
func TestProcesses(t *testing.T) {
	t.Parallel()
	const delay, lingers = 50 * time.Millisecond, time.Millisecond
	virtual.Test(t, virtual.Options{ProduceDelay: delay}, func(t *testing.T, c *virtual.Cluster) {
		here, apart := sameApart(t, c, "load.processes=3",
			"load.rate=1k/s", "load.producers=5", "load.in_flight=1000", "topic.partitions=3")
		for _, r := range []*result.Recorded{here, apart} {
			for metric, want := range map[string]time.Duration{
				"pacer_lateness": 0, "send_delay": 0,
				"send_service_time": delay + lingers, "send_response_time": delay + lingers,
				"e2e_service_time": delay + lingers, "e2e_response_time": delay + lingers,
			} {
				wantExactly(t, r, metric, want)
			}
		}
		if a, b := here.Run.Load.WireBytes, apart.Run.Load.WireBytes; *a == 0 || !agree(float64(*b), float64(*a), 0.01) {
			t.Errorf("%d bytes were written apart, %d here", *b, *a)
		}
	})
}

// sameApart makes a run, and a second one with override, which puts a part of it into three
// processes. The counts must be the same.
func sameApart(t *testing.T, c *virtual.Cluster, override string, overrides ...string) (here, apart *result.Recorded) {
	t.Helper()
	here = run(t, config(t, c, smallScenario(t, "here", overrides...)))
	apart = runApart(t, c, smallScenario(t, "apart", append(overrides, override)...), 3)
	wantWhole(t, here)
	wantWhole(t, apart)
	a, b := here.Run, apart.Run
	wantCount(t, "scheduled apart", b.Load.Scheduled, a.Load.Scheduled)
	wantCount(t, "scheduled apart in the warm-up", b.Warmup.Load.Scheduled, a.Warmup.Load.Scheduled)
	wantCount(t, "bytes apart", b.Load.Bytes, a.Load.Bytes)
	wantCount(t, "unique apart", b.Delivery.Unique, a.Delivery.Unique)
	wantCount(t, "unique apart in the warm-up", b.Warmup.Delivery.Unique, a.Warmup.Delivery.Unique)
	for metric, time := range a.Time {
		if metric != "poll_time" && metric != "commit_time" { // they count requests, not records
			wantCount(t, metric+" apart", b.Time[metric].Count, time.Count)
		}
	}
	return here, apart
}

func wantWhole(t *testing.T, r *result.Recorded) {
	t.Helper()
	wantValid(t, r)
	wantBalance(t, r)
	wantHistograms(t, r)
	wantSeries(t, r)
	if d := r.Run.Delivery; !r.Run.Lag.Drained || d.Lost+d.Duplicates+d.Reordered+d.Foreign != 0 {
		t.Errorf("%s: %+v", r.Run.Run.Name, d)
	}
}

func wantTimes(t *testing.T, r *result.Recorded, metric string, least, most time.Duration) {
	t.Helper()
	got := r.Run.Time[metric]
	if got.Count == 0 || got.Negative > 0 {
		t.Errorf("%s has %d values, and %d below 0", metric, got.Count, got.Negative)
	}
	wantBetween(t, metric+" min", got.MinNs, least, most)
	wantBetween(t, metric+" max", got.MaxNs, least, most)
}

// All processes offer exactly the records due before the interrupted run's end.
func TestProcessesInterrupted(t *testing.T) {
	t.Parallel()
	virtual.Test(t, virtual.Options{}, func(t *testing.T, c *virtual.Cluster) {
		cfg, w := withCrew(t, c, smallScenario(t, "interrupted", "phases.measure=1m", "load.rate=2k/s", "load.processes=2"))
		// The run sends the window's end to its child processes 20 ms ahead. This end, at 720.1 ms,
		// lies between two records.
		const after, ahead = 700100 * time.Microsecond, 20 * time.Millisecond
		r := run(t, interruptIn(cfg, "measure", after))
		w.wantDone(t, 2)
		wantInterrupted(t, r)
		wantWhole(t, r)
		wantCount(t, "the end of the window", r.Run.Run.Phases[1].EndNs, int64(after+ahead))
		wantCount(t, "scheduled", r.Run.Load.Scheduled, 1+2*720)
	})
}

func TestProcessesKeepABound(t *testing.T) {
	t.Parallel()
	virtual.Test(t, virtual.Options{}, wantSharedBound)
}

func wantSharedBound(t *testing.T, c *virtual.Cluster) {
	t.Helper()
	const bound = 300
	r := runApart(t, c, smallScenario(t, "shared", "load.producers=3", "load.processes=3", "load.rate=3k/s",
		"phases.warmup=1s", "phases.measure=2s", "consume.work=2ms", "backpressure.controller=credit",
		fmt.Sprintf("backpressure.max_lag=%d", bound), "backpressure.poll=20ms", "backpressure.excess=shed",
		"sampling.lag=20ms"), 3)
	wantValid(t, r)
	wantBalance(t, r)
	b, peak := r.Run.Backpressure, r.Run.Lag.PeakRecords
	if b == nil || b.BoundRecords == nil || b.PeakLagToBound == nil || peak == nil {
		t.Fatalf("there was no bound, or no lag: %+v", b)
	}
	if last := b.BoundRecords.Last; b.Processes != 3 || last > bound || last < bound-10 {
		t.Errorf("the bound was %d of %d processes; want %d of 3", last, b.Processes, bound)
	}
	if *peak > bound || *b.PeakLagToBound > 1 || *b.PeakLagToBound < 0.3 {
		t.Errorf("the peak of the lag is %d, %v of the bound", *peak, *b.PeakLagToBound)
	}
	if b.Refused == 0 || r.Run.Load.Shed == 0 {
		t.Errorf("%d were refused, %d shed: nothing was held back", b.Refused, r.Run.Load.Shed)
	}
	wantNoTopics(t, c)
}

func TestNoCommandForProcesses(t *testing.T) {
	t.Parallel()
	virtual.Test(t, virtual.Options{}, func(t *testing.T, c *virtual.Cluster) {
		for _, command := range [][]string{nil, {t.TempDir() + "/nothing"}} {
			cfg := config(t, c, smallScenario(t, "never", "load.processes=2"))
			cfg.Worker = command
			if r, err := tryRun(cfg); err == nil {
				t.Errorf("the run is %v", r)
			}
			wantNothingLeft(t, c, cfg.Out)
		}
	})
}
