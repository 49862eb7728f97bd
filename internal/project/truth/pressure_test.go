package truth

import (
	"math"
	"regexp"
	"strconv"
	"testing"
	"time"

	"kafkabench.example/kafka-bench/internal/plan/scenario"
	"kafkabench.example/kafka-bench/internal/project/virtual"
	"kafkabench.example/kafka-bench/internal/result"
)

// pressed offers 2000/s to a consumer of 500/s, with a gate that closes above a lag of 200. Its
// signal is at most 40 ms old.
func pressed(t *testing.T, excess string, overrides ...string) scenario.Scenario {
	t.Helper()
	return smallScenario(t, excess, append([]string{
		"load.rate=2k/s", "consume.work=2ms", "consume.commit=20ms", "phases.measure=2s",
		"backpressure.controller=hysteresis", "backpressure.max_lag=200", "backpressure.resume_lag=50",
		"backpressure.poll=20ms", "backpressure.excess=" + excess,
	}, overrides...)...)
}

// The shed records equal rate × the time that the gate was closed.
func TestShed(t *testing.T) {
	t.Parallel()
	virtual.Test(t, virtual.Options{}, func(t *testing.T, c *virtual.Cluster) {
		r := run(t, config(t, c, pressed(t, "shed")))
		wantValid(t, r)
		wantBalance(t, r)
		wantHistograms(t, r)
		wantSeries(t, r)
		l, b := r.Run.Load, r.Run.Backpressure
		wantCount(t, "scheduled", l.Scheduled, 4000)
		wantCount(t, "admitted + shed", l.Admitted+l.Shed, 4000)
		wantCount(t, "shed by the gate", l.ShedByReason["gate"], l.Shed)
		wantCount(t, "unique", r.Run.Delivery.Unique, l.Admitted)
		// Each decision falls between two records of a producer that are due a millisecond apart.
		// So it may make the two times differ by up to 1 ms.
		shed, closed := time.Duration(l.Shed)*time.Second/2000, time.Duration(b.ClosedS*1e9)
		if off := (shed - closed).Abs(); off > time.Duration(b.Decisions)*time.Millisecond {
			t.Errorf("the gate was closed for %v, and what was shed takes %v to come due", closed, shed)
		}
		wantDecisions(t, r)
		if u := r.Run.Consumer.Utilisation; u == nil || *u != 1 {
			t.Errorf("the consumer's utilisation is %v; there was always more to do than it could", u)
		}
		wantCapacity(t, r, 500)
		// The gate stays open after a reading of 200 or less, and closes at the next one, 20 ms
		// later.
		if peak := r.Run.Lag.PeakRecords; peak == nil || *peak < 200 || *peak > 200+2000/50 {
			t.Errorf("the lag had its peak at %v; without a gate it is about 3000", peak)
		}
	})
}

var reasonPattern = regexp.MustCompile(`^lag (\d+) is (above|below) (\d+)$`)

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
	// run.json counts between the window's start and end. A decision at such a moment may be on
	// either side.
	if d := r.Run.Backpressure.Decisions; d < 1 || d < counted-1 || d > counted+1 {
		t.Errorf("run.json has %d decisions, events.ndjson %d", d, counted)
	}
}

