package lagcontrol_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"kafkabench.example/kafka-bench/internal/lagcontrol"
	"kafkabench.example/kafka-bench/internal/load/controller"
)

func limiters(t *testing.T) map[string]lagcontrol.Controller {
	t.Helper()
	credit, err1 := lagcontrol.NewCredit(1000)
	latency, err2 := lagcontrol.NewLatency(lagcontrol.LatencyConfig{Target: 250 * time.Millisecond})
	aimd, err3 := controller.NewAIMD(controller.AIMDConfig{Target: 250 * time.Millisecond})
	gradient, err4 := controller.NewGradient(controller.GradientConfig{})
	if err := errors.Join(err1, err2, err3, err4); err != nil {
		t.Fatal(err)
	}
	return map[string]lagcontrol.Controller{"credit": credit, "latency": latency, "aimd": aimd, "gradient": gradient, "of another": &limited{ceiling{at: math.MaxInt64}}}
}

func hysteresis(t *testing.T, maxLag, resume int64) *controller.Hysteresis {
	t.Helper()
	h, err := controller.NewHysteresis(maxLag, resume)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

func topic(name string, committed, end int64) lagcontrol.Reading {
	return lagcontrol.Reading{Partitions: []lagcontrol.Partition{{Topic: name, Committed: committed, End: end}}}
}

func TestABoundIsClosedUntilTheFirstReading(t *testing.T) {
	for name, c := range limiters(t) {
		gate := newGate(t, lagcontrol.Config{Controller: c})
		if s := gate.Stats(); gate.TryAcquire(1) || s.Open || s.Bound != 0 || s.Share != 1 {
			t.Errorf("%s: before the first reading %+v", name, s)
		}
		if report(gate, topic("t", 0, 0)); !gate.TryAcquire(1) {
			t.Errorf("%s: closed after it", name)
		}
	}
	if gate := newGate(t, lagcontrol.Config{Controller: hysteresis(t, 100, 10)}); !gate.TryAcquire(1) {
		t.Error("on/off control has no bound to keep, and is closed")
	}
}

func TestNewRefusesWhatCanNeverWork(t *testing.T) {
	two, err := lagcontrol.NewCredit(2)
	if err != nil {
		t.Fatal(err)
	}
	for says, cfg := range map[string]lagcontrol.Config{
		"no bound to share":        {Controller: hysteresis(t, 100, 10), Share: lagcontrol.Fixed(0.5)},
		"lagcontrol.unbounded has": {Share: lagcontrol.Fixed(0.5)},
		"not one whole record":     {Controller: two, Share: lagcontrol.Fixed(1.0 / 3)},
	} {
		if _, err := lagcontrol.New(cfg); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("want %q: %v", says, err)
		}
	}
}

func TestWhatIsToldTwiceIsLeftAside(t *testing.T) {
	var told []lagcontrol.ChangeKind
	var log bytes.Buffer
	gate := newGate(t, lagcontrol.Config{
		Controller: &window{bound: 10}, Logger: slog.New(slog.NewTextHandler(&log, nil)),
		OnChange: func(c lagcontrol.Change) { told = append(told, c.Kind) },
	})
	report(gate, lagcontrol.Reading{})
	var end int64
	for range 5 {
		n := gate.Admit(10)
		gate.Done(n)
		gate.Done(n)
		gate.Done(-3)
		end += n
		if report(gate, lagcontrol.Reading{Lag: end}); gate.TryAcquire(1) {
			t.Fatalf("%d in the log of a bound of 10, and one more", end)
		}
	}
	if s := gate.Stats(); s.Admitted != 10 || s.Settled != 10 {
		t.Errorf("%+v", s)
	}
	if !slices.Equal(told, []lagcontrol.ChangeKind{lagcontrol.Misused}) || !strings.Contains(log.String(), "level=WARN msg=\"backpressure misused\"") {
		t.Errorf("told %v; log %s", told, log.String())
	}
}

func TestAnEmptyReadingIsAReading(t *testing.T) {
	gate := newGate(t, lagcontrol.Config{Controller: &window{bound: 10}, Share: lagcontrol.Fixed(0.5)})
	if report(gate, lagcontrol.Reading{}); gate.Stats().Missed != 1 || gate.Open() {
		t.Error("a reading that does not tell of partitions was used")
	}
	if report(gate, lagcontrol.Reading{Partitions: []lagcontrol.Partition{}}); gate.Admit(10) != 5 {
		t.Errorf("%+v", gate.Stats())
	}
}

// movable is a window whose bound may change.
type movable struct{ *window }

func (movable) Limit() int64 { return lagcontrol.Unlimited }

