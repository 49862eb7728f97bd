package main

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"kafkabench.example/kafka-bench/internal/result"
)

func onlyRun(t *testing.T, out string) result.Listed {
	t.Helper()
	runs, err := result.List(out)
	if err != nil || len(runs) != 1 || runs[0].Err != nil {
		t.Fatalf("%s has the runs %+v, %v; want one", out, runs, err)
	}
	return runs[0]
}

func wantValid(t *testing.T, got invoked, run *result.Run) {
	t.Helper()
	if got.code != exitValid || got.message() != "" || run.Verdict.Status != result.Valid {
		t.Errorf("exit code %d and %q for a run that is %+v", got.code, got.stderr, run.Verdict)
	}
}

func TestRun(t *testing.T) {
	virtually(t, func(t *testing.T, l lab) {
		out := filepath.Join(t.TempDir(), "runs")
		got := l.invoke(t, "run", write(t, tiny), "--cluster", "embedded", "--out", out, "--set", "name=mine")
		r := onlyRun(t, out)
		wantValid(t, got, r.Run)
		if r.Run.Load.Acked != 60 || r.Run.Run.Name != "mine" {
			t.Errorf("%d records were acked by %q, want the 60 of 200/s in 300 ms", r.Run.Load.Acked, r.Run.Run.Name)
		}
		if !strings.HasPrefix(got.stderr, "mine: on the embedded broker, up to 10.4 s\n") {
			t.Errorf("it begins with\n%.200s", got.stderr)
		}
		again := l.invoke(t, "report", r.Dir)
		if again.code != exitValid || !strings.Contains(again.stdout, strings.ToUpper(r.Run.Verdict.Status)) || got.stdout != again.stdout {
			t.Errorf("exit code %d; report says\n%s\nwhere run said\n%s", again.code, again.stdout, got.stdout)
		}
		list := l.invoke(t, "list", "--out", out)
		if list.code != exitValid || !strings.Contains(list.stdout, r.Dir) {
			t.Errorf("exit code %d; list says\n%s", list.code, list.stdout)
		}
	})
}

func TestExistingCluster(t *testing.T) {
	virtually(t, func(t *testing.T, l lab) {
		e := l.start(t)
		out := filepath.Join(t.TempDir(), "runs")
		args := []string{"run", write(t, tiny), "--brokers", e.Bootstrap()[0], "--cluster-id", e.Info().ID, "--out", out}
		if got := l.invoke(t, args...); got.code != exitValid {
			t.Errorf("exit code %d: %s", got.code, got.stderr)
		}
		if left := topics(t, l.client(e.Bootstrap())...); len(left) > 0 {
			t.Errorf("the topics %v were left behind", left)
		}
		if got := l.invoke(t, append(args, "--keep-topics")...); got.code != exitValid {
			t.Errorf("exit code %d: %s", got.code, got.stderr)
		}
		if kept := topics(t, l.client(e.Bootstrap())...); len(kept) != 1 || !strings.HasPrefix(kept[0], "kafka-bench-s-") {
			t.Errorf("the topics are %v, and one was to be kept", kept)
		}
	})
}

func TestInterrupt(t *testing.T) {
	virtually(t, func(t *testing.T, l lab) {
		out := filepath.Join(t.TempDir(), "runs")
		got := l.interrupted(time.Second).invoke(t, "run", write(t, tiny), "--cluster", "embedded", "--out", out, "--set", "phases.measure=5m")
		if got.code != exitInterrupted || got.message() != "interrupted" {
			t.Errorf("exit code %d and %q", got.code, got.stderr)
		}
		if !strings.Contains(got.stderr, "ending gently; interrupt again to abandon\n") {
			t.Errorf("nothing is said of its end: %q", got.stderr)
		}
		r := onlyRun(t, out)
		if n := r.Run.Load.Acked; !r.Run.Run.Interrupted || !r.Run.Finished() || n < 150 || n > 200 {
			t.Errorf("interrupted is %v, finished %v, acked %d", r.Run.Run.Interrupted, r.Run.Finished(), n)
		}
		if !strings.Contains(got.stdout, "INTERRUPTED, "+r.Run.Verdict.Status) {
			t.Errorf("no report was shown:\n%s", got.stdout)
		}
	})
}

func TestInvalidRun(t *testing.T) {
	virtually(t, func(t *testing.T, l lab) {
		out := filepath.Join(t.TempDir(), "runs")
		got := l.invoke(t, "run", write(t, tiny), "--cluster", "embedded", "--out", out, "--set", "load.rate=1/h", "--set", "load.arrival=poisson")
		if r := onlyRun(t, out); r.Run.Verdict.Status != result.Invalid {
			t.Fatalf("the run is %+v", r.Run.Verdict)
		}
		if got.code != exitInvalid || got.message() != "" {
			t.Errorf("exit code %d and %q", got.code, got.stderr)
		}
	})
}