// When the gate opens, all deferred records go at once, so the longest wait is the longest time
// that the gate was closed.
func TestDefer(t *testing.T) {
	t.Parallel()
	virtual.Test(t, virtual.Options{}, func(t *testing.T, c *virtual.Cluster) {
		r := run(t, config(t, c,
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
		wantBetween(t, "the longest send delay", int64(waited), closed-time.Millisecond, closed+time.Millisecond)
		if response := time.Duration(r.Run.Time["send_response_time"].MaxNs); response < waited {
			t.Errorf("the longest response time, %v, does not contain the longest send delay, %v", response, waited)
		}
		if queue := r.Run.Backpressure.DeferredPeakRecords; float64(queue) < 2000*coming.Seconds()-1 {
			t.Errorf("%d records waited at most, and 2000/s came due for %v", queue, coming)
		}
	})
}

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

// Records that do not fit the queue at the source are counted by that reason.
func TestQueueBound(t *testing.T) {
	t.Parallel()
	virtual.Test(t, virtual.Options{}, func(t *testing.T, c *virtual.Cluster) {
		r := run(t, config(t, c,
			pressed(t, "defer", "phases.drain=300ms", "backpressure.max_deferred=300")))
		wantValid(t, r)
		wantBalance(t, r)
		l := r.Run.Load
		wantCount(t, "scheduled", l.Scheduled, 4000)
		wantCount(t, "shed because the queue was full", l.ShedByReason["queue_full"], l.Shed)
		if l.Shed < 1000 {
			t.Errorf("%d records did not fit; with a consumer of 500/s it is about 3000", l.Shed)
		}
		wantCount(t, "records that waited at most", r.Run.Backpressure.DeferredPeakRecords, 300)
	})
}

func credited(t *testing.T, excess string, overrides ...string) scenario.Scenario {
	t.Helper()
	return smallScenario(t, excess, append([]string{
		"load.rate=2k/s", "consume.work=2ms", "consume.commit=20ms", "phases.measure=2s",
		"backpressure.controller=credit", "backpressure.max_lag=200", "backpressure.poll=20ms",
		"backpressure.excess=" + excess,
	}, overrides...)...)
}

func wantBound(t *testing.T, r *result.Recorded, bound int64) {
	t.Helper()
	b := r.Run.Backpressure
	if b.PeakLagToBound == nil || *b.PeakLagToBound > 1 || *b.PeakLagToBound < 0.5 {
		t.Fatalf("peak lag ÷ bound of %+v; want at most 1, and no idle gate", b)
	}
	if b.BoundRecords == nil || *b.BoundRecords != (result.Bound{Min: bound, Max: bound, Last: bound}) {
		t.Errorf("the bound was %+v, want %d all the time", b.BoundRecords, bound)
	}
	if b.Refused == 0 || b.Decisions != 0 {
		t.Errorf("%d refused, %d decisions; want a gate that refuses and never flips", b.Refused, b.Decisions)
	}
	for _, e := range r.Events {
		if e.Kind == "backpressure" {
			t.Errorf("an exhausted window is an event: %q, because %q", e.What, e.Reason)
		}
	}
}

// A bound is easy to keep by sending nothing, so the consumers must be fully used and the gate
// never blind.
func wantCapacity(t *testing.T, r *result.Recorded, perSecond float64) {
	t.Helper()
	if got := r.Run.Delivery.DeliveredPerS; got != perSecond {
		t.Errorf("%v/s were delivered to consumers that can take %v/s", got, perSecond)
	}
	if blind := r.Run.Backpressure.BlindS; blind != 0 {
		t.Errorf("the gate was blind for %v s", blind)
	}
}

func TestCredit(t *testing.T) {
	t.Parallel()
	virtual.Test(t, virtual.Options{}, func(t *testing.T, c *virtual.Cluster) {
		r := run(t, config(t, c, credited(t, "shed")))
		wantValid(t, r)
		wantBalance(t, r)
		wantHistograms(t, r)
		wantSeries(t, r)
		wantBound(t, r, 200)
		wantCapacity(t, r, 500)
		wantCount(t, "scheduled", r.Run.Load.Scheduled, 4000)
		wantCount(t, "shed by the gate", r.Run.Load.ShedByReason["gate"], r.Run.Load.Shed)
		if shed := r.Run.Backpressure.Shed; shed == nil || *shed != (result.ShedCounts{ByGate: r.Run.Load.Shed}) {
			t.Errorf("%+v was shed, %d in all", shed, r.Run.Load.Shed)
		}
		for _, iv := range r.Intervals {
			if iv.StartNs >= 0 && (iv.BoundRecords == nil || *iv.BoundRecords != 200) {
				t.Fatalf("the interval at %d has the bound %v", iv.StartNs, iv.BoundRecords)
			}
		}
	})
}

// One in ten refused records waits and is sent.
func TestDegrade(t *testing.T) {
	t.Parallel()
	virtual.Test(t, virtual.Options{}, func(t *testing.T, c *virtual.Cluster) {
		r := run(t, config(t, c, credited(t, "degrade", "backpressure.keep=10")))
		wantValid(t, r)
		wantBalance(t, r)
		l := r.Run.Load
		wantCount(t, "scheduled", l.Scheduled, 4000)
		wantCount(t, "shed by degrading", l.ShedByReason["degrade"], l.Shed)
		wantCount(t, "unique", r.Run.Delivery.Unique, l.Admitted)
		wantCount(t, "deferred, in the end", l.Deferred, 0)
		// Kept records go first: of 500/s that can go and r refused, r/10 are kept, and 2000 - r +
		// r/10 = 500. So r is 1667/s, and nine in ten of those are shed.
		if math.Abs(float64(l.Shed)-3000) > 200 {
			t.Errorf("%d records were shed, want about 3000", l.Shed)
		}
		if queue := r.Run.Backpressure.DeferredPeakRecords; queue < 1 || queue > 200 {
			t.Errorf("%d records waited at most; what is kept can all go soon", queue)
		}
	})
}

// With credits, settling takes at most the time to process the records in the log.
func TestSettling(t *testing.T) {
	t.Parallel()
	virtual.Test(t, virtual.Options{}, func(t *testing.T, c *virtual.Cluster) {
		const bound, before = 200, 500
		r := run(t, config(t, c, credited(t, "shed", "consume.changes=[{at: 3s, work: 1ms}]", "phases.measure=7s")))
		wantValid(t, r)
		wantBalance(t, r)
		if n := len(r.Run.Lag.Changes); n != 1 {
			t.Fatalf("%d changes", n)
		}
		if s := r.Run.Lag.Changes[0].SettlingS; s == nil || *s > float64(bound)/before {
			t.Errorf("settled after %v s, want %v s at most", s, float64(bound)/before)
		}
		// Three seconds at 500/s and four at 1000/s, except for a record at each of the two ends.
		if got := r.Run.Delivery.DeliveredPerS * 7; got < 5498 || got > 5502 {
			t.Errorf("%v records were delivered in 7 s, want 5500", got)
		}
	})
}
