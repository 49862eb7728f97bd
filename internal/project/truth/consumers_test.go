package truth

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"kafkabench.example/kafka-bench/internal/kafka/cluster"
	"kafkabench.example/kafka-bench/internal/result"
)

// TestConsumersApart makes a run whose consumers are in three processes beside one
// whose consumers are in the tool: what was delivered is the same, each record once,
// and the times are of one clock.
func TestConsumersApart(t *testing.T) {
	t.Parallel()
	wantSameOfConsumers(t, embedded(t, cluster.EmbeddedOptions{ProduceDelay: longDelay}), "phases.measure=3s", "load.rate=2k/s")
}

// testConsumersApart is TestConsumersApart on an Apache Kafka.
func testConsumersApart(t *testing.T) {
	wantSameOfConsumers(t, realKafka(t), "phases.measure=5s", "load.rate=500/s")
}

func wantSameOfConsumers(t *testing.T, c cluster.Cluster, overrides ...string) {
	t.Helper()
	here, apart := wantSameApart(t, c, "consume.processes=3", []string{"e2e_service_time", "e2e_response_time", "processed_response_time"},
		append(overrides, "load.producers=2", "topic.partitions=5", "consume.consumers=3", "consume.work=100us")...)
	wantSameSettings(t, here, apart)
	a, b := here.Run.Consumer, apart.Run.Consumer
	if b.Processes != 3 || a.Processes != 0 || b.Workers != a.Workers || b.Members != a.Members || b.Polls == 0 || b.Commits == 0 {
		t.Errorf("the consumers apart are %+v, here %+v", b, a)
	}
	if a.Utilisation == nil || b.Utilisation == nil || *b.Utilisation < *a.Utilisation/2 || *b.Utilisation > *a.Utilisation*2 {
		t.Errorf("utilisation %s apart, %s here", ratio(b.Utilisation), ratio(a.Utilisation))
	}
}

// wantSameSettings wants the clients of two runs to have been opened alike.
func wantSameSettings(t *testing.T, here, apart *result.Recorded) {
	t.Helper()
	names := []string{"ClientID", "ConsumerGroup"} // of the run's own
	a, b := here.Run.Run.Driver.Consumer, apart.Run.Run.Driver.Consumer
	if len(a) == 0 || len(a) != len(b) {
		t.Fatalf("%d settings here, %d apart", len(a), len(b))
	}
	for i := range a {
		if a[i] != b[i] && !slices.Contains(names, a[i].Name) {
			t.Errorf("apart, %s is %s; here %s is %s", b[i].Name, b[i].Value, a[i].Name, a[i].Value)
		}
	}
}

// TestGroupsApart has two groups read everything, each in two processes that have
// two members each.
func TestGroupsApart(t *testing.T) {
	t.Parallel()
	c := embedded(t, cluster.EmbeddedOptions{})
	r := run(t, config(t, c, smallScenario(t, "groups", "topic.partitions=4",
		"consume.groups=2", "consume.consumers=4", "consume.processes=2", "consume.parallel=partition", "consume.work=1ms")))
	wantValid(t, r)
	wantBalance(t, r)
	if len(r.Run.Groups) != 2 {
		t.Fatalf("the groups are %+v", r.Run.Groups)
	}
	for _, g := range r.Run.Groups {
		wantCount(t, g.Name+" unique", g.Delivery.Unique, r.Run.Load.Acked)
		if g.Consumer.Workers != 4 || g.Delivery.Duplicates != 0 || !g.Lag.Drained {
			t.Errorf("%+v", g)
		}
	}
	wantProcessesGone(t, r, 4)
	wantNoTopics(t, c)
}

// testKilledProcess kills the process of one of two consumers and starts it again.
// What it had not committed comes twice, to another process, and nothing is lost:
// the books of both balance together.
func testKilledProcess(t *testing.T) {
	r, left := killedRun(t, "killed-apart", "consume.processes=2")
	// Nothing is committed in the moment before the end, so that it is no bound but
	// the number.
	wantCount(t, "duplicates", r.Run.Delivery.Duplicates, left)
	wantProcessesGone(t, r, 3)
}

