package main

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"kafkabench.example/kafka-bench/internal/result"
)

// onlyRun is the one run in a folder.
func onlyRun(t *testing.T, out string) result.Listed {
	t.Helper()
	runs, err := result.List(out)
	if err != nil || len(runs) != 1 || runs[0].Err != nil {
		t.Fatalf("%s has the runs %+v, %v; want one", out, runs, err)
	}
	return runs[0]
}

// wantVerdict fails the test unless the exit code is that of the run's verdict: a
// busy machine can make any run invalid.
func wantVerdict(t *testing.T, got invoked, run *result.Run) {
	t.Helper()
	want := exitValid
	if run.Verdict.Status != result.Valid {
		want = exitInvalid
	}
	if got.code != want || got.message() != "" {
		t.Errorf("exit code %d and %q, want %d for a run that is %s", got.code, got.stderr, want, run.Verdict.Status)
	}
}

// TestRun makes a run and looks at it with the other commands.
func TestRun(t *testing.T) {
	out := filepath.Join(t.TempDir(), "runs")
	got := invoke(t, "run", write(t, tiny), "--cluster", "embedded", "--out", out, "--set", "name=mine")
	r := onlyRun(t, out)
	wantVerdict(t, got, r.Run)
	if r.Run.Load.Acked != 60 || r.Run.Run.Name != "mine" {
		t.Errorf("%d records were acked by %q, want the 60 of 200/s in 300 ms", r.Run.Load.Acked, r.Run.Run.Name)
	}
	if !strings.HasPrefix(got.stdout, "mine: on the embedded broker, up to 10.4 s\n") {
		t.Errorf("it begins with\n%.200s", got.stdout)
	}
	again := invoke(t, "report", r.Dir)
	if again.code != exitValid || !strings.Contains(again.stdout, strings.ToUpper(r.Run.Verdict.Status)) || !strings.Contains(got.stdout, strings.TrimSpace(again.stdout)) {
		t.Errorf("exit code %d; report says\n%s\nwhere run said\n%s", again.code, again.stdout, got.stdout)
	}
	list := invoke(t, "list", "--out", out)
	if list.code != exitValid || !strings.Contains(list.stdout, r.Dir) {
		t.Errorf("exit code %d; list says\n%s", list.code, list.stdout)
	}
	both := invoke(t, "report", r.Dir, r.Dir)
	if both.code != exitValid || strings.Count(both.stdout, "mine") < 2 {
		t.Errorf("exit code %d; side by side:\n%s", both.code, both.stdout)
	}
}

// TestExistingCluster leaves an existing cluster as it was, but for a topic that
// is to be kept.
func TestExistingCluster(t *testing.T) {
	e := embedded(t)
	out := filepath.Join(t.TempDir(), "runs")
	args := []string{"run", write(t, tiny), "--brokers", e.Bootstrap()[0], "--cluster-id", e.Info().ID, "--out", out}
	if got := invoke(t, args...); got.code > exitInvalid {
		t.Errorf("exit code %d: %s", got.code, got.stderr)
	}
	if left := topics(t, e.Bootstrap()); len(left) > 0 {
		t.Errorf("the topics %v were left behind", left)
	}
	if got := invoke(t, append(args, "--keep-topics")...); got.code > exitInvalid {
		t.Errorf("exit code %d: %s", got.code, got.stderr)
	}
	if kept := topics(t, e.Bootstrap()); len(kept) != 1 || !strings.HasPrefix(kept[0], "kafka-bench-s-") {
		t.Errorf("the topics are %v, and one was to be kept", kept)
	}
}

// TestInterrupt sends this process the signal of Ctrl-C while a run measures: the
// run is saved, the exit code is 130.
func TestInterrupt(t *testing.T) {
	out := filepath.Join(t.TempDir(), "runs")
	done := make(chan struct{})
	go func() {
		defer close(done)
		for !measuring(out) {
			time.Sleep(20 * time.Millisecond)
		}
		if err := syscall.Kill(os.Getpid(), syscall.SIGINT); err != nil {
			t.Error(err)
		}
	}()
	got := invoke(t, "run", write(t, tiny), "--cluster", "embedded", "--out", out, "--set", "phases.measure=5m")
	<-done
	if got.code != exitInterrupted || got.message() != "interrupted" {
		t.Errorf("exit code %d and %q", got.code, got.stderr)
	}
	if !strings.HasPrefix(got.stderr, "ending gently; interrupt again to abandon\n") {
		t.Errorf("nobody is told that it ends: %q", got.stderr)
	}
	r := onlyRun(t, out)
	if !r.Run.Run.Interrupted || !r.Run.Finished() || r.Run.Load.Acked == 0 {
		t.Errorf("interrupted is %v, finished %v, acked %d", r.Run.Run.Interrupted, r.Run.Finished(), r.Run.Load.Acked)
	}
	if !strings.Contains(got.stdout, "INTERRUPTED, "+r.Run.Verdict.Status) {
		t.Errorf("no report was shown:\n%s", got.stdout)
	}
}

// measuring tells whether the run in a folder has come to its measured window.
func measuring(out string) bool {
	events, err := filepath.Glob(filepath.Join(out, "*", result.EventsFile))
	if err != nil || len(events) == 0 {
		return false
	}
	text, err := os.ReadFile(events[0])
	return err == nil && strings.Contains(string(text), `"what":"measure"`)
}

// TestInvalidRun has a schedule on which nothing comes due: the report says it, and
// nothing is said twice.
func TestInvalidRun(t *testing.T) {
	out := filepath.Join(t.TempDir(), "runs")
	got := invoke(t, "run", write(t, tiny), "--cluster", "embedded", "--out", out, "--set", "load.rate=1/h", "--set", "load.arrival=poisson")
	if r := onlyRun(t, out); r.Run.Verdict.Status != result.Invalid {
		t.Fatalf("the run is %+v", r.Run.Verdict)
	}
	if got.code != exitInvalid || got.message() != "" {
		t.Errorf("exit code %d and %q", got.code, got.stderr)
	}
}
