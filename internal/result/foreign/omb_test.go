package foreign_test

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"kafkabench.example/kafka-bench/internal/result"
	"kafkabench.example/kafka-bench/internal/result/foreign"
)

// The twelve results that Confluent published in 2020 have no sizes, clients, errors or delays, and a
// backlog that may be negative.
func TestOMBOf2020(t *testing.T) {
	for name, want := range map[string]struct {
		peak    int64
		known   bool
		warning string
	}{
		"omb-2020.json":         {12, true, "is below 0 in 2 of 3 periods, down to -57: 0 is taken there"},
		"omb-2020-below.json":   {0, false, "is below 0 in all 3 periods, down to -6,123: it is not known"},
		"omb-2020-stalled.json": {1_689_972, true, ""},
	} {
		r := read(t, name, foreign.Options{})
		run := r.Run
		if run.Verdict.Status != result.Unchecked || run.Lag.BacklogPeakRecords != want.peak || run.Says("lag.backlog_peak_records") != want.known ||
			run.Says("intervals.backlog_records") != want.known {
			t.Errorf("%s: %+v, backlog %d, told %v", name, run.Verdict, run.Lag.BacklogPeakRecords, run.Says("lag.backlog_peak_records"))
		}
		if w := strings.Join(run.Verdict.Warnings, "\n"); !strings.Contains(w, want.warning) || strings.Contains(w, "below 0 in") != (want.warning != "") {
			t.Errorf("%s: warnings\n%s", name, w)
		}
		for _, path := range []string{"load.bytes", "load.failed", "consumer.members", "run.started_at"} {
			if run.Says(path) {
				t.Errorf("%s claims %s", name, path)
			}
		}
		for _, path := range []string{"load.record.size", "load.producers", "topic.partitions", "consume.consumers"} {
			if got := run.Scenario.Get(path); got != "" {
				t.Errorf("%s: %s is %s, and the file does not have it", name, path, got)
			}
		}
		for _, i := range r.Intervals {
			if i.BacklogRecords < 0 || i.EndNs-i.StartNs != 10e9 {
				t.Errorf("%s: interval %+v", name, i)
			}
		}
	}
	if i := read(t, "omb-2020-stalled.json", foreign.Options{}).Intervals[1]; i.Acked != 0 || len(i.Time) != 0 {
		t.Errorf("the period without records: %+v", i)
	}
}

// Redpanda's fork says its period, its times, and the counts themselves.
func TestOMBWithItsOwnPeriod(t *testing.T) {
	zone := time.FixedZone("", 3600)
	r := read(t, "omb-redpanda.json", foreign.Options{Location: zone})
	run := r.Run
	if len(r.Intervals) != 3 || r.Intervals[2].StartNs != 4e9 || r.Intervals[2].EndNs != 6e9 || run.Run.Phases[0].EndNs != 6e9 {
		t.Errorf("intervals %+v, phases %+v", r.Intervals, run.Run.Phases)
	}
	if l := run.Load; l.Acked != 6000 || l.Failed != 1 || l.AckedPerS != 1000 || l.Bytes != 6000*512 || run.Delivery.Delivered != 5998 {
		t.Errorf("load %+v, delivery %+v", l, run.Delivery)
	}
	if r.Intervals[1].Acked != 2003 || r.Intervals[1].Delivered != 1998 || r.Intervals[1].Failed != 1 {
		t.Errorf("the second interval %+v", r.Intervals[1])
	}
	if want := time.Date(2026, 11, 21, 20, 15, 0, 0, zone); !run.Run.StartedAt.Equal(want) || !run.Run.FinishedAt.Equal(want.Add(6*time.Second)) || !run.Says("run.started_at") {
		t.Errorf("from %v to %v, want from %v", run.Run.StartedAt, run.Run.FinishedAt, want)
	}
	if w := strings.Join(run.Verdict.Warnings, "\n"); !strings.Contains(w, "the 40s after its beginTime, before the measured window") {
		t.Errorf("warnings:\n%s", w)
	}
	if run.Run.Driver.Version != "23.2.1" {
		t.Errorf("driver %+v", run.Run.Driver)
	}
	long := bytes.Replace(content(t, "omb-redpanda.json"), []byte(`"sampleRateMillis" : 2000`), []byte(`"sampleRateMillis" : 20000`), 1)
	wrong, err := foreign.Parse("x", long, foreign.Options{})
	if err != nil || wrong.Run.Verdict.Status != result.Invalid || wrong.Run.Verdict.Reasons[0] != "its 3 periods of 20s are longer than the 46s from beginTime to endTime" {
		t.Errorf("%v, %+v", err, wrong.Run.Verdict)
	}
	_, err = foreign.Parse("x", bytes.Replace(content(t, "omb-redpanda.json"), []byte("2026-11-21-20-15-06"), []byte("yesterday"), 1), foreign.Options{})
	if err == nil || !strings.Contains(err.Error(), `endTime: "yesterday" is not a time as in 2026-11-21-20-15-00`) {
		t.Errorf("a wrong time: %v", err)
	}
}
