package foreign_test

import (
	"maps"
	"reflect"
	"strings"
	"testing"
	"time"

	"kafkabench.example/kafka-bench/internal/result"
	"kafkabench.example/kafka-bench/internal/result/foreign"
)

func TestProducerPerf(t *testing.T) {
	r := read(t, "producer-3.txt", foreign.Options{})
	want := result.Time{Count: 100000, MeanNs: 1_420_000, P50Ns: 1e6, P95Ns: 3e6, P99Ns: 21e6, P999Ns: 90e6, MaxNs: 215e6}
	if got := r.Run.Time["send_service_time"]; !reflect.DeepEqual(got, want) {
		t.Errorf("send service time %+v, want %+v", got, want)
	}
	if r.Run.Load.Acked != 100000 || r.Run.Load.AckedPerS != 9995.002499 || r.Run.Verdict.Status != result.Unchecked || r.Run.Load.Bytes != 51_196_094 {
		t.Errorf("load %+v, verdict %+v", r.Run.Load, r.Run.Verdict)
	}
	for path, says := range map[string]bool{
		"time.send_service_time.p99_ns": true, "time.send_service_time.p75_ns": false, "time.send_service_time.min_ns": false,
		"load.acked": true, "load.bytes": true, "intervals.time.max_ns": true, "intervals.time.p50_ns": false,
	} {
		if r.Run.Says(path) != says {
			t.Errorf("%s: told %v, want %v", path, !says, says)
		}
	}
	if len(r.Intervals) != 2 || r.Intervals[0].Acked != 49932 || r.Intervals[0].EndNs != 5_001_001_562 || r.Intervals[1].Time["send_service_time"].MaxNs != 12e6 {
		t.Errorf("intervals %+v", r.Intervals)
	}
}

func TestProducerPerfWithoutIntervalLines(t *testing.T) {
	for _, c := range []struct {
		text string
		rows bool
	}{
		{"50000 records sent, 9999.8 records/sec (9.77 MB/sec), 0.92 ms avg latency, 220.00 ms max latency, 1 ms 50th, 2 ms 95th, 5 ms 99th, 19 ms 99.9th.\n", false},
		{string(content(t, "producer-3.txt")), true},
	} {
		r := parseAll(t, "p.txt", []byte(c.text))[0]
		if said := strings.Contains(strings.Join(r.Run.Verdict.Warnings, "\n"), "interval lines"); said != c.rows {
			t.Errorf("it speaks of interval lines: %v, want %v", said, c.rows)
		}
	}
}

func TestProducerPerfTail(t *testing.T) {
	r := read(t, "producer-4.txt", foreign.Options{})
	var acked int64
	for _, i := range r.Intervals {
		acked += i.Acked
	}
	if acked != 40000 || len(r.Intervals) != 5 || r.Intervals[4].Acked != 40000-235-3432-12636-22230 {
		t.Errorf("%d acked in %d intervals: %+v", acked, len(r.Intervals), r.Intervals)
	}
}

// Lines before "In steady state." are the warm-up's.
func TestProducerPerfSteadyState(t *testing.T) {
	r := read(t, "producer-steady.txt", foreign.Options{})
	if r.Run.Load.Acked != 25000 || r.Run.Time["send_service_time"].P50Ns != 23e6 {
		t.Errorf("load %+v, times %+v", r.Run.Load, r.Run.Time)
	}
	if first := r.Intervals[0]; first.Phase != "warm-up" || first.EndNs != 0 || first.Acked != 710 {
		t.Errorf("the warm-up is %+v", first)
	}
	if second := r.Intervals[1]; second.Phase != "measure" || second.StartNs != 0 || second.Acked != 9181 {
		t.Errorf("the measured window begins with %+v", second)
	}
	if w := strings.Join(r.Run.Verdict.Warnings, "\n"); !strings.Contains(w, "the first 15,000 records, its warm-up") {
		t.Errorf("warnings:\n%s", w)
	}
}