// A call that can never succeed does not block those behind it.
func TestAnAskAboveTheBoundInForceFailsWhenNothingIsOutstanding(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		gate := newGate(t, lagcontrol.Config{Controller: movable{&window{bound: 50}}})
		report(gate, topic("t", 0, 0))
		if err := gate.Acquire(t.Context(), 60); !errors.Is(err, lagcontrol.ErrNever) || !strings.Contains(err.Error(), "50 now") {
			t.Errorf("60 of 50: %v", err)
		}
		if !gate.TryAcquire(10) {
			t.Fatal("no room for 10")
		}
		first, second := make(chan error, 1), make(chan error, 1)
		go func() { first <- gate.Acquire(t.Context(), 60) }()
		synctest.Wait()
		go func() { second <- gate.Acquire(t.Context(), 50) }()
		synctest.Wait()
		if len(first) > 0 {
			t.Error("it did not wait for what is outstanding")
		}
		gate.Done(10)
		report(gate, topic("t", 0, 0))
		if err := <-first; !errors.Is(err, lagcontrol.ErrNever) {
			t.Errorf("the first: %v", err)
		}
		if err := <-second; err != nil {
			t.Errorf("the second: %v", err)
		}
	})
}

func TestTheGateLooksUpForItself(t *testing.T) {
	for _, open := range []bool{false, true} {
		for _, read := range []bool{false, true} {
			synctest.Test(t, func(t *testing.T) {
				var told []string
				gate := newGate(t, lagcontrol.Config{
					Controller: &window{bound: 10}, FailOpen: open, Grace: time.Second,
					OnChange: func(c lagcontrol.Change) { told = append(told, fmt.Sprint(c.Kind, " ", c.Reason)) },
				})
				if read {
					time.Sleep(time.Hour)
					report(gate, lagcontrol.Reading{Lag: 10})
				}
				ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
				defer cancel()
				begin := time.Now()
				err := gate.Acquire(ctx, 1)
				took := time.Since(begin).Round(10 * time.Millisecond)
				synctest.Wait() // also until OnChange was called
				if open && (err != nil || took != time.Second) || !open && !errors.Is(err, context.DeadlineExceeded) {
					t.Errorf("fail open %v, read %v: after %v %v", open, read, took, err)
				}
				if len(told) != 1 || strings.Contains(told[0], "never read") == read || !strings.HasPrefix(told[0], "blind") {
					t.Errorf("fail open %v, read %v: told %q", open, read, told)
				}
				if bound := gate.Stats().Bound; open != (bound == lagcontrol.Unlimited) {
					t.Errorf("fail open %v: blind, the bound is %d", open, bound)
				}
			})
		}
	}
}

func TestTheGateDoesNotLookUpWhileItIsRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		gate := newGate(t, lagcontrol.Config{Controller: &window{bound: 10}, Grace: time.Second})
		for range 50 {
			report(gate, lagcontrol.Reading{Lag: 10})
			gate.TryAcquire(1)
			time.Sleep(500 * time.Millisecond)
			if gate.Stats().BlindNow {
				t.Fatal("it is blind")
			}
		}
		time.Sleep(time.Second)
		if !gate.Stats().BlindNow {
			t.Error("it did not see that the readings ended")
		}
	})
}

// A topic that is deleted and created again has offsets from 0.
func TestALogThatBeginsAgain(t *testing.T) {
	for _, doubtful := range []int64{0, 3} {
		logThatBeginsAgain(t, doubtful)
	}
}

func logThatBeginsAgain(t *testing.T, doubtful int64) {
	const bound = 10
	var now time.Duration
	gate := newGate(t, lagcontrol.Config{
		Controller: &window{bound: bound}, Share: lagcontrol.Fixed(1), Doubt: time.Nanosecond,
		Now: func() time.Duration { now += time.Microsecond; return now },
	})
	report(gate, topic("a", 1_000_000, 1_000_000))
	gate.Unsure(gate.Admit(doubtful))
	report(gate, topic("a", 1_000_000, 1_000_000+doubtful))
	var end, committed int64
	send := func(n int64) {
		for range gate.Admit(n) {
			gate.Acked("a", 0, end)
			end++
			gate.Done(1)
		}
	}
	for range 20 {
		send(2)
		mark, read := gate.Mark(), topic("a", committed, end)
		send(2) // while the reading is under way
		gate.Report(mark, read)
		if send(bound); end-committed > bound {
			t.Fatalf("%d in the log", end-committed)
		}
	}
	committed = end
	for range 3 {
		report(gate, topic("a", committed, end))
	}
	if got := gate.Admit(100); got != bound {
		t.Errorf("with all committed %d are admitted: %+v", got, gate.Stats())
	}
}

