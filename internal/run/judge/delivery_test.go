package judge

import (
	"slices"
	"testing"
	"time"

	"kafkabench.example/kafka-bench/internal/measure/latency"
	"kafkabench.example/kafka-bench/internal/measure/ledger"
	"kafkabench.example/kafka-bench/internal/measure/snapshot"
	"kafkabench.example/kafka-bench/internal/plan/scenario"
)

// Of 1,000 records due in a second, 210 arrive after 1, 2, … 210 ms, then a drain of 100 ms gives
// up. The percentiles rank the other records behind these.
func TestTimesAreOfAllRecords(t *testing.T) {
	const ms = int64(time.Millisecond)
	recorder := latency.NewRecorder(latency.SendDelay, latency.SendServiceTime, latency.E2EServiceTime, latency.E2EResponseTime)
	e := &Evidence{ // without producers, so it is no closed loop
		Setup: Setup{Stamped: true}, Window: Window{EndNs: 1000 * ms, FinishedNs: 1100 * ms}, Groups: make([]Group, 1),
		Times: &latency.Collector{},
	}
	for i := int64(1); i <= 210; i++ {
		recorder.Record(true, latency.E2EServiceTime, i*ms)
		recorder.Record(true, latency.E2EResponseTime, i*ms)
	}
	recorder.RecordN(true, latency.SendDelay, ms, 950)
	recorder.RecordN(true, latency.SendServiceTime, 2*ms, 950)
	e.Times.Add(recorder)
	e.Times.Collect()
	times := e.times(snapshot.Sent{Scheduled: 1200, ShedByGate: 200})

	is := func(ns, want int64) bool { return ns >= want-want/1000 && ns <= want+want/1000 }
	e2e := times["e2e_response_time"]
	if e2e.Count != 210 || e2e.NotEnded != 790 || !is(e2e.P50Ns, 100*ms) || !is(e2e.P99Ns, 200*ms) || !is(e2e.MaxNs, 210*ms) {
		t.Errorf("the response times are %+v", e2e)
	}
	for _, bound := range []string{"p50_ns", "p99_ns", "max_ns"} {
		if !slices.Contains(e2e.AtLeast, bound) {
			t.Errorf("%s is no bound in %+v", bound, e2e)
		}
	}
	if service := times["e2e_service_time"]; service.NotEnded != 790 || service.P75Ns != 0 || !is(service.P99Ns, 200*ms) {
		t.Errorf("the service times are %+v", service)
	}
	if delay := times["send_delay"]; delay.Count != 950 || delay.NotEnded != 50 || !is(delay.P95Ns, ms) || !is(delay.P99Ns, 100*ms) || len(delay.AtLeast) != 5 {
		t.Errorf("the send delays, of which 50 still go on, are %+v", delay)
	}
	if sent := times["send_service_time"]; sent.NotEnded != 50 || !is(sent.P99Ns, 2*ms) || len(sent.AtLeast) != 5 {
		t.Errorf("the send service times are %+v", sent)
	}
	for _, none := range []string{"processed_response_time", "poll_time", "pacer_lateness", "unacked_service_time"} {
		if d, some := times[none]; some {
			t.Errorf("%s, which is no time of these records, is %+v", none, d)
		}
	}
	e.Groups = append(e.Groups, Group{})
	if both := e.times(snapshot.Sent{Scheduled: 1000})["e2e_response_time"]; both.Count != 210 || both.NotEnded != 1790 {
		t.Errorf("of two groups the response times are %+v", both)
	}
	e.Stamped = false
	if e2e, some := e.times(snapshot.Sent{Scheduled: 1000})["e2e_response_time"]; some && e2e.NotEnded > 0 {
		t.Errorf("without stamps nobody knows which did not arrive, and the response times are %+v", e2e)
	}
}

