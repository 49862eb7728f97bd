package lagcontrol_test

import (
	"math"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"kafkabench.example/kafka-bench/internal/lagcontrol"
)

type reader struct {
	t          rapid.TB
	controller lagcontrol.Controller
	o          lagcontrol.Observation
	last       lagcontrol.Decision
}

const everyReading = 100 * time.Millisecond

func latencyOf(t rapid.TB, cfg lagcontrol.LatencyConfig) (*lagcontrol.Latency, *reader) {
	t.Helper()
	l, err := lagcontrol.NewLatency(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return l, &reader{t: t, controller: l, o: lagcontrol.Observation{Share: 1}}
}

// Everything admitted is in the log and settled.
func (r *reader) read(committed, end int64) lagcontrol.Decision {
	r.o.At += everyReading
	r.o.Committed, r.o.Lag = committed, end-committed
	r.o.Admitted, r.o.Settled = end, end
	r.o.Partitions = []lagcontrol.Partition{{Topic: "t", Committed: committed, End: end}}
	r.last = r.controller.Decide(r.o)
	return r.last
}

func (r *reader) steady(perReading, backlog int64, readings int) lagcontrol.Decision {
	committed := r.o.Committed
	for range readings {
		committed += perReading
		r.read(committed, committed+backlog)
	}
	return r.last
}

func about(got int64, want float64) bool { return math.Abs(float64(got)-want) <= want/100+1 }

func TestLatencyBoundIsCapacityTimesTarget(t *testing.T) {
	for _, c := range []struct {
		perReading int64
		target     time.Duration
	}{{100, 250 * time.Millisecond}, {100, 2 * time.Second}, {7, time.Second}, {50_000, 250 * time.Millisecond}} {
		_, r := latencyOf(t, lagcontrol.LatencyConfig{Target: c.target})
		d := r.steady(c.perReading, 10*c.perReading, 30)
		if want := float64(c.perReading)*10*c.target.Seconds() + 1; !about(d.Bound, want) {
			t.Errorf("%d each 100 ms, target %v: a bound of %d, want %.0f (%s)", c.perReading, c.target, d.Bound, want, d.Reason)
		}
	}
}

func TestLatencyStartsSmall(t *testing.T) {
	_, r := latencyOf(t, lagcontrol.LatencyConfig{Target: time.Second, Start: 70})
	if d := r.read(0, 0); d.Ceiling != 70 || d.Bound != 70 || !strings.Contains(d.Reason, "to start with") {
		t.Errorf("decided %+v", d)
	}
}

// Between two commits the ceiling rises at the capacity, for one and a half intervals.
func TestLatencyExtrapolatesBetweenSteps(t *testing.T) {
	l, r := latencyOf(t, lagcontrol.LatencyConfig{Target: 250 * time.Millisecond})
	r.steady(100, 1000, 30)
	at := r.o.At
	rise := func(after time.Duration) int64 { return l.Ceiling(at+after) - l.Ceiling(at) }
	for _, c := range []struct {
		after time.Duration
		want  float64
	}{{20 * time.Millisecond, 20}, {80 * time.Millisecond, 80}, {125 * time.Millisecond, 125}, {time.Second, 125}, {time.Hour, 125}} {
		if !about(rise(c.after), c.want) {
			t.Errorf("%v after a step the ceiling is %d higher, want %.0f", c.after, rise(c.after), c.want)
		}
	}
}

func TestLatencyRunsAheadOfTheLogOnlyForThoseWhoWait(t *testing.T) {
	l, r := latencyOf(t, lagcontrol.LatencyConfig{Target: 250 * time.Millisecond})
	r.steady(100, 1000, 30)
	r.steady(100, 0, 5)
	later := r.o.At + 80*time.Millisecond
	if got, now := l.Ceiling(later), r.last.Ceiling; got != now {
		t.Errorf("the log is empty, and in 80 ms the ceiling went from %d to %d", now, got)
	}
	r.o.Refused++
	r.read(r.o.Committed+100, r.o.Committed+100)
	if rise := l.Ceiling(r.o.At+80*time.Millisecond) - r.last.Ceiling; rise < 80 {
		t.Errorf("producers wait, and in 80 ms the ceiling rose by %d", rise)
	}
}

func TestLatencyTellsSlowFromIdle(t *testing.T) {
	_, r := latencyOf(t, lagcontrol.LatencyConfig{Target: 250 * time.Millisecond})
	before := r.steady(100, 1000, 30).Bound
	r.steady(100, 0, 3)
	if idle := r.steady(10, 0, 50).Bound; idle < before {
		t.Errorf("idle consumers had a bound of %d made into %d", before, idle)
	}
	if slow := r.steady(25, 1000, 20).Bound; !about(slow, 62.5+1) {
		t.Errorf("at 250/s the bound is %d", slow)
	}
}

// The capacity is raised until a step leaves records; it is doubled if a commit interval is above
// the target.
func TestLatencyProbes(t *testing.T) {
	for _, c := range []struct {
		target time.Duration
		gain   float64
	}{{250 * time.Millisecond, 1.25}, {50 * time.Millisecond, 2}} {
		_, r := latencyOf(t, lagcontrol.LatencyConfig{Target: c.target})
		r.steady(100, 1000, 30)
		before := r.steady(100, 0, 3).Bound - 1
		end := r.o.Committed
		for range 3 {
			r.o.Refused += 50
			end += 100
			r.read(end, end)
		}
		if want := float64(before)*c.gain*c.gain*c.gain + 1; !about(r.last.Bound, want) || !strings.Contains(r.last.Reason, "trying") {
			t.Errorf("target %v: after three looks a bound of %d, want %.0f (%s)", c.target, r.last.Bound, want, r.last.Reason)
		}
		if d := r.steady(400, 1500, 20); !about(d.Bound, 4000*c.target.Seconds()+1) {
			t.Errorf("target %v: at 4000/s the bound is %d (%s)", c.target, d.Bound, d.Reason)
		}
	}
}

func TestLatencyRecoversFromAStall(t *testing.T) {
	l, r := latencyOf(t, lagcontrol.LatencyConfig{Target: 250 * time.Millisecond})
	before := r.steady(100, 300, 30).Bound
	committed := r.o.Committed
	for range 100 {
		r.o.Refused += 100
		r.read(committed, committed+300)
	}
	if ceiling := l.Ceiling(r.o.At + time.Minute); ceiling > r.o.Admitted+before-300+150 {
		t.Errorf("%d may be sent to consumers that stalled", ceiling-r.o.Admitted)
	}
	committed += 250
	r.read(committed, committed+300)
	for range 10 {
		committed += 100
		r.read(committed, committed+300)
	}
	if !about(r.last.Bound, float64(before)) {
		t.Errorf("after the stall the bound is %d, before %d", r.last.Bound, before)
	}
}

// After a silence the capacity is the rate during the silence, until two further steps confirm
// more.
func TestLatencyBelievesASilence(t *testing.T) {
	_, r := latencyOf(t, lagcontrol.LatencyConfig{Target: 250 * time.Millisecond})
	before := r.steady(100, 1000, 30).Bound
	end := r.o.Committed + 1000
	r.steady(0, 1000, 29)
	taken := r.o.Committed
	if d := r.read(taken+30, end); !about(d.Bound, 2.5+1) {
		t.Errorf("30 records in 3 s, and a bound of %d (%s)", d.Bound, d.Reason)
	}
	if d := r.read(taken+130, end+100); !about(d.Bound, 2.5+1) {
		t.Errorf("a step later the bound is %d", d.Bound)
	}
	if d := r.read(taken+230, end+200); !about(d.Bound, float64(before)) {
		t.Errorf("two steps later the bound is %d, before it was %d", d.Bound, before)
	}
}

func TestLatencyTrimsForTheSlowest(t *testing.T) {
	l, _ := latencyOf(t, lagcontrol.LatencyConfig{Target: time.Second})
	var d lagcontrol.Decision
	for i := int64(1); i <= 100; i++ {
		a := lagcontrol.Partition{Topic: "t", ID: 0, Committed: 100 * i, End: 100*i + 200}
		b := lagcontrol.Partition{Topic: "t", ID: 1, Committed: 100 * i, End: 100*i + 1000}
		d = l.Decide(lagcontrol.Observation{
			At: time.Duration(i) * everyReading, Lag: 1200, Partitions: []lagcontrol.Partition{a, b},
			Admitted: 200*i + 1200, Settled: 200*i + 1200, Share: 1,
		})
	}
	// The partitions need 0.2 s and 1 s, the mean is 0.6 s. So the mean may have 0.6 of the target
	// of 1 s.
	if !about(d.Bound, 2000*0.6+2) {
		t.Errorf("a bound of %d (%s)", d.Bound, d.Reason)
	}
}

func TestLatencyWithoutPartitions(t *testing.T) {
	l, _ := latencyOf(t, lagcontrol.LatencyConfig{Target: 250 * time.Millisecond})
	var d lagcontrol.Decision
	for i := int64(1); i <= 30; i++ {
		d = l.Decide(lagcontrol.Observation{
			At: time.Duration(i) * everyReading, Lag: 500, Committed: 100 * i,
			Admitted: 100*i + 500, Settled: 100*i + 500, Share: 1,
		})
	}
	if !about(d.Bound, 251) {
		t.Errorf("a bound of %d (%s)", d.Bound, d.Reason)
	}
}

func TestLatencyShareDividesTheBound(t *testing.T) {
	_, whole := latencyOf(t, lagcontrol.LatencyConfig{Target: 250 * time.Millisecond})
	_, third := latencyOf(t, lagcontrol.LatencyConfig{Target: 250 * time.Millisecond})
	third.o.Share = 1.0 / 3
	w, p := whole.steady(300, 1500, 30), third.steady(300, 1500, 30)
	if !about(p.Bound, float64(w.Bound)/3) {
		t.Errorf("a third of %d is %d", w.Bound, p.Bound)
	}
}

func TestLatencyKeepsItsLimit(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		most := rapid.Int64Range(1, 2000).Draw(t, "limit")
		l, r := latencyOf(t, lagcontrol.LatencyConfig{Target: time.Second, MaxLag: most})
		var committed, end int64
		for range rapid.IntRange(1, 40).Draw(t, "readings") {
			end += rapid.Int64Range(0, 1000).Draw(t, "arrived")
			committed += rapid.Int64Range(0, end-committed).Draw(t, "taken")
			r.o.Refused += rapid.Int64Range(0, 1).Draw(t, "refused")
			d := r.read(committed, end)
			later := l.Ceiling(r.o.At + time.Duration(rapid.Int64Range(0, int64(time.Second)).Draw(t, "later")))
			if allowed := r.o.Settled + max(0, most-r.o.Lag); d.Ceiling > allowed || later > allowed || d.Bound > most {
				t.Fatalf("lag %d, settled %d: ceiling %d, later %d, bound %d with a limit of %d", r.o.Lag, r.o.Settled, d.Ceiling, later, d.Bound, most)
			}
		}
	})
}

func TestLatencyForgetsPartitions(t *testing.T) {
	l, r := latencyOf(t, lagcontrol.LatencyConfig{Target: 250 * time.Millisecond})
	r.steady(100, 1000, 30)
	o := r.o
	for range 30 {
		o.At += everyReading
		o.Partitions = []lagcontrol.Partition{{Topic: "other", Committed: 5, End: 5}}
		o.Lag = 0
		r.last = l.Decide(o)
	}
	if !strings.Contains(r.last.Reason, "to start with") {
		t.Errorf("the rate of a partition that is gone is still in the bound: %s", r.last.Reason)
	}
}
