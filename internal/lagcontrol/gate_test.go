package lagcontrol_test

import (
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"kafkabench.example/kafka-bench/internal/lagcontrol"
)

type ceiling struct {
	at, bound int64
	saw       lagcontrol.Observation
	asked     int
}

func (c *ceiling) Decide(o lagcontrol.Observation) lagcontrol.Decision {
	c.saw = o
	c.asked++
	bound := c.bound
	if bound == 0 {
		bound = lagcontrol.Unlimited
	}
	return lagcontrol.Decision{Ceiling: c.at, Bound: bound, Reason: "told so"}
}

type limited struct{ ceiling }

func (l *limited) Limit() int64 { return lagcontrol.Unlimited }

func newGate(t rapid.TB, cfg lagcontrol.Config) *lagcontrol.Gate {
	t.Helper()
	gate, err := lagcontrol.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return gate
}

func report(gate *lagcontrol.Gate, r lagcontrol.Reading) *lagcontrol.Change {
	return gate.Report(gate.Mark(), r)
}

type clock struct{ at time.Duration }

func (c *clock) now() time.Duration { return c.at }

func TestGateIsOpenUntilToldOtherwise(t *testing.T) {
	for name, controller := range map[string]lagcontrol.Controller{"without a controller": nil, "unread": &ceiling{}} {
		gate := newGate(t, lagcontrol.Config{Controller: controller})
		if got := gate.Admit(1_000_000); got != 1_000_000 || !gate.Open() {
			t.Errorf("%s: a new gate admitted %d of 1000000", name, got)
		}
	}
}

func TestGateKeepsItsCeiling(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := &ceiling{at: rapid.Int64Range(0, 10_000).Draw(t, "ceiling")}
		gate := newGate(t, lagcontrol.Config{Controller: c})
		report(gate, lagcontrol.Reading{})
		asks := rapid.SliceOfN(rapid.Int64Range(1, 700), 1, 8).Draw(t, "asks")
		granted := make([]int64, len(asks))
		var wg sync.WaitGroup
		for i, n := range asks {
			wg.Go(func() {
				for range 10 {
					granted[i] += gate.Admit(n)
				}
			})
		}
		wg.Wait()
		var sum, asked int64
		for i := range asks {
			sum += granted[i]
			asked += 10 * asks[i]
		}
		if want := min(asked, c.at); sum != want || gate.Admitted() != want {
			t.Fatalf("admitted %d, granted %d; want %d", gate.Admitted(), sum, want)
		}
		if got := gate.Stats().Refused; got != asked-sum {
			t.Fatalf("refused %d of %d that were not granted", got, asked-sum)
		}
	})
}

func TestTryAcquireIsAllOrNone(t *testing.T) {
	gate := newGate(t, lagcontrol.Config{Controller: &ceiling{at: 10}})
	report(gate, lagcontrol.Reading{})
	for i, c := range []struct {
		n    int64
		want bool
	}{{7, true}, {7, false}, {0, true}, {-1, true}, {4, false}, {3, true}, {1, false}} {
		if got := gate.TryAcquire(c.n); got != c.want {
			t.Errorf("ask %d for %d: %v", i, c.n, got)
		}
	}
	if got := gate.Admit(-5); got != 0 {
		t.Errorf("a negative ask got %d", got)
	}
	if s := gate.Stats(); s.Admitted != 10 || s.Refused != 7+4+1 {
		t.Errorf("stats %+v", s)
	}
}

func TestAskingAllocatesNothing(t *testing.T) {
	for name, at := range map[string]int64{"with room": lagcontrol.Unlimited, "without": 0} {
		gate := hold(t, at)
		if got := testing.AllocsPerRun(100, func() {
			gate.TryAcquire(1)
			gate.Admit(1)
			gate.Done(1)
		}); got != 0 {
			t.Errorf("%s: %v allocations", name, got)
		}
	}
}

// The closed time begins with the first refusal, not with the decision.
func TestGateAddsUpTheClosedTime(t *testing.T) {
	at, c := &clock{}, &ceiling{at: 5}
	gate := newGate(t, lagcontrol.Config{Controller: c, Now: at.now})
	step := func(now time.Duration, ceiling int64) {
		at.at, c.at = now, ceiling
		report(gate, lagcontrol.Reading{})
	}
	closed := func(want time.Duration) {
		t.Helper()
		if got := gate.Stats().Closed; got != want {
			t.Errorf("at %v closed for %v, want %v", at.at, got, want)
		}
	}
	step(1*time.Second, 5)
	gate.Admit(5)
	at.at = 2 * time.Second
	closed(0) // the ceiling is reached, but nothing was refused
	gate.Admit(1)
	at.at = 3 * time.Second
	gate.TryAcquire(1)
	closed(time.Second)
	step(4*time.Second, 5)
	closed(2 * time.Second)
	step(5*time.Second, 6)
	closed(3 * time.Second)
	at.at = 9 * time.Second
	closed(3 * time.Second)
	gate.Admit(3)
	at.at = 10 * time.Second
	before := gate.Stats()
	at.at = 12 * time.Second
	if got := gate.Stats().Sub(before).Closed; got != 2*time.Second {
		t.Errorf("within a window closed for %v", got)
	}
}

func TestStatsSubLeavesWhatHasNoDifference(t *testing.T) {
	now := lagcontrol.Stats{
		Admitted: 9, Settled: 8, Refused: 7, Waited: 6, Reports: 5, Changes: 4, Missed: 3, Probes: 2, Closed: 2, Blind: 1,
		Ceiling: 10, Bound: 11, Lag: 12, Outstanding: 13, Waiting: 14, Share: 0.5, Open: true, BlindNow: true, MaxAge: 15,
	}
	want := lagcontrol.Stats{Ceiling: 10, Bound: 11, Lag: 12, Outstanding: 13, Waiting: 14, Share: 0.5, Open: true, BlindNow: true, MaxAge: 15}
	if got := now.Sub(now); got != want {
		t.Errorf("%+v", got)
	}
	for i, v := 0, reflect.ValueOf(now); i < v.NumField(); i++ {
		if v.Field(i).IsZero() {
			t.Errorf("the test does not speak of %s", v.Type().Field(i).Name)
		}
	}
}

func TestNewNamesEveryFault(t *testing.T) {
	_, err := lagcontrol.New(lagcontrol.Config{
		Interval: -1, Doubt: -time.Second, Grace: time.Nanosecond, Inherit: -2, Share: lagcontrol.Fixed(1.5),
	})
	if err == nil {
		t.Fatal("no error")
	}
	for _, says := range []string{"interval", "doubt", "NoInherit", "a share"} {
		if !strings.Contains(err.Error(), says) {
			t.Errorf("%q is not in: %v", says, err)
		}
	}
	if _, err := lagcontrol.New(lagcontrol.Config{Interval: time.Minute, Grace: time.Second}); err == nil || !strings.Contains(err.Error(), "grace") {
		t.Errorf("a grace time within an interval: %v", err)
	}
}