func TestFirstDeliveriesAreTheRate(t *testing.T) {
	for _, stamped := range []bool{true, false} {
		got := snapshot.Received{
			DeliveredBefore: 800, UniqueBefore: 600, DeliveredInWindow: 4000, UniqueInWindow: 3000, UniqueAfter: 5,
		}
		e := &Evidence{
			Setup: Setup{Stamped: stamped}, Window: Window{StartedNs: -500e6, EndNs: 2e9},
			Groups: []Group{{Standing: snapshot.Group{Received: got}}},
		}
		d := e.delivery(ledger.Book{}, 3000, e.Groups)
		if d.DeliveredPerS != 1500 || d.DuplicatesPerS == nil || *d.DuplicatesPerS != 500 {
			t.Errorf("stamped %t: %+v", stamped, d)
		}
		w := e.warmupDelivery(e.books(), 3000)
		if w.DeliveredPerS == nil || *w.DeliveredPerS != 1200 || w.DuplicatesPerS == nil || *w.DuplicatesPerS != 400 {
			t.Errorf("stamped %t, in the warm-up: %+v", stamped, w)
		}
		if !stamped && w.Delivered != 800 {
			t.Errorf("in the warm-up %d unstamped records were delivered, want 800", w.Delivered)
		}
	}
}

// Records of the warm-up that are delivered in the window count, so the ratio may pass 1. Each group reads all records.
func TestDeliveredToAcked(t *testing.T) {
	group := func(inWindow int64) Group {
		return Group{Standing: snapshot.Group{Received: snapshot.Received{UniqueInWindow: inWindow, UniqueBefore: 7}}}
	}
	for _, c := range []struct {
		acked  int64
		groups []Group
		want   float64 // 0 stands for none
	}{
		{1000, []Group{group(250)}, 0.25},
		{1000, []Group{group(1100)}, 1.1},
		{1000, []Group{group(1000), group(500)}, 0.75},
		{0, []Group{group(1000)}, 0},
		{1000, nil, 0},
	} {
		e := &Evidence{Window: Window{EndNs: 1e9}, Groups: c.groups}
		e.Sent.Sent[0].AckedInWindow, e.Sent.Sent[1].AckedInWindow = c.acked/10, c.acked-c.acked/10
		got := e.delivery(ledger.Book{}, 1, c.groups).DeliveredToAcked
		if c.want == 0 != (got == nil) || got != nil && *got != c.want {
			t.Errorf("%d acked, %d groups: %v, want %v", c.acked, len(c.groups), got, c.want)
		}
	}
}

func TestDrainRate(t *testing.T) {
	const ms = int64(time.Millisecond)
	for _, c := range []struct {
		name             string
		letGo, last, end int64
		undrained        bool
		after, atFinish  int64
		from             int64
		wantTime, wantPS float64
	}{
		{"ended two seconds before the window", 0, -1_000 * ms, -2_000 * ms, false, 10_000, 10_000, -2_000 * ms, 1, 10_000},
		{"10,000 records until a second after the end", 0, 11_000 * ms, 0, false, 10_000, 10_000, 10_000 * ms, 1, 10_000},
		{"held until 50 ms after the end", 10_050 * ms, 10_550 * ms, 0, false, 50_000, 50_000, 10_050 * ms, 0.5, 100_000},
		{"held until the window's midst", 5_000 * ms, 11_000 * ms, 0, false, 10_000, 10_000, 10_000 * ms, 1, 10_000},
		{"given up after 2 s, and 5 records more came", 0, 12_100 * ms, 0, true, 10_005, 10_000, 10_000 * ms, 2, 5000},
	} {
		e := &Evidence{
			Setup: Setup{Scenario: scenario.Defaults()},
			Window: Window{
				StartedNs: -5_000 * ms, EndNs: 10_000 * ms, FinishedNs: 12_000 * ms, ConsumersNs: c.letGo,
				LateAtFinish: c.atFinish, Drained: !c.undrained,
			},
			Groups: []Group{{
				Standing: snapshot.Group{Received: snapshot.Received{UniqueAfter: c.after}},
				AtStop:   []snapshot.Reached{{At: c.last}},
			}},
			Times: &latency.Collector{},
		}
		if c.end != 0 {
			e.EndNs = c.end
		}
		if l := e.lag(); l.DrainFromNs != c.from || l.DrainTimeS != c.wantTime || l.DrainPerS != c.wantPS {
			t.Errorf("%s: from %d, %v s at %v/s; want %d, %v s at %v/s", c.name, l.DrainFromNs, l.DrainTimeS, l.DrainPerS, c.from, c.wantTime, c.wantPS)
		}
	}
}
