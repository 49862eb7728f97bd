package bench

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"kafkabench.example/kafka-bench/internal/load"
	"kafkabench.example/kafka-bench/internal/plan/scenario"
	"kafkabench.example/kafka-bench/internal/plan/unit"
	"kafkabench.example/kafka-bench/internal/result"
	"kafkabench.example/kafka-bench/internal/run/fault"
	"kafkabench.example/kafka-bench/internal/run/judge"
	"kafkabench.example/kafka-bench/internal/run/observe"
)

type fakeFault struct {
	name, detail string
	takes        time.Duration
	err          error
}

func (f fakeFault) Name() string     { return f.name }
func (f fakeFault) Available() error { return nil }
func (f fakeFault) Inject(context.Context) (fault.Step, error) {
	time.Sleep(f.takes)
	return fault.Step{What: f.detail}, f.err
}

type listener struct {
	said []string
	data []map[string]any
}

func (l *listener) Began(string)             {}
func (l *listener) Interval(result.Interval) {}
func (l *listener) Event(e result.Event) {
	l.said = append(l.said, fmt.Sprintf("%v %s: %s", time.Duration(e.AtNs), e.Kind, e.What))
	l.data = append(l.data, e.Data)
}

func faulty(t *testing.T, window time.Duration, all ...scheduled) (*faults, *listener) {
	t.Helper()
	writer, err := result.Create(t.TempDir(), "faulty", time.Now())
	if err != nil {
		t.Fatal(err)
	}
	axis := load.NewAxis(nil)
	r := &faults{base: &base{axis: axis}, observer: observe.New(axis)}
	l := &listener{}
	r.journal = observe.NewJournal(r.axis, writer, l)
	r.journal.SetAxis(time.Second, window)
	for _, f := range all {
		r.cfg.Scenario.Faults = append(r.cfg.Scenario.Faults, f.ScheduledFault)
	}
	r.injectAll(t.Context(), all)
	return r, l
}

func consumerNumber(n int) scenario.Target {
	return scenario.Target{Kind: scenario.ConsumerTarget, Number: n}
}

func killAt(at time.Duration, f fakeFault) scheduled {
	return scheduled{f, scenario.ScheduledFault{At: unit.Duration(at), Kill: consumerNumber(1)}}
}

func startAt(at time.Duration, f fakeFault) scheduled {
	return scheduled{f, scenario.ScheduledFault{At: unit.Duration(at), Start: consumerNumber(1)}}
}

func TestFaultsAreInjectedAtTheirTimes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, l := faulty(t, 10*time.Second,
			killAt(2*time.Second, fakeFault{name: "kill consumer 1", detail: "it had all", takes: 500 * time.Millisecond}),
			startAt(5*time.Second, fakeFault{name: "start consumer 1"}))
		want := []string{"2s fault: kill consumer 1", "2.5s consumer: it had all", "5s fault: start consumer 1"}
		if !slices.Equal(l.said, want) {
			t.Errorf("it said %q, want %q", l.said, want)
		}
		end := int64(5 * time.Second)
		kill, start := r.seen.Injected[0], r.seen.Injected[1]
		if kill.EndNs == nil || *kill.EndNs != end || kill.StartNs != int64(2*time.Second) || kill.Detail != "it had all" || kill.Name != "kill" || kill.Target != "consumer 1" {
			t.Errorf("the kill is %+v", kill)
		}
		if start.EndNs != nil || start.StartNs != end || len(r.seen.Injected) != 2 || len(r.seen.NotDone) != 0 {
			t.Errorf("the start is %+v, of %d faults; not injected: %q", start, len(r.seen.Injected), r.seen.NotDone)
		}
	})
}

func TestFaultThatFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, _ := faulty(t, 10*time.Second, killAt(2*time.Second, fakeFault{name: "kill consumer 1", err: errors.New("it hides")}))
		if want := "kill consumer 1 at 2s was not done: it hides"; len(r.seen.NotDone) != 1 || r.seen.NotDone[0] != want || len(r.seen.Injected) != 1 || r.seen.Injected[0].Detail != "failed: it hides" {
			t.Errorf("not injected: %q, want %q; injected: %+v", r.seen.NotDone, want, r.seen.Injected)
		}
	})
}

// A fault of the window that fails in the drain is reported; none is injected after the window.
func TestFaultsOfAWindowThatEnded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, l := faulty(t, 3*time.Second,
			killAt(2*time.Second, fakeFault{name: "kill consumer 1", err: errors.New("stopped"), takes: 2 * time.Second}),
			startAt(5*time.Second, fakeFault{name: "start consumer 1"}))
		if len(r.seen.NotDone) != 1 || len(r.seen.Injected) != 1 || len(l.said) != 2 {
			t.Errorf("not injected: %q; injected: %+v; it said %q", r.seen.NotDone, r.seen.Injected, l.said)
		}
	})
}

func TestNumbersOfConsumers(t *testing.T) {
	s := scenario.Defaults()
	s.Consume.Consumers = 2
	if got := numbers(s); got != 2 {
		t.Errorf("%d without faults, want 2", got)
	}
	s.Faults = []scenario.ScheduledFault{{Start: consumerNumber(3)}, {Kill: consumerNumber(1)}}
	if got := numbers(s); got != 4 {
		t.Errorf("%d, want 4", got)
	}
}

type undoable struct{ fakeFault }

