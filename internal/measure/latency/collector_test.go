package latency

import (
	"reflect"
	"runtime"
	"slices"
	"sync"
	"testing"

	"pgregory.net/rapid"
)

func TestMetricNames(t *testing.T) {
	want := []string{
		"pacer_lateness", "send_delay", "send_service_time", "send_response_time",
		"e2e_service_time", "e2e_response_time", "processed_response_time",
		"settle_time", "redelivery_response_time", "redelivery_lateness", "poll_time", "unacked_service_time", "unacked_response_time",
	}
	if len(want) != NumMetrics {
		t.Fatalf("%d metrics, want %d", NumMetrics, len(want))
	}
	for m := range Metric(NumMetrics) {
		if m.String() != want[m] || Tag(true, m) != want[m] || Tag(false, m) != "warmup_"+want[m] {
			t.Errorf("metric %d is %q, tagged %q and %q; want %q", m, m, Tag(true, m), Tag(false, m), want[m])
		}
	}
	if got := Metric(NumMetrics).String(); got != "unknown_metric" {
		t.Errorf("a number that is no metric prints as %q", got)
	}
}

// Each histogram takes 264 KiB to compare.
var used = []Metric{SendDelay, PollTime}

func TestCollectAgainstOneHistogram(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var collector Collector
		recorders := make([]*Recorder, rapid.IntRange(1, 3).Draw(t, "recorders"))
		for i := range recorders {
			recorders[i] = NewRecorder(used...)
			collector.Add(recorders[i])
		}
		open, total := &sums{}, &sums{}
		t.Repeat(map[string]func(*rapid.T){
			"record": func(t *rapid.T) {
				r := rapid.SampledFrom(recorders).Draw(t, "recorder")
				measured := rapid.Bool().Draw(t, "measured")
				m := rapid.SampledFrom(used).Draw(t, "metric")
				ns, n := anywhere().Draw(t, "ns"), rapid.Int64Range(1, 5).Draw(t, "n")
				r.Lock()
				r.RecordN(measured, m, ns, n)
				r.Unlock()
				open.at(bookOf(measured), int(m)).RecordN(ns, n)
				total.at(bookOf(measured), int(m)).RecordN(ns, n)
			},
			"collect": func(t *rapid.T) {
				checkInterval(t, collector.Collect(), open)
				checkTotals(t, &collector, total)
				open.reset()
			},
		})
	})
}

func checkInterval(t *rapid.T, interval Interval, want *sums) {
	both := NewHistogram()
	for _, m := range used {
		both.Reset()
		for book, isMeasured := range []bool{false, true} {
			got, expected := interval.Histogram(isMeasured, m), want.at(book, int(m))
			switch {
			case got == nil && expected.Count() > 0:
				t.Errorf("%s: nothing collected, want %d values", Tag(isMeasured, m), expected.Count())
			case got != nil && *got != *expected:
				t.Errorf("%s: collected %+v, want %+v", Tag(isMeasured, m), got.Summary(), expected.Summary())
			}
			both.Merge(expected)
		}
		if got := interval.Summary(m); got != both.Summary() {
			t.Errorf("%s: summary %+v, want %+v", m, got, both.Summary())
		}
	}
}

func checkTotals(t *rapid.T, c *Collector, want *sums) {
	for _, m := range used {
		for book, isMeasured := range []bool{false, true} {
			if got := c.Totals(isMeasured, m); !reflect.DeepEqual(got, want.at(book, int(m)).Distribution()) {
				t.Errorf("%s: totals %+v, want %+v", Tag(isMeasured, m), got, want.at(book, int(m)).Distribution())
			}
			all := want.at(book, int(m))
			curve, count := c.Curve(isMeasured, m, []float64{0, 50, 100})
			if count != all.Count() || !slices.Equal(curve, all.Percentiles([]float64{0, 50, 100})) {
				t.Errorf("%s: a curve of %d values is %d", Tag(isMeasured, m), count, curve)
			}
		}
	}
}

func TestMetricThatIsNotNamedIsIgnored(t *testing.T) {
	var collector Collector
	recorder := NewRecorder(SendServiceTime)
	collector.Add(recorder)
	recorder.Record(true, SendResponseTime, 5)
	recorder.Record(true, SendServiceTime, 5)
	interval := collector.Collect()
	if got := interval.Summary(SendResponseTime); got != (Summary{}) {
		t.Errorf("the recorder was not asked for send_response_time, and has %+v", got)
	}
	if got := interval.Summary(SendServiceTime).Count; got != 1 {
		t.Errorf("send_service_time has %d values, want 1", got)
	}
}

func TestCollectWhileRecording(t *testing.T) {
	const workers, batches, batch = 4, 500, 20
	var collector Collector
	var wg sync.WaitGroup
	for range workers {
		recorder := NewRecorder(SendDelay, SendServiceTime)
		collector.Add(recorder)
		wg.Go(func() {
			for range batches {
				recorder.Lock()
				for i := range int64(batch) {
					recorder.Record(true, SendDelay, i)
					recorder.Record(true, SendServiceTime, i)
				}
				recorder.Unlock()
			}
		})
	}
	done := make(chan struct{})
	go func() { wg.Wait(); close(done) }()
	for running := true; running; {
		select {
		case <-done:
			running = false
		default:
			runtime.Gosched()
		}
		interval := collector.Collect()
		delay, service := interval.Summary(SendDelay).Count, interval.Summary(SendServiceTime).Count
		if delay != service || delay%batch != 0 {
			t.Errorf("an interval split a batch: %d values of send_delay, %d of send_service_time", delay, service)
		}
	}
	if got := collector.Totals(true, SendDelay).Count; got != workers*batches*batch {
		t.Errorf("%d values in the totals, want %d", got, workers*batches*batch)
	}
}

func TestCollectAllocatesNothingInSteadyState(t *testing.T) {
	var collector Collector
	recorders := make([]*Recorder, 8)
	for i := range recorders {
		recorders[i] = NewRecorder(PacerLateness, SendDelay, SendServiceTime, SendResponseTime)
		collector.Add(recorders[i])
	}
	interval := func() {
		for _, r := range recorders {
			for m := range SendResponseTime + 1 {
				r.Record(true, m, 1_000_000)
			}
		}
		collector.Collect()
	}
	interval()
	if allocs := testing.AllocsPerRun(100, interval); allocs != 0 {
		t.Errorf("an interval allocates %v objects, want none", allocs)
	}
}

func TestWarmupIsReleased(t *testing.T) {
	var collector Collector
	recorder := NewRecorder(SendDelay)
	collector.Add(recorder)
	recorder.Record(false, SendDelay, 1)
	recorder.Record(true, SendDelay, 1)
	for range 2 {
		collector.Collect()
	}
	if recorder.active[bookWarmup][SendDelay] != nil {
		t.Error("the warm-up's histogram is kept though nothing is recorded in it")
	}
	if recorder.active[bookMeasured][SendDelay] == nil {
		t.Error("the measured histogram was given back")
	}
	recorder.Record(false, SendDelay, 1)
	collector.Collect()
	if got := collector.Totals(false, SendDelay).Count; got != 2 {
		t.Errorf("%d warm-up values in the totals, want 2: a straggler after the release counts too", got)
	}
}
