package truth

import (
	"math"
	"regexp"
	"strconv"
	"testing"
	"time"

	"kafka-bench/internal/cluster"
	"kafka-bench/internal/result"
	"kafka-bench/internal/scenario"
)

// pressed offers 2000/s to a consumer that can take 500/s, with a gate that
// closes above a lag of 200. Its signal is at most 40 ms old.
func pressed(t *testing.T, excess string, overrides ...string) scenario.Scenario {
	t.Helper()
	return smallScenario(t, excess, append([]string{
		"load.rate=2k/s", "consume.work=2ms", "consume.commit=20ms", "phases.measure=2s",
		"backpressure.controller=hysteresis", "backpressure.max_lag=200", "backpressure.resume_lag=50",
		"backpressure.poll=20ms", "backpressure.excess=" + excess,
	}, overrides...)...)
}

// TestShed wants what a closed gate keeps out to be counted to the record, and
// to be what arithmetic says: rate × the time that the gate was closed.
func TestShed(t *testing.T) {
	t.Parallel()
	r := run(t, config(t, embedded(t, cluster.EmbeddedOptions{}), pressed(t, "shed")))
	wantValid(t, r)
	wantBalance(t, r)
	wantHistograms(t, r)
	wantSeries(t, r)
	l, b := r.Run.Load, r.Run.Backpressure
	wantCount(t, "scheduled", l.Scheduled, 4000)
	wantCount(t, "admitted + shed", l.Admitted+l.Shed, 4000)
	wantCount(t, "shed by the gate", l.ShedByReason["gate"], l.Shed)
	wantCount(t, "unique", r.Run.Delivery.Unique, l.Admitted)
	if l.Shed < 1000 {
		t.Errorf("%d records were shed; with a consumer of 500/s it is about 3000", l.Shed)
	}
	if shedS := float64(l.Shed) / 2000; math.Abs(shedS-b.ClosedS) > 0.15 {
		t.Errorf("the gate was closed for %.3f s, and what was shed takes %.3f s to come due", b.ClosedS, shedS)
	}
	wantDecisions(t, r)
	if u := r.Run.Consumer.Utilisation; u == nil || *u < 0.5 || *u > 1.01 {
		t.Errorf("the consumer's utilisation is %v; there was always more to do than it could", u)
	}
	if peak := r.Run.Lag.PeakRecords; peak == nil || *peak < 200 || *peak > 1500 {
		t.Errorf("the lag had its peak at %v; without a gate it is about 3000", peak)
	}
}

var reasonPattern = regexp.MustCompile(`^lag (\d+) is (above|below) (\d+)$`)

// wantDecisions fails the test unless each change of the gate is an event with
// its reason, closing and opening in turn, and as many as run.json counts.
func wantDecisions(t *testing.T, r *result.Recorded) {
	t.Helper()
	counted, last := int64(0), "gate opened" // a new gate is open
	for _, e := range r.Events {
		if e.Kind != "backpressure" {
			continue
		}
		reason := reasonPattern.FindStringSubmatch(e.Reason)
		if e.What == last || reason == nil {
			t.Fatalf("%q follows on %q, because %q", e.What, last, e.Reason)
		}
		last = e.What
		lag, err := strconv.Atoi(reason[1])
		closes := e.What == "gate closed" && reason[2] == "above" && lag > 200 && reason[3] == "200"
		opens := e.What == "gate opened" && reason[2] == "below" && lag < 50 && reason[3] == "50"
		if err != nil || !closes && !opens {
			t.Errorf("%q, because %q", e.What, e.Reason)
		}
		if e.AtNs >= 0 && e.AtNs < r.Run.Run.Phases[1].EndNs {
			counted++
		}
	}
	// The one that falls on the boundary may be on either side of the reading.
	if d := r.Run.Backpressure.Decisions; d < 1 || d < counted-1 || d > counted+1 {
		t.Errorf("run.json has %d decisions, events.ndjson %d", d, counted)
	}
}

// TestDefer wants what a closed gate keeps waiting to wait in the times as well:
// nothing is forgiven. When the gate opens, all that waits goes at once, so the
// longest wait is the longest time that the gate was closed.
func TestDefer(t *testing.T) {
	t.Parallel()
	r := run(t, config(t, embedded(t, cluster.EmbeddedOptions{}),
		pressed(t, "defer", "consume.work=1ms", "phases.measure=1500ms")))
	wantValid(t, r)
	wantBalance(t, r)
	wantHistograms(t, r)
	wantSeries(t, r)
	wantDecisions(t, r)
	wantCount(t, "scheduled", r.Run.Load.Scheduled, 3000)
	wantCount(t, "shed", r.Run.Load.Shed, 0)
	wantCount(t, "deferred, in the end", r.Run.Load.Deferred, 0)
	wantCount(t, "unique", r.Run.Delivery.Unique, 3000)
	from, to := longestClosed(r)
	closed, coming := time.Duration(to-from), time.Duration(min(to, r.Run.Run.Phases[1].EndNs)-from)
	if closed < 200*time.Millisecond {
		t.Fatalf("the gate was closed for %v at most: the test proves nothing", closed)
	}
	waited := time.Duration(r.Run.Time["send_delay"].MaxNs)
	if off := waited - closed; off < -20*time.Millisecond || off > 100*time.Millisecond {
		t.Errorf("the longest send delay is %v, and the gate was closed for %v", waited, closed)
	}
	if response := time.Duration(r.Run.Time["send_response_time"].MaxNs); response < waited {
		t.Errorf("the longest response time, %v, does not contain the longest send delay, %v", response, waited)
	}
	if queue := r.Run.Backpressure.DeferredPeakRecords; float64(queue) < 0.95*2000*coming.Seconds() {
		t.Errorf("%d records waited at most, and 2000/s came due for %v", queue, coming)
	}
}

// longestClosed is the longest stretch of the time axis in which a measured
// record can have found the gate closed.
func longestClosed(r *result.Recorded) (from, to int64) {
	var since int64
	for _, e := range r.Events {
		switch e.What {
		case "gate closed":
			since = max(0, e.AtNs)
		case "gate opened":
			if since < r.Run.Run.Phases[1].EndNs && e.AtNs-since > to-from {
				from, to = since, e.AtNs
			}
		}
	}
	return from, to
}

// TestQueueBound wants the queue at the source to have its bound, and what does
// not fit to be counted by that reason.
func TestQueueBound(t *testing.T) {
	t.Parallel()
	r := run(t, config(t, embedded(t, cluster.EmbeddedOptions{}),
		pressed(t, "defer", "phases.drain=300ms", "backpressure.max_deferred=300")))
	wantValid(t, r)
	wantBalance(t, r)
	l := r.Run.Load
	wantCount(t, "scheduled", l.Scheduled, 4000)
	wantCount(t, "shed because the queue was full", l.ShedByReason["queue_full"], l.Shed)
	if l.Shed < 1000 {
		t.Errorf("%d records did not fit; with a consumer of 500/s it is about 3000", l.Shed)
	}
	if peak := r.Run.Backpressure.DeferredPeakRecords; peak > 300 || peak < 200 {
		t.Errorf("%d records waited at most; the bound is 300", peak)
	}
}
