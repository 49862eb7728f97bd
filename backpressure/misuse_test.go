package backpressure_test

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

	"kafkabench.example/kafka-bench/backpressure"
)

func limiters(t *testing.T) map[string]backpressure.Controller {
	t.Helper()
	credit, err1 := backpressure.NewCredit(1000)
	latency, err2 := backpressure.NewLatency(backpressure.LatencyConfig{Target: 250 * time.Millisecond})
	aimd, err3 := backpressure.NewAIMD(backpressure.AIMDConfig{Target: 250 * time.Millisecond})
	gradient, err4 := backpressure.NewGradient(backpressure.GradientConfig{})
	if err := errors.Join(err1, err2, err3, err4); err != nil {
		t.Fatal(err)
	}
	return map[string]backpressure.Controller{"credit": credit, "latency": latency, "aimd": aimd, "gradient": gradient, "of another": &limited{ceiling{at: math.MaxInt64}}}
}

func topic(name string, committed, end int64) backpressure.Reading {
	return backpressure.Reading{Partitions: []backpressure.Partition{{Topic: name, Committed: committed, End: end}}}
}

func TestABoundIsClosedUntilTheFirstReading(t *testing.T) {
	for name, c := range limiters(t) {
		gate := newGate(t, backpressure.Config{Controller: c})
		if s := gate.Stats(); gate.TryAcquire(1) || s.Open || s.Bound != 0 || s.Share != 1 {
			t.Errorf("%s: before the first reading %+v", name, s)
		}
		if report(gate, topic("t", 0, 0)); !gate.TryAcquire(1) {
			t.Errorf("%s: closed after it", name)
		}
	}
	if gate := newGate(t, backpressure.Config{Controller: hysteresis(t, 100, 10)}); !gate.TryAcquire(1) {
		t.Error("on/off control has no bound to keep, and is closed")
	}
}

func TestNewRefusesWhatCanNeverWork(t *testing.T) {
	var credit *backpressure.Credit
	two, err := backpressure.NewCredit(2)
	if err != nil {
		t.Fatal(err)
	}
	for says, cfg := range map[string]backpressure.Config{
		"nil *backpressure.Credit": {Controller: credit},
		"no bound to share":        {Controller: hysteresis(t, 100, 10), Share: backpressure.Fixed(0.5)},
		"backpressure.Off has":     {Share: backpressure.Fixed(0.5)},
		"not one whole record":     {Controller: two, Share: backpressure.Fixed(1.0 / 3)},
	} {
		if _, err := backpressure.New(cfg); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("want %q: %v", says, err)
		}
	}
}

func TestWhatIsToldTwiceIsLeftAside(t *testing.T) {
	var told []backpressure.ChangeKind
	var log bytes.Buffer
	gate := newGate(t, backpressure.Config{
		Controller: &window{bound: 10}, Logger: slog.New(slog.NewTextHandler(&log, nil)),
		OnChange: func(c backpressure.Change) { told = append(told, c.Kind) },
	})
	report(gate, backpressure.Reading{})
	var end int64
	for range 5 {
		n := gate.Admit(10)
		gate.Done(n)
		gate.Done(n)
		gate.Done(-3)
		end += n
		if report(gate, backpressure.Reading{Lag: end}); gate.TryAcquire(1) {
			t.Fatalf("%d in the log of a bound of 10, and one more", end)
		}
	}
	if s := gate.Stats(); s.Admitted != 10 || s.Settled != 10 {
		t.Errorf("%+v", s)
	}
	if !slices.Equal(told, []backpressure.ChangeKind{backpressure.Misused}) || !strings.Contains(log.String(), "level=WARN msg=\"backpressure misused\"") {
		t.Errorf("told %v; log %s", told, log.String())
	}
}

func TestAnEmptyReadingIsAReading(t *testing.T) {
	gate := newGate(t, backpressure.Config{Controller: &window{bound: 10}, Share: backpressure.Fixed(0.5)})
	if report(gate, backpressure.Reading{}); gate.Stats().Missed != 1 || gate.Open() {
		t.Error("a reading that does not tell of partitions was used")
	}
	if report(gate, backpressure.Reading{Partitions: []backpressure.Partition{}}); gate.Admit(10) != 5 {
		t.Errorf("%+v", gate.Stats())
	}
}

// movable is a window whose bound may change.
type movable struct{ *window }

func (movable) Limit() int64 { return backpressure.Unlimited }

// A call that can never succeed does not block those behind it.
func TestAnAskAboveTheBoundInForceFailsWhenNothingIsOutstanding(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		gate := newGate(t, backpressure.Config{Controller: movable{&window{bound: 50}}})
		report(gate, topic("t", 0, 0))
		if err := gate.Acquire(t.Context(), 60); !errors.Is(err, backpressure.ErrNever) || !strings.Contains(err.Error(), "50 now") {
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
		if err := <-first; !errors.Is(err, backpressure.ErrNever) {
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
				gate := newGate(t, backpressure.Config{
					Controller: &window{bound: 10}, FailOpen: open, Grace: time.Second,
					OnChange: func(c backpressure.Change) { told = append(told, fmt.Sprint(c.Kind, " ", c.Reason)) },
				})
				if read {
					time.Sleep(time.Hour)
					report(gate, backpressure.Reading{Lag: 10})
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
				if bound := gate.Stats().Bound; open != (bound == backpressure.Unlimited) {
					t.Errorf("fail open %v: blind, the bound is %d", open, bound)
				}
			})
		}
	}
}