// With two concurrent readings, a log may seem to begin again although it did not.
func TestAReadingThatWasOvertakenIsNoLogThatBeginsAgain(t *testing.T) {
	gate := newGate(t, lagcontrol.Config{Controller: &window{bound: 10}, Share: lagcontrol.Fixed(1)})
	report(gate, topic("a", 0, 0))
	for i := range gate.Admit(10) {
		gate.Acked("a", 0, 50+i)
		gate.Done(1)
	}
	first, second := gate.Mark(), gate.Mark()
	gate.Report(first, topic("a", 50, 60))
	gate.Report(second, topic("a", 30, 45))
	if got := gate.Stats().Lag; got != 10 {
		t.Errorf("of 10 records that are not committed %d are known", got)
	}
}

func TestOwnRecordsThatNoReadingHolds(t *testing.T) {
	for name, way := range map[string]func(*lagcontrol.Gate){
		"acknowledged": func(g *lagcontrol.Gate) {
			for i := range g.Admit(10) {
				g.Acked("b", 0, i)
				g.Done(1)
			}
		},
		"in doubt": func(g *lagcontrol.Gate) { g.Unsure(g.Admit(10)) },
	} {
		at := &clock{}
		var told []lagcontrol.Change
		gate := newGate(t, lagcontrol.Config{
			Controller: &window{bound: 10}, Share: lagcontrol.Fixed(1), Doubt: time.Second, Now: at.now,
			OnChange: func(c lagcontrol.Change) { told = append(told, c) },
		})
		both := topic("a", 0, 0)
		both.Partitions = append(both.Partitions, lagcontrol.Partition{Topic: "b", End: 10})
		report(gate, both)
		way(gate)
		at.at += 2 * time.Second
		report(gate, both)
		for i := range 10 {
			if at.at += 100 * time.Millisecond; gate.TryAcquire(1) {
				t.Errorf("%s: after %d readings without it", name, i)
			}
			report(gate, topic("a", 0, 0))
		}
		report(gate, topic("a", 0, 0))
		if !gate.TryAcquire(1) {
			t.Errorf("%s: it is held for ever: %+v", name, gate.Stats())
		}
		if name == "acknowledged" && (len(told) != 1 || told[0].Kind != lagcontrol.Unread || !strings.Contains(told[0].Reason, "10 records of this gate") || !strings.Contains(told[0].Reason, "b/0")) {
			t.Errorf("told %+v", told)
		}
		// The partition comes back: all that it holds counts, from any producer.
		gate.Acked("b", 0, 3)
		report(gate, both)
		if name == "acknowledged" && gate.Stats().Lag != 10 {
			t.Errorf("after it came back the lag is %d", gate.Stats().Lag)
		}
	}
}

func TestConsumersThatStandStillAreTold(t *testing.T) {
	at := &clock{at: time.Hour}
	var told []string
	gate := newGate(t, lagcontrol.Config{
		Controller: &window{bound: 100}, Now: at.now,
		OnChange: func(c lagcontrol.Change) { told = append(told, fmt.Sprint(c.Kind, ": ", c.Reason)) },
	})
	run := func(seconds int, committed int64) {
		for range seconds {
			at.at += time.Second
			gate.TryAcquire(100)
			report(gate, lagcontrol.Reading{Lag: 100 - committed, Committed: committed})
		}
	}
	run(5, 0)
	if told != nil {
		t.Errorf("within the grace time %q", told)
	}
	run(60, 0)
	if len(told) != 1 || !strings.HasPrefix(told[0], "stalled: nothing was committed for") || !strings.Contains(told[0], "the bound of 100 is used up: lag 100") {
		t.Errorf("told %q", told)
	}
	run(2, 1)
	if len(told) != 2 || !strings.HasPrefix(told[1], "moving: the consumers commit again after") {
		t.Errorf("told %q", told)
	}
	idle := newGate(t, lagcontrol.Config{Controller: &window{bound: 100}, Now: at.now})
	for range 60 {
		at.at += time.Second
		if c := report(idle, lagcontrol.Reading{Lag: 100}); c != nil {
			t.Fatalf("%+v", c)
		}
	}
	idle.TryAcquire(1)
	if c := report(idle, lagcontrol.Reading{Lag: 100}); c != nil {
		t.Errorf("at its first refusal: %+v", c)
	}
}

func TestTheLogTellsNoLagThatWasNotRead(t *testing.T) {
	at, log := &clock{}, new(bytes.Buffer)
	gate := newGate(t, lagcontrol.Config{Controller: &window{bound: 10}, Now: at.now, Logger: slog.New(slog.NewTextHandler(log, nil))})
	at.at = 6 * time.Second
	change := gate.Missed(nil)
	if change == nil || !strings.Contains(change.Reason, "never read, for 6s") || change.Age != 6*time.Second || strings.Contains(log.String(), "lag_records") {
		t.Errorf("%+v; %s", change, log)
	}
	if change = report(gate, lagcontrol.Reading{Lag: 4}); change == nil || !strings.Contains(change.Reason, "is known after 6s: 4 records") || !strings.Contains(log.String(), "lag_records=4") {
		t.Errorf("%+v; %s", change, log)
	}
}
