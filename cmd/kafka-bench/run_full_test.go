//go:build full

package main

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"kafkabench.example/kafka-bench/internal/kafka/cluster/clustertest"
	"kafkabench.example/kafka-bench/internal/result"
)

func TestRunOnKafka(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", userCache)
	k := clustertest.Shared(t)
	out := filepath.Join(t.TempDir(), "runs")
	got := invoke(t, "run", write(t, tiny), "--brokers", strings.Join(k.Bootstrap(), ","), "--out", out, "--set", "name=mine")
	r := onlyRun(t, out)
	if got.code > exitInvalid || r.Run.Load.Acked != 60 || r.Run.Delivery.Lost != 0 {
		t.Errorf("exit code %d: %d records were acked and %d lost: %s", got.code, r.Run.Load.Acked, r.Run.Delivery.Lost, got.stderr)
	}
}

func TestInterruptOfTheProcess(t *testing.T) {
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
	if !strings.Contains(got.stderr, "\nending gently; interrupt again to abandon\n") {
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

func measuring(out string) bool {
	events, err := filepath.Glob(filepath.Join(out, "*", result.EventsFile))
	if err != nil || len(events) == 0 {
		return false
	}
	text, err := os.ReadFile(events[0])
	return err == nil && strings.Contains(string(text), `"what":"measure"`)
}
