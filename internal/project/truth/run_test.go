package truth

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"kafkabench.example/kafka-bench/internal/kafka/cluster"
	"kafkabench.example/kafka-bench/internal/kafka/driver"
	"kafkabench.example/kafka-bench/internal/kafka/driver/franz"
	"kafkabench.example/kafka-bench/internal/measure/latency"
	"kafkabench.example/kafka-bench/internal/plan/scenario"
	"kafkabench.example/kafka-bench/internal/result"
	"kafkabench.example/kafka-bench/internal/run/bench"
)

// small is the run that the tests start from: two producers, two partitions, one
// consumer, half a second of warm-up and one second that is measured.
const small = `
topic: {partitions: 2}
load:
  rate: 1k/s
  producers: 2
  record: {size: 100B, payload: random}
  compression: none
  linger: 1ms
  partitioning: round-robin
consume: {consumers: 1, commit: 100ms}
phases: {warmup: 500ms, measure: 1s, drain: 20s}
sampling: {interval: 100ms, lag: 100ms}
`

// smallScenario is small under a name, with overrides such as "load.rate=2k/s".
func smallScenario(t *testing.T, name string, overrides ...string) scenario.Scenario {
	t.Helper()
	s, err := scenario.Parse(name+".yaml", []byte(small), overrides...)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// config is a run of a scenario on a cluster, into a folder of the test's.
func config(t *testing.T, c cluster.Cluster, s scenario.Scenario) bench.Config {
	t.Helper()
	return bench.Config{
		Scenario: s, Cluster: c, Driver: franz.New(), Out: t.TempDir(),
		Tool: result.Tool{Version: "test"}, Worker: workerCommand,
	}
}

// withDriver is cfg with another driver.
func withDriver(cfg bench.Config, d driver.Driver) bench.Config {
	cfg.Driver = d
	return cfg
}

// runTimeout bounds one run, so that a test that hangs fails with its name.
const runTimeout = 2 * time.Minute

// run makes a run and reads it back from its files: they are what has to be true.
func run(t *testing.T, cfg bench.Config) *result.Recorded {
	t.Helper()
	recorded, err := tryRun(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return recorded
}

func tryRun(cfg bench.Config) (*result.Recorded, error) {
	ctx, cancel := context.WithTimeout(context.Background(), runTimeout)
	defer cancel()
	outcome, err := bench.Run(ctx, cfg)
	if err != nil {
		return nil, err
	}
	recorded, err := result.Read(outcome.Dir)
	if err != nil {
		return nil, err
	}
	if len(recorded.Notes) > 0 {
		return nil, fmt.Errorf("the run's files: %v", recorded.Notes)
	}
	return recorded, nil
}

// runTogether makes several runs at the same time, so that whatever the machine
// does meanwhile falls on all of them alike.
func runTogether(t *testing.T, configs ...bench.Config) []*result.Recorded {
	t.Helper()
	runs, errs := make([]*result.Recorded, len(configs)), make([]error, len(configs))
	done := make(chan struct{})
	for i, cfg := range configs {
		go func() {
			runs[i], errs[i] = tryRun(cfg)
			done <- struct{}{}
		}()
	}
	for range configs {
		<-done
	}
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
	return runs
}

// undisturbed makes what attempt does, up to three times, until nothing of it is a sign
// that others had the machine, and returns the last, for which no bound is wider. sign
// says what shows, or nothing. What no machine can excuse is for attempt to want, each
// time.
func undisturbed[T any](t *testing.T, attempt func() T, sign func(T) string) T {
	t.Helper()
	for made := 1; ; made++ {
		runs := attempt()
		shows := sign(runs)
		if shows == "" || made == 3 {
			return runs
		}
		t.Log("made again:", shows)
	}
}

// unstarved is undisturbed of runs of which none may say itself that the machine was
// too busy, for proofs that compare times; signs are of what shows beside that.
func unstarved(t *testing.T, attempt func() []*result.Recorded, signs ...func([]*result.Recorded) string) []*result.Recorded {
	t.Helper()
	return undisturbed(t, attempt, func(runs []*result.Recorded) string {
		for _, r := range runs {
			if starved(r) {
				return fmt.Sprintf("%q", r.Run.Verdict.Reasons)
			}
		}
		for _, sign := range signs {
			if shows := sign(runs); shows != "" {
				return shows
			}
		}
		return ""
	})
}

// starved tells whether a run says that the machine was too busy.
func starved(runs ...*result.Recorded) bool {
	return slices.ContainsFunc(runs, func(r *result.Recorded) bool {
		return len(reasons(r)) < len(r.Run.Verdict.Reasons)
	})
}

// onlyRun reads the one run in a folder.
func onlyRun(t *testing.T, out string) *result.Recorded {
	t.Helper()
	entries, err := os.ReadDir(out)
	if err != nil || len(entries) != 1 {
		t.Fatalf("%s has %d entries (%v), want one run", out, len(entries), err)
	}
	recorded, err := result.Read(filepath.Join(out, entries[0].Name()))
	if err != nil {
		t.Fatal(err)
	}
	return recorded
}

// ofTheMachine are the beginnings of the reasons by which a verdict says that
// the machine was too busy.
var ofTheMachine = []string{"the pacer was late", "the tool was starved of CPU"}

// reasons are why a run is invalid, but for a busy machine.
func reasons(r *result.Recorded) (left []string) {
	for _, reason := range r.Run.Verdict.Reasons {
		busy := false
		for _, beginning := range ofTheMachine {
			busy = busy || strings.HasPrefix(reason, beginning)
		}
		if !busy {
			left = append(left, reason)
		}
	}
	return left
}

// wantValid fails the test if anything but a busy machine makes the run invalid.
func wantValid(t *testing.T, r *result.Recorded) {
	t.Helper()
	if left := reasons(r); len(left) > 0 {
		t.Errorf("the run is invalid: %q", left)
	}
	if v := r.Run.Verdict; (v.Status == result.Valid) != (len(v.Reasons) == 0) {
		t.Errorf("the verdict is %s with the reasons %q", v.Status, v.Reasons)
	}
}

// wantReason fails the test unless the run is invalid, for this reason and no
// other.
func wantReason(t *testing.T, r *result.Recorded, want string) {
	t.Helper()
	left := reasons(r)
	if r.Run.Verdict.Status != result.Invalid || len(left) != 1 || left[0] != want {
		t.Errorf("the verdict is %s, with the reasons %q; want invalid, because %q", r.Run.Verdict.Status, left, want)
	}
}

// wantWarning fails the test unless one of the run's warnings begins like this.
func wantWarning(t *testing.T, r *result.Recorded, beginning string) {
	t.Helper()
	for _, w := range r.Run.Verdict.Warnings {
		if strings.HasPrefix(w, beginning) {
			return
		}
	}
	t.Errorf("no warning begins with %q; there are %q", beginning, r.Run.Verdict.Warnings)
}

// wantCount fails the test unless a count is what it has to be.
func wantCount(t *testing.T, what string, got, want int64) {
	t.Helper()
	if got != want {
		t.Errorf("%s = %d, want %d", what, got, want)
	}
}

// wantBalance checks the equations of the books with the numbers of run.json, in
// both phases.
func wantBalance(t *testing.T, r *result.Recorded) {
	t.Helper()
	for phase, b := range map[string]struct {
		load     result.Load
		delivery result.Delivery
	}{
		"warm-up":  {r.Run.Warmup.Load, r.Run.Warmup.Delivery},
		"measured": {r.Run.Load, r.Run.Delivery},
	} {
		l, d := b.load, b.delivery
		wantCount(t, phase+": scheduled", l.Scheduled, l.Admitted+l.Deferred+l.Shed)
		wantCount(t, phase+": admitted", l.Admitted, l.Acked+l.Failed+l.Unknown)
		copies := max(1, int64(d.Copies))
		wantCount(t, phase+": acked", copies*l.Acked, d.Unique-d.UnackedDelivered+d.Pending+d.Lost+d.Corrupt)
		wantCount(t, phase+": delivered", d.Delivered, d.Unique+d.Duplicates)
	}
}

// histograms reads a run's log and adds up the intervals of each tag.
func histograms(t *testing.T, r *result.Recorded) map[string]*latency.Histogram {
	t.Helper()
	file, err := os.Open(filepath.Join(r.Dir, result.HistogramsFile))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = file.Close() }()
	totals := make(map[string]*latency.Histogram)
	for entry, err := range latency.ReadLog(file) {
		if err != nil {
			t.Fatal(err)
		}
		if totals[entry.Tag] == nil {
			totals[entry.Tag] = latency.NewHistogram()
		}
		totals[entry.Tag].Merge(entry.Histogram)
	}
	return totals
}
