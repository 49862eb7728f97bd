package lagcontrol_test

import (
	"bytes"
	"errors"
	"log/slog"
	"math"
	"strings"
	"testing"
	"time"

	"kafkabench.example/kafka-bench/internal/lagcontrol"
)

type ramp struct {
	ceiling
	from time.Duration
}

func (r *ramp) Decide(o lagcontrol.Observation) lagcontrol.Decision {
	r.from = o.At
	return r.ceiling.Decide(o)
}

func (r *ramp) Ceiling(at time.Duration) int64 { return r.at + (at - r.from).Milliseconds() }

func TestWhatAControllerIsTold(t *testing.T) {
	at, c := &clock{at: time.Second}, &ceiling{at: 70}
	gate := newGate(t, lagcontrol.Config{Controller: c, Now: at.now})
	gate.Admit(50)
	gate.Done(20)
	mark := gate.Mark()
	at.at += 30 * time.Millisecond
	gate.Done(10)
	report := func(p ...lagcontrol.Partition) { gate.Report(mark, lagcontrol.Reading{Partitions: p}) }

	report(
		lagcontrol.Partition{Topic: "a", ID: 0, Committed: 100, End: 140},
		lagcontrol.Partition{Topic: "a", ID: 1, Committed: 200, End: 190}, // a new leader that is behind
	)
	o := c.saw
	if o.At != at.at || o.Age != 30*time.Millisecond || o.Lag != 40 || o.Settled != 20 || o.Admitted != 50 || o.Share != 1 || !o.Open {
		t.Errorf("%+v", o)
	}
	gate.Admit(25)
	before := o.Committed
	for _, step := range []struct {
		committed [3]int64
		want      int64
	}{
		{[3]int64{110, 205, 7000}, 15}, // a new partition is no progress
		{[3]int64{90, 206, 7001}, 17},  // an offset that is set back is no progress
		{[3]int64{95, 206, 7001}, 22},
	} {
		report(
			lagcontrol.Partition{Topic: "a", ID: 0, Committed: step.committed[0]},
			lagcontrol.Partition{Topic: "a", ID: 1, Committed: step.committed[1]},
			lagcontrol.Partition{Topic: "b", ID: 0, Committed: step.committed[2]},
		)
		if got := c.saw.Committed - before; got != step.want {
			t.Errorf("at %v %d were committed, want %d", step.committed, got, step.want)
		}
	}
	if c.saw.Refused != 5 || c.saw.Open || c.saw.Lag != 0 {
		t.Errorf("%+v", c.saw)
	}
	if s := gate.Stats(); s.Outstanding != 0+70-20 || s.Reports != 4 || s.MaxAge != 30*time.Millisecond {
		t.Errorf("%+v", s)
	}
}

func TestAReadingWithoutPartitions(t *testing.T) {
	c := &ceiling{}
	gate := newGate(t, lagcontrol.Config{Controller: c})
	for _, step := range []struct{ lag, committed, wantLag, want int64 }{
		{10, 500, 10, 0}, {-3, 510, 0, 10}, {7, 505, 7, 10}, {7, 506, 7, 11},
	} {
		report(gate, lagcontrol.Reading{Lag: step.lag, Committed: step.committed})
		if c.saw.Lag != step.wantLag || c.saw.Committed != step.want {
			t.Errorf("%+v: told lag %d, committed %d", step, c.saw.Lag, c.saw.Committed)
		}
	}
}

func TestAReaderThatWasOvertakenIsLeftAside(t *testing.T) {
	c := &ceiling{at: 5}
	gate := newGate(t, lagcontrol.Config{Controller: c})
	slow := gate.Mark()
	report(gate, lagcontrol.Reading{Lag: 8})
	if gate.Report(slow, lagcontrol.Reading{Lag: 1}); c.saw.Lag != 8 || gate.Stats().Reports != 1 {
		t.Errorf("told lag %d in %d reports", c.saw.Lag, gate.Stats().Reports)
	}
}