func TestProducerPerfFailures(t *testing.T) {
	r := read(t, "producer-failed.txt", foreign.Options{})
	if r.Run.Load.Failed != 2 || len(r.Run.Load.Errors) != 1 || r.Run.Load.Acked != 0 {
		t.Errorf("load %+v", r.Run.Load)
	}
	if v := r.Run.Verdict; v.Status != result.Invalid || v.Reasons[0] != "no record was acknowledged" {
		t.Errorf("verdict %+v", v)
	}
	prefixed := eachLine(content(t, "producer-failed.txt"), func(line string) string { return "producer_1  | " + line })
	if got := parseAll(t, "x", prefixed)[0].Run.Load; !maps.Equal(got.Errors, r.Run.Load.Errors) || got.Failed != 2 {
		t.Errorf("behind the prefix of a container: %+v", got)
	}
}

func TestConsumerPerf(t *testing.T) {
	zone := time.FixedZone("", 3600)
	r := read(t, "consumer-4.txt", foreign.Options{Location: zone})
	if d := r.Run.Delivery; d.Delivered != 80000 || d.DeliveredPerS != 43454.6442 {
		t.Errorf("delivery %+v", d)
	}
	want := time.Date(2026, 11, 22, 0, 13, 55, 892e6, zone).Add(741 * time.Millisecond)
	if got := r.Run.Run.StartedAt; !got.Equal(want) || !r.Run.Says("run.started_at") {
		t.Errorf("it started at %v, want %v", got, want)
	}
	if p := r.Run.Run.Phases; len(p) != 2 || p[0].StartNs != -741e6 || p[1].EndNs != 1841e6 {
		t.Errorf("phases %+v, want 741 ms of joining and 1.841 s of reading", p)
	}
	if len(r.Run.Time) != 0 {
		t.Errorf("times %v of a tool that measures none", r.Run.Time)
	}
}

func TestConsumerPerfOlderHeader(t *testing.T) {
	r := read(t, "consumer-1.txt", foreign.Options{})
	if d := r.Run.Delivery; d.Delivered != 100000 || d.DeliveredPerS != 25000 {
		t.Errorf("delivery %+v", d)
	}
	if w := strings.Join(r.Run.Verdict.Warnings, "\n"); !strings.Contains(w, "joining the group is in its rate") {
		t.Errorf("warnings:\n%s", w)
	}
}

func TestConsumerPerfDetailed(t *testing.T) {
	r := read(t, "consumer-detailed.txt", foreign.Options{})
	if len(r.Intervals) != 7 || r.Intervals[1].Delivered != 4500 || r.Intervals[6].EndNs-r.Intervals[6].StartNs != 117e6 {
		t.Errorf("intervals %+v", r.Intervals)
	}
	if r.Run.Delivery.Delivered != 59702 {
		t.Errorf("delivered %d, want the last row's 59,702", r.Run.Delivery.Delivered)
	}
}

func TestOMB(t *testing.T) {
	r := read(t, "omb.json", foreign.Options{})
	want := result.Time{
		Count: 150010, MeanNs: 3.1e6, P50Ns: 2_800_000, P75Ns: 3_600_000, P90Ns: 4_750_000, P95Ns: 5_500_000, P99Ns: 12_500_000,
		P995Ns: 21_500_000, P999Ns: 60e6, P9999Ns: 80e6, MaxNs: 88_125_000,
	}
	if got := r.Run.Time["send_service_time"]; !reflect.DeepEqual(got, want) {
		t.Errorf("send service time %+v, want %+v", got, want)
	}
	if got := r.Run.Time["send_delay"]; got.P99Ns != 240_000 || got.MaxNs != 14e6 {
		t.Errorf("send delay %+v: it is in microseconds", got)
	}
	if got := r.Run.Time["e2e_service_time"]; got.P50Ns != 4e6 || r.Run.Says("time.e2e_service_time.p75_ns") {
		t.Errorf("e2e service time %+v", got)
	}
	if l := r.Run.Load; l.Acked != 150010 || l.Failed != 2 || l.Bytes != 150010*1024 || r.Run.Lag.BacklogPeakRecords != 19 {
		t.Errorf("load %+v, lag %+v", l, r.Run.Lag)
	}
	if len(r.Intervals) != 3 || r.Intervals[2].EndNs != 30e9 || r.Intervals[2].Time["send_delay"].MaxNs != 14e6 || r.Intervals[1].BacklogRecords != 19 {
		t.Errorf("intervals %+v", r.Intervals)
	}
}
