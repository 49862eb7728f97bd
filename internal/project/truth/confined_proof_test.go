//go:build proof

package truth

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"kafkabench.example/kafka-bench/internal/result"
)

func TestConfined(t *testing.T) {
	s := smallScenario(t, "confined", "phases.measure=2s", "consume.cpu=0.5", "consume.memory=256MiB")
	r := run(t, config(t, loopback(t), s))
	wantValid(t, r)
	wantBalance(t, r)
	c := r.Run.Consumer.Confined
	if c == nil || r.Run.Consumer.Processes != 1 || c.CPU != 0.5 || c.MemoryBytes != 256<<20 {
		t.Fatalf("the consumers are %+v, confined %+v", r.Run.Consumer, c)
	}
	if c.SchedDelayNs == nil || c.SchedDelayNs.Count == 0 || c.GCPauseNs == nil {
		t.Errorf("what its goroutines waited is %+v, GC %+v", c.SchedDelayNs, c.GCPauseNs)
	}
	if c.CPUCoresUsed == nil || *c.CPUCoresUsed <= 0 || *c.CPUCoresUsed > 0.6 && c.By != "runtime" {
		t.Errorf("it used %s of a core, held by %s", ratio(c.CPUCoresUsed), c.By)
	}
	if held := c.By != "runtime"; held != (c.ThrottledS != nil) || held != (c.Note == "") {
		t.Errorf("held by %s, throttled for %s s, with the note %q", c.By, ratio(c.ThrottledS), c.Note)
	}
	wantProcessesGone(t, r, 1)
	wantNoGroups(t)
}

func wantNoGroups(t *testing.T) {
	t.Helper()
	for _, path := range emptyGroups() {
		t.Errorf("%s is left", path)
	}
}

func emptyGroups() (paths []string) {
	_ = filepath.WalkDir("/sys/fs/cgroup", func(path string, d os.DirEntry, err error) error {
		if err != nil || !d.IsDir() || !strings.HasPrefix(d.Name(), "kafka-bench-") || !strings.Contains(d.Name(), fmt.Sprintf("-%d-", os.Getpid())) {
			return nil
		}
		if procs, err := os.ReadFile(filepath.Join(path, "cgroup.procs")); err == nil && len(procs) == 0 {
			paths = append(paths, path)
		}
		return nil
	})
	return paths
}

func TestMemoryLimit(t *testing.T) {
	s := smallScenario(t, "greedy", "consume.memory=32MiB", "load.rate=5k/s", "load.record.size=10kB", "consume.work=100ms", "consume.parallel=partition",
		"topic.partitions=20", "phases.measure=5s", "phases.drain=5s")
	r := run(t, config(t, loopback(t), s))
	if c := r.Run.Consumer.Confined; c != nil && c.By == "runtime" {
		wantValid(t, r) // this limit is not enforced
		return
	}
	left := reasons(r)
	if r.Run.Verdict.Status != result.Invalid || !slices.ContainsFunc(left, func(reason string) bool {
		return strings.Contains(reason, "killed by the operating system at its memory limit of 32 MiB")
	}) {
		t.Errorf("the verdict is %s, because %q", r.Run.Verdict.Status, left)
	}
}