func TestUnsureIsSettledAfterTheDoubt(t *testing.T) {
	at, c := &clock{}, &ceiling{at: math.MaxInt64}
	gate := newGate(t, lagcontrol.Config{Controller: c, Now: at.now, Doubt: time.Minute})
	settled := func() int64 {
		report(gate, lagcontrol.Reading{})
		return c.saw.Settled
	}
	gate.Admit(10)
	gate.Unsure(4)
	at.at = 59 * time.Second
	early := gate.Mark()
	if got := settled(); got != 0 {
		t.Errorf("%d were settled in doubt", got)
	}
	at.at = 61 * time.Second
	if gate.Report(early, lagcontrol.Reading{}); c.saw.Settled != 0 {
		t.Errorf("a mark from the time of doubt settled %d", c.saw.Settled)
	}
	if got := settled(); got != 4 {
		t.Errorf("%d were settled after it", got)
	}

	for range 100_000 {
		gate.Admit(1)
		gate.Unsure(1)
		at.at += time.Millisecond
	}
	if got := gate.InDoubt(); got > 200 {
		t.Errorf("%d entries", got)
	}
	at.at += 2 * time.Minute
	if got := settled(); got != 100_004 {
		t.Errorf("%d were settled in the end", got)
	}
}

func TestWithAShareOnlyOwnRecordsCount(t *testing.T) {
	c := &limited{ceiling{at: 1000}}
	gate := newGate(t, lagcontrol.Config{Controller: c, Share: lagcontrol.Fixed(0.25), Inherit: lagcontrol.NoInherit})
	read := func(committed int64) {
		report(gate, lagcontrol.Reading{Partitions: []lagcontrol.Partition{{Topic: "t", Committed: committed, End: 900}}})
	}
	read(0)
	gate.Admit(10)
	for _, offset := range []int64{100, 101, 500} {
		gate.Acked("t", 0, offset)
		gate.Done(1)
	}
	for _, step := range []struct{ committed, lag, own int64 }{{50, 3, 0}, {101, 2, 1}, {900, 0, 3}} {
		read(step.committed)
		if c.saw.Lag != step.lag || c.saw.Committed != step.own || c.saw.Settled != 3 || c.saw.Share != 0.25 {
			t.Errorf("committed %d: told %+v", step.committed, c.saw)
		}
	}
	report(gate, lagcontrol.Reading{Lag: 5})
	if s := gate.Stats(); s.Reports != 4 || s.Missed != 1 {
		t.Errorf("%+v", s)
	}
}

func TestAPacersCeilingRisesBetweenReadings(t *testing.T) {
	at, c := &clock{}, &ramp{ceiling: ceiling{at: 10}}
	gate := newGate(t, lagcontrol.Config{Controller: c, Now: at.now})
	gate.Advance()
	report(gate, lagcontrol.Reading{})
	at.at = 5 * time.Millisecond
	gate.Advance()
	if got := gate.Admit(100); got != 15 {
		t.Errorf("5 ms later it admitted %d", got)
	}
	c.at = 0 // the controller's answer changes, but counts only at the next reading
	gate.Advance()
	if got := gate.Stats().Ceiling; got != 15 {
		t.Errorf("ceiling %d", got)
	}
}

func TestChangesOfOnAndOff(t *testing.T) {
	at, c := &clock{}, &ceiling{at: lagcontrol.Unlimited}
	var told []lagcontrol.ChangeKind
	gate := newGate(t, lagcontrol.Config{Controller: c, Now: at.now, OnChange: func(c lagcontrol.Change) { told = append(told, c.Kind) }})
	step := func(ceiling, lag int64) *lagcontrol.Change {
		c.at = ceiling
		mark := gate.Mark()
		at.at += time.Second
		return gate.Report(mark, lagcontrol.Reading{Lag: lag})
	}
	if change := step(lagcontrol.Unlimited, 1); change != nil {
		t.Errorf("a gate that stays open changed: %+v", change)
	}
	want := lagcontrol.Change{
		At: 2 * time.Second, Kind: lagcontrol.Closed, Lag: 42,
		Bound: lagcontrol.Unlimited, Age: time.Second, Reason: "told so",
	}
	if change := step(0, 42); change == nil || *change != want {
		t.Errorf("closing: %+v", change)
	}
	if change := step(0, 43); change != nil {
		t.Errorf("a gate that stays closed changed: %+v", change)
	}
	if change := step(lagcontrol.Unlimited, 3); change == nil || change.Kind != lagcontrol.Opened || !change.Open {
		t.Errorf("opening: %+v", change)
	}
	if s := gate.Stats(); s.Changes != 2 || s.Reports != 4 || len(told) != 2 {
		t.Errorf("told %v; stats %+v", told, s)
	}
}