func TestTheGateDoesNotLookUpWhileItIsRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		gate := newGate(t, backpressure.Config{Controller: &window{bound: 10}, Grace: time.Second})
		for range 50 {
			report(gate, backpressure.Reading{Lag: 10})
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
	gate := newGate(t, backpressure.Config{
		Controller: &window{bound: bound}, Share: backpressure.Fixed(1), Doubt: time.Nanosecond,
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
	gate := newGate(t, backpressure.Config{Controller: &window{bound: 10}, Share: backpressure.Fixed(1)})
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
	for name, way := range map[string]func(*backpressure.Gate){
		"acknowledged": func(g *backpressure.Gate) {
			for i := range g.Admit(10) {
				g.Acked("b", 0, i)
				g.Done(1)
			}
		},
		"in doubt": func(g *backpressure.Gate) { g.Unsure(g.Admit(10)) },
	} {
		at := &clock{}
		var told []backpressure.Change
		gate := newGate(t, backpressure.Config{
			Controller: &window{bound: 10}, Share: backpressure.Fixed(1), Doubt: time.Second, Now: at.now,
			OnChange: func(c backpressure.Change) { told = append(told, c) },
		})
		both := topic("a", 0, 0)
		both.Partitions = append(both.Partitions, backpressure.Partition{Topic: "b", End: 10})
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
		if name == "acknowledged" && (len(told) != 1 || told[0].Kind != backpressure.Unread || !strings.Contains(told[0].Reason, "10 records of this gate") || !strings.Contains(told[0].Reason, "b/0")) {
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
	gate := newGate(t, backpressure.Config{
		Controller: &window{bound: 100}, Now: at.now,
		OnChange: func(c backpressure.Change) { told = append(told, fmt.Sprint(c.Kind, ": ", c.Reason)) },
	})
	run := func(seconds int, committed int64) {
		for range seconds {
			at.at += time.Second
			gate.TryAcquire(100)
			report(gate, backpressure.Reading{Lag: 100 - committed, Committed: committed})
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
	idle := newGate(t, backpressure.Config{Controller: &window{bound: 100}, Now: at.now})
	for range 60 {
		at.at += time.Second
		if c := report(idle, backpressure.Reading{Lag: 100}); c != nil {
			t.Fatalf("%+v", c)
		}
	}
	idle.TryAcquire(1)
	if c := report(idle, backpressure.Reading{Lag: 100}); c != nil {
		t.Errorf("at its first refusal: %+v", c)
	}
}

func TestThePipeTellsOfEveryItem(t *testing.T) {
	size := func(n int64) int64 { return n }
	for _, excess := range []backpressure.Excess{backpressure.Defer, backpressure.Shed} {
		synctest.Test(t, func(t *testing.T) {
			gate := newGate(t, backpressure.Config{Controller: &window{bound: 10}})
			report(gate, backpressure.Reading{})
			in, out := make(chan int64, 3), make(chan int64, 3)
			in <- 1
			in <- 11
			in <- 2
			close(in)
			var shed []string
			if err := backpressure.Pipe(t.Context(), gate, in, out, backpressure.PipeConfig[int64]{
				Excess: excess, Records: size,
				OnShed: func(n int64, why backpressure.ShedReason) { shed = append(shed, fmt.Sprintf("%d by %s", n, why)) },
			}); err != nil || len(out) != 2 || !slices.Equal(shed, []string{"11 by size"}) {
				t.Errorf("%v: %v; %d came out, dropped %v", excess, err, len(out), shed)
			}
		})
	}
	for name, first := range map[string]int64{"waiting for the gate": 6, "waiting for the client": 4} {
		synctest.Test(t, func(t *testing.T) {
			gate := newGate(t, backpressure.Config{Controller: &window{bound: 10}})
			report(gate, backpressure.Reading{})
			ctx, stop := context.WithCancel(t.Context())
			in, out := make(chan int64, 2), make(chan int64, 1)
			in <- first
			in <- 5
			var shed []string
			ended := make(chan error)
			go func() {
				ended <- backpressure.Pipe(ctx, gate, in, out, backpressure.PipeConfig[int64]{
					Records: size,
					OnShed:  func(n int64, why backpressure.ShedReason) { shed = append(shed, fmt.Sprintf("%d by %s", n, why)) },
				})
			}()
			synctest.Wait()
			stop()
			if err := <-ended; !errors.Is(err, context.Canceled) || !slices.Equal(shed, []string{"5 by close"}) {
				t.Errorf("%s: %v; dropped %v", name, err, shed)
			}
			if s := gate.Stats(); s.Admitted-s.Settled != first {
				t.Errorf("%s: %+v, with %d handed over", name, s, first)
			}
		})
	}
}

func TestTheLogTellsNoLagThatWasNotRead(t *testing.T) {
	at, log := &clock{}, new(bytes.Buffer)
	gate := newGate(t, backpressure.Config{Controller: &window{bound: 10}, Now: at.now, Logger: slog.New(slog.NewTextHandler(log, nil))})
	at.at = 6 * time.Second
	change := gate.Missed(nil)
	if change == nil || !strings.Contains(change.Reason, "never read, for 6s") || change.Age != 6*time.Second || strings.Contains(log.String(), "lag_records") {
		t.Errorf("%+v; %s", change, log)
	}
	if change = report(gate, backpressure.Reading{Lag: 4}); change == nil || !strings.Contains(change.Reason, "is known after 6s: 4 records") || !strings.Contains(log.String(), "lag_records=4") {
		t.Errorf("%+v; %s", change, log)
	}
}