func (f undoable) Undo() fault.Fault {
	action, target, _ := strings.Cut(f.name, " ")
	return fakeFault{name: map[string]string{"kill": "start", "pause": "resume"}[action] + " " + target, takes: f.takes}
}

type aimedFault struct {
	fakeFault
	at fault.Fault
}

func (f aimedFault) Aim(context.Context) (fault.Fault, error) { return f.at, f.err }

// Each fault is undone after its own time, even after the window.
func TestFaultsOfBrokersOverlap(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		broker := func(n int) scenario.Target { return scenario.Target{Kind: scenario.BrokerTarget, Number: n} }
		second := unit.Duration(time.Second)
		leader := aimedFault{fakeFault{name: "kill leader of partition 0"}, undoable{fakeFault{name: "kill broker 3"}}}
		r, l := faulty(t, 10*time.Second,
			scheduled{fakeFault{name: "restart broker 1", takes: 6 * time.Second}, scenario.ScheduledFault{At: second, Restart: broker(1)}},
			scheduled{undoable{fakeFault{name: "pause broker 2"}}, scenario.ScheduledFault{At: 2 * second, Pause: broker(2), For: 3 * second}},
			scheduled{leader, scenario.ScheduledFault{At: 4 * second, Kill: scenario.Target{Kind: scenario.LeaderTarget}, For: 8 * second}})
		want := []string{
			"1s fault: restart broker 1", "2s fault: pause broker 2", "4s fault: kill leader of partition 0",
			"5s fault: resume broker 2", "7s fault: restart broker 1 is done", "12s fault: start broker 3",
		}
		if !slices.Equal(l.said, want) {
			t.Errorf("it said %q, want %q", l.said, want)
		}
		wantData := []map[string]any{
			{"name": "restart", "target": "broker 1", "state": "begin"},
			{"name": "pause", "target": "broker 2", "state": "begin"},
			{"name": "kill", "target": "leader of partition 0", "hit": "broker 3", "state": "begin"},
			{"name": "resume", "target": "broker 2", "state": "end"},
			{"name": "restart", "target": "broker 1", "state": "end"},
			{"name": "start", "target": "broker 3", "state": "end"},
		}
		if !reflect.DeepEqual(l.data, wantData) {
			t.Errorf("the data are %v, want %v", l.data, wantData)
		}
		ends := make(map[string]time.Duration)
		for _, f := range r.seen.Injected {
			if f.EndNs != nil {
				ends[f.Name+" "+f.Target+" "+f.Hit] = time.Duration(*f.EndNs)
			}
		}
		wantEnds := map[string]time.Duration{
			"restart broker 1 ": 7 * time.Second, "pause broker 2 ": 5 * time.Second, "kill leader of partition 0 broker 3": 12 * time.Second,
		}
		if !maps.Equal(ends, wantEnds) {
			t.Errorf("the faults end at %v, want %v", ends, wantEnds)
		}
	})
}

func TestRestartThatTheEndCutsShort(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, _ := faulty(t, time.Second)
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		r.inject(ctx, fakeFault{name: "restart broker 1", err: context.Canceled, takes: 3 * time.Second}, "500ms")
		if done := r.seen.Injected; len(done) != 1 || done[0].EndNs != nil || len(r.seen.NotDone) > 0 {
			t.Errorf("the faults are %+v, not injected: %q", done, r.seen.NotDone)
		}
	})
}

func TestFaultThatFailsHalfWay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		stop := scheduled{
			fakeFault{name: "stop broker 2", takes: time.Second, err: errors.New("it did not go in time")},
			scenario.ScheduledFault{At: unit.Duration(2 * time.Second), Stop: scenario.Target{Kind: scenario.BrokerTarget, Number: 2}},
		}
		r, _ := faulty(t, 10*time.Second, stop)
		done := r.seen.Injected
		if len(done) != 1 || done[0].Detail != "failed: it did not go in time" || done[0].EndNs != nil || len(r.seen.NotDone) != 1 {
			t.Errorf("the faults are %+v, not injected: %q", done, r.seen.NotDone)
		}
		if !slices.ContainsFunc(done, judge.HitsBroker) {
			t.Error("it hit no broker")
		}
	})
}

func TestUndoingThatFailsInTheDrain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, l := faulty(t, 3*time.Second, scheduled{
			unhealing{fakeFault{name: "kill broker 3"}},
			scenario.ScheduledFault{At: unit.Duration(2 * time.Second), For: unit.Duration(2 * time.Second), Kill: scenario.Target{Kind: scenario.BrokerTarget, Number: 3}},
		})
		if warnings := r.seen.NotInDrain; len(r.seen.NotDone) > 0 || len(warnings) != 1 || warnings[0] != "start broker 3 at 4s was not done: its port is taken" {
			t.Errorf("it warns %q, not injected: %q", warnings, r.seen.NotDone)
		}
		if done := r.seen.Injected; len(done) != 2 || done[0].EndNs != nil || done[1].Detail != "failed: its port is taken" {
			t.Errorf("the faults are %+v", done)
		}
		if want := "4s error: start broker 3 was not done"; !slices.Contains(l.said, want) {
			t.Errorf("it said %q, want %q", l.said, want)
		}
	})
}

type unhealing struct{ fakeFault }

func (f unhealing) Undo() fault.Fault {
	return fakeFault{name: "start broker 3", err: errors.New("its port is taken")}
}