// TestPausedProcess has a process stand still for a second of the window: its
// partitions rest, nobody misses it, and what waited is delivered once it is let go.
func TestPausedProcess(t *testing.T) {
	t.Parallel()
	s := smallScenario(t, "paused", "topic.partitions=2", "consume.consumers=2", "consume.processes=2", "phases.measure=3s",
		"faults=[{at: 500ms, pause: consumer 1}, {at: 1500ms, resume: consumer 1}]")
	r := run(t, config(t, embedded(t, cluster.EmbeddedOptions{}), s))
	wantValid(t, r)
	wantBalance(t, r)
	wantHistograms(t, r)
	wantCount(t, "unique", r.Run.Delivery.Unique, r.Run.Load.Acked)
	if waited := time.Duration(r.Run.Time["e2e_response_time"].MaxNs); waited < 900*time.Millisecond || waited > 3*time.Second {
		t.Errorf("the longest e2e response time is %v", waited)
	}
	if len(r.Run.Faults) != 2 || !strings.Contains(r.Run.Faults[0].Detail, "SIGSTOP") {
		t.Errorf("the faults are %+v", r.Run.Faults)
	}
	wantProcessesGone(t, r, 2)
}

// TestConsumerProcessKilled kills a process from outside: the run goes to its end,
// without waiting for what nobody delivers, and is invalid for that reason.
func TestConsumerProcessKilled(t *testing.T) {
	t.Parallel()
	s := smallScenario(t, "bereft", "consume.consumers=2", "consume.processes=2")
	cfg := config(t, embedded(t, cluster.EmbeddedOptions{}), s)
	cfg.Watch = killer("process 1 of the consumers")
	began := time.Now()
	r := run(t, cfg)
	if took := time.Since(began); took > 15*time.Second {
		t.Errorf("the run took %v", took)
	}
	left := reasons(r)
	if r.Run.Verdict.Status != result.Invalid || len(left) != 1 || !strings.HasPrefix(left[0], "a consumer ended before the run did: process 1 of the consumers (pid ") || !strings.Contains(left[0], "killed") {
		t.Errorf("the verdict is %s, because %q", r.Run.Verdict.Status, left)
	}
	if event(r, "error", "process 1 of the consumers ended before the run did") == nil {
		t.Error("no event tells of the process that was killed")
	}
	if r.Run.Delivery.Delivered == 0 {
		t.Error("nothing of the other is in the result")
	}
	wantProcessesGone(t, r, 2)
}

// TestConfined makes a run whose consumer has a part of a core and little memory, and
// says of both what it used; then nothing of its group is left.
func TestConfined(t *testing.T) {
	t.Parallel()
	confining.Lock()
	defer confining.Unlock()
	s := smallScenario(t, "confined", "phases.measure=2s", "consume.cpu=0.5", "consume.memory=256MiB")
	r := run(t, config(t, embedded(t, cluster.EmbeddedOptions{}), s))
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

// confining is held by tests that look for the groups that are left, and by those that
// leave one without its process until their run ends.
var confining sync.Mutex

// wantNoGroups wants no control group of this process' to be left. Other tests may have
// theirs at the same time, with a process in them but for the moment before it comes.
func wantNoGroups(t *testing.T) {
	t.Helper()
	left := emptyGroups()
	if len(left) == 0 {
		return
	}
	time.Sleep(time.Second)
	for _, path := range emptyGroups() {
		if slices.Contains(left, path) {
			t.Errorf("%s is left", path)
		}
	}
}

// emptyGroups are the control groups of this process' in which no process is.
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

// TestMemoryLimit has a consumer take more memory than it may: the run says so, is
// invalid, and ends.
func TestMemoryLimit(t *testing.T) {
	t.Parallel()
	confining.Lock()
	defer confining.Unlock()
	s := smallScenario(t, "greedy", "consume.memory=32MiB", "load.rate=5k/s", "load.record.size=10kB", "consume.work=100ms", "consume.parallel=partition",
		"topic.partitions=20", "phases.measure=5s", "phases.drain=5s")
	r := run(t, config(t, embedded(t, cluster.EmbeddedOptions{}), s))
	if c := r.Run.Consumer.Confined; c != nil && c.By == "runtime" {
		wantValid(t, r) // nothing forbids it the memory
		return
	}
	left := reasons(r)
	if r.Run.Verdict.Status != result.Invalid || !slices.ContainsFunc(left, func(reason string) bool {
		return strings.Contains(reason, "killed by the operating system at its memory limit of 32 MiB")
	}) {
		t.Errorf("the verdict is %s, because %q", r.Run.Verdict.Status, left)
	}
}
