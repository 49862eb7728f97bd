package bench

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"kafka-bench/internal/load"
	"kafka-bench/internal/result"
	"kafka-bench/internal/scenario"
	"kafka-bench/internal/unit"
)

// fakeFault takes its time, and may fail.
type fakeFault struct {
	name, detail string
	takes        time.Duration
	err          error
}

func (f fakeFault) Name() string     { return f.name }
func (f fakeFault) Available() error { return nil }
func (f fakeFault) Inject(context.Context) (string, error) {
	time.Sleep(f.takes)
	return f.detail, f.err
}

// listener keeps what a run tells.
type listener struct{ said []string }

func (l *listener) Began(string)             {}
func (l *listener) Interval(result.Interval) {}
func (l *listener) Event(e result.Event) {
	l.said = append(l.said, fmt.Sprintf("%v %s: %s", time.Duration(e.AtNs), e.Kind, e.What))
}

// faulty makes a run of so many seconds that has faults, in virtual time.
func faulty(t *testing.T, window time.Duration, all ...scheduled) (*run, *listener) {
	t.Helper()
	writer, err := result.Create(t.TempDir(), "faulty", time.Now())
	if err != nil {
		t.Fatal(err)
	}
	r := &run{axis: load.NewAxis(), stop: make(chan struct{})}
	l := &listener{}
	r.journal = newJournal(r.axis, writer, l)
	r.journal.setAxis(time.Second, window)
	for _, f := range all {
		r.cfg.Scenario.Faults = append(r.cfg.Scenario.Faults, f.ScheduledFault)
	}
	r.injectFaults(all)
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
		kill, start := r.injected[0], r.injected[1]
		if kill.EndNs == nil || *kill.EndNs != end || kill.StartNs != int64(2*time.Second) || kill.Detail != "it had all" || kill.Name != "kill" || kill.Target != "consumer 1" {
			t.Errorf("the kill is %+v", kill)
		}
		if start.EndNs != nil || start.StartNs != end || len(r.injected) != 2 || len(r.notInjected) != 0 {
			t.Errorf("the start is %+v, of %d faults; not injected: %q", start, len(r.injected), r.notInjected)
		}
		if who := r.killed(); who != "consumer 1" {
			t.Errorf("killed: %q", who)
		}
		if warnings := r.warningsOfTheFaults(); len(warnings) > 0 {
			t.Errorf("it warns %q", warnings)
		}
	})
}

// A fault that fails makes the run another one than was asked for.
func TestFaultThatFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, _ := faulty(t, 10*time.Second, killAt(2*time.Second, fakeFault{name: "kill consumer 1", err: errors.New("it hides")}))
		if want := "kill consumer 1 at 2s was not done: it hides"; len(r.notInjected) != 1 || r.notInjected[0] != want || len(r.injected) > 0 || r.killed() != "" {
			t.Errorf("not injected: %q, want %q; injected: %+v", r.notInjected, want, r.injected)
		}
	})
}

// What fails because the run is over was not asked for any more, and what the window
// had no time for is said.
func TestFaultsOfAWindowThatEnded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, l := faulty(t, 3*time.Second,
			killAt(2*time.Second, fakeFault{name: "kill consumer 1", err: errors.New("stopped"), takes: 2 * time.Second}),
			startAt(5*time.Second, fakeFault{name: "start consumer 1"}))
		if len(r.notInjected) > 0 || len(r.injected) > 0 || len(l.said) != 1 {
			t.Errorf("not injected: %q; injected: %+v; it said %q", r.notInjected, r.injected, l.said)
		}
		warnings := r.warningsOfTheFaults()
		if len(warnings) != 1 || !strings.Contains(warnings[0], "start consumer 1 at 5s did not happen") {
			t.Errorf("it warns %q", warnings)
		}
		r.interrupted = true
		if warnings := r.warningsOfTheFaults(); len(warnings) > 0 {
			t.Errorf("of an interrupted run it warns %q", warnings)
		}
	})
}

func TestDuplicatesAfterAKillAreExpected(t *testing.T) {
	r := &run{cfg: Config{Scenario: scenario.Defaults()}, drained: true}
	out := &result.Run{Delivery: result.Delivery{Duplicates: 7, Lost: 1}}
	if got := r.warningsOfTheRecords(out); !slices.Contains(got, "7 deliveries were duplicates") {
		t.Errorf("it warns %q", got)
	}
	r.injected = []result.Fault{{Name: "kill", Target: "consumer 2"}, {Name: "stop", Target: "consumer 1"}, {Name: "kill", Target: "consumer 0"}}
	got := strings.Join(r.warningsOfTheRecords(out), "\n")
	if !strings.Contains(got, "7 deliveries were duplicates, as is to be expected after a kill: what consumer 2 and consumer 0 had not committed") ||
		!strings.Contains(got, "1 acknowledged records were lost") {
		t.Errorf("it warns\n%s", got)
	}
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