// A change by more than a tenth is reported, at most once a second.
func TestChangesOfTheBound(t *testing.T) {
	at, c := &clock{}, &ceiling{}
	gate := newGate(t, lagcontrol.Config{Controller: c, Now: at.now})
	for i, step := range []struct {
		at    time.Duration
		bound int64
		told  bool
	}{
		{0, 1000, false},
		{2 * time.Second, 1100, false},
		{2 * time.Second, 900, false},
		{3 * time.Second, 1101, true},
		{3*time.Second + 900*time.Millisecond, 2000, false},
		{4 * time.Second, 2000, true},
		{9 * time.Second, 1801, false},
		{9 * time.Second, 1799, true},
		{11 * time.Second, lagcontrol.Unlimited, true},
		{12 * time.Second, lagcontrol.Unlimited, false},
		{13 * time.Second, 10, true},
	} {
		at.at, c.bound, c.at = step.at, step.bound, step.bound
		if step.bound != lagcontrol.Unlimited && i%2 == 0 {
			c.at = 0
		}
		change := report(gate, lagcontrol.Reading{})
		if told := change != nil; told != step.told {
			t.Errorf("step %d: %+v", i, change)
		} else if told && (change.Kind != lagcontrol.Bounded || change.Bound != step.bound) {
			t.Errorf("step %d: %+v", i, change)
		}
	}
}

func TestBlindAfterTheGraceTime(t *testing.T) {
	for _, open := range []bool{false, true} {
		at, c := &clock{}, &ceiling{at: 10}
		var log bytes.Buffer
		gate := newGate(t, lagcontrol.Config{
			Controller: c, Now: at.now, FailOpen: open, Logger: slog.New(slog.NewTextHandler(&log, nil)),
		})
		report(gate, lagcontrol.Reading{Lag: 3})
		away := errors.New("no broker")
		at.at = 5 * time.Second
		if change := gate.Missed(away); change != nil || gate.Admit(1) != 1 {
			t.Errorf("within the grace time: %+v", change)
		}
		at.at = 5*time.Second + 1
		change := gate.Missed(nil)
		if change == nil || change.Kind != lagcontrol.Blind || change.Open != open || !strings.Contains(change.Reason, "no broker") {
			t.Fatalf("fail open %v: %+v", open, change)
		}
		if got := gate.Admit(100) > 0; got != open {
			t.Errorf("fail open %v: blind, it admitted %v", open, got)
		}
		at.at = 7 * time.Second
		if gate.Missed(away) != nil {
			t.Error("it went blind twice")
		}
		c.at = 300
		change = report(gate, lagcontrol.Reading{Lag: 4})
		if change == nil || change.Kind != lagcontrol.Seeing || !change.Open || change.Lag != 4 {
			t.Errorf("fail open %v: %+v", open, change)
		}
		s := gate.Stats()
		if s.Blind != 2*time.Second-1 || s.Missed != 2 || s.BlindNow || s.Ceiling != 300 {
			t.Errorf("fail open %v: %+v", open, s)
		}
		if got := log.String(); !strings.Contains(got, "level=WARN msg=\"backpressure blind\"") || !strings.Contains(got, "level=INFO msg=\"backpressure seeing\"") ||
			!strings.Contains(got, "lag_records=4") {
			t.Errorf("log: %s", got)
		}
	}
}

func TestBlindnessIsNotTheControllersDoing(t *testing.T) {
	at := &clock{}
	gate := newGate(t, lagcontrol.Config{Controller: hysteresis(t, 100, 10), Now: at.now})
	report(gate, lagcontrol.Reading{Lag: 50})
	at.at = time.Minute
	gate.Missed(nil)
	if gate.Open() {
		t.Fatal("it is not blind")
	}
	if report(gate, lagcontrol.Reading{Lag: 50}); !gate.Open() {
		t.Error("between the thresholds it stayed closed, and it was open before")
	}
}
