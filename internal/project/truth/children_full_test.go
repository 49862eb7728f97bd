//go:build full

package truth

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"kafkabench.example/kafka-bench/internal/kafka/cluster"
	"kafkabench.example/kafka-bench/internal/result"
	"kafkabench.example/kafka-bench/internal/run/observe"
)

// Runs with real processes on a real clock: the tests assert counts, states and reasons.

func loopback(t *testing.T) *cluster.Embedded {
	t.Helper()
	e, err := cluster.StartEmbedded(cluster.EmbeddedOptions{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = e.Stop(context.Background()) })
	return e
}

func processes(events []result.Event) (pids []int) {
	for _, e := range events {
		if pid, err := strconv.Atoi(fmt.Sprint(e.Data["pid"])); err == nil && e.Kind == "process" {
			pids = append(pids, pid)
		}
	}
	return pids
}

func wantProcessesGone(t *testing.T, r *result.Recorded, n int) {
	t.Helper()
	pids := processes(r.Events)
	if len(pids) != n {
		t.Errorf("the run had the processes %v, want %d", pids, n)
	}
	for _, pid := range pids {
		if alive(pid) {
			t.Errorf("process %d of the run is still there", pid)
		}
	}
}

// The run does not wait for undeliverable records. It is invalid only for the kill, and for records
// that a killed producer did not offer.
func TestProcessKilled(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		who, reason string
		unoffered   int // number of reasons for records that were not offered
		processes   int
		overrides   []string
	}{
		{"process 1", "a process ended before the run did: ", 1, 3, []string{"load.producers=3", "load.processes=3"}},
		{"process 1 of the consumers", "a consumer ended before the run did: ", 0, 2, []string{"consume.consumers=2", "consume.processes=2", "consume.session_timeout=6s"}},
	} {
		t.Run(c.who, func(t *testing.T) {
			t.Parallel()
			cfg := config(t, loopback(t), smallScenario(t, "bereft", append(c.overrides, "phases.drain=1h")...))
			cfg.Watch = &outsider{who: c.who, sends: map[time.Duration]syscall.Signal{0: syscall.SIGKILL}}
			r := run(t, cfg)
			left := reasons(r)
			unoffered := func(why string) bool { return strings.Contains(why, " records came due, but the schedule has ") }
			others := slices.DeleteFunc(slices.Clone(left), unoffered)
			if r.Run.Verdict.Status != result.Invalid || len(others) != 1 || len(left) != 1+c.unoffered ||
				!strings.HasPrefix(left[0], c.reason+c.who+" (pid ") || !strings.Contains(left[0], "killed") {
				t.Errorf("the verdict is %s, because %q", r.Run.Verdict.Status, left)
			}
			told := 0
			for _, e := range r.Events {
				if e.Kind == "error" && e.What == c.who+" ended before the run did" {
					told++
				}
			}
			wantCount(t, "events that tell of the process that was killed", int64(told), 1)
			if r.Run.Delivery.Delivered == 0 {
				t.Error("nothing of the others is in the result")
			}
			wantProcessesGone(t, r, c.processes)
		})
	}
}

// Uncommitted records come twice, nothing is lost, and the books balance. The consumer commits nothing before
// it is killed: the answer to a commit that is under way then would be lost, and the number only a bound.
func TestKilledProcess(t *testing.T) {
	t.Parallel()
	s := smallScenario(t, "killed-apart", "consume.processes=2", "topic.partitions=4", "consume.consumers=2",
		"consume.commit=1h", "consume.session_timeout=6s", "phases.measure=2s",
		"faults=[{at: 600ms, kill: consumer 1}, {at: 1200ms, start: consumer 1}]")
	r := run(t, config(t, loopback(t), s))
	wantValid(t, r)
	wantBalance(t, r)
	wantSeries(t, r)
	wantHistograms(t, r)
	wantCount(t, "unique", r.Run.Delivery.Unique, r.Run.Load.Acked)
	wantCount(t, "lost", r.Run.Delivery.Lost, 0)
	wantProcesses(t, r, "run", "process 0 of the consumers", "process 1 of the consumers")
	wantRebalances(t, r)
	if len(r.Run.Faults) != 2 || r.Run.Faults[0].Name != "kill" || r.Run.Faults[0].EndNs == nil {
		t.Fatalf("the faults are %+v", r.Run.Faults)
	}
	duplicates := r.Run.Warmup.Delivery.Duplicates + r.Run.Delivery.Duplicates
	words := strings.Fields(strings.ReplaceAll(r.Run.Faults[0].Detail, ",", ""))
	at := slices.Index(words, "committed")
	if at < 0 || at+1 == len(words) || words[at+1] != fmt.Sprint(duplicates) {
		t.Errorf("%d duplicates, and the fault's detail is %q", duplicates, r.Run.Faults[0].Detail)
	}
	wantProcessesGone(t, r, 3)
}

// The partitions of a stopped process rest without a rebalance.
func TestPausedProcess(t *testing.T) {
	t.Parallel()
	s := smallScenario(t, "paused", "consume.consumers=2", "consume.processes=2", "phases.measure=2s",
		"faults=[{at: 500ms, pause: consumer 1}, {at: 1500ms, resume: consumer 1}]")
	r := run(t, config(t, loopback(t), s))
	wantValid(t, r)
	wantBalance(t, r)
	wantHistograms(t, r)
	wantCount(t, "unique", r.Run.Delivery.Unique, r.Run.Load.Acked)
	wantCount(t, "rebalances", r.Run.Consumer.Rebalances, 0)
	if len(r.Run.Faults) != 2 || !strings.Contains(r.Run.Faults[0].Detail, "SIGSTOP") {
		t.Errorf("the faults are %+v", r.Run.Faults)
	}
	wantProcessesGone(t, r, 2)
}

// outsider sends signals to one process of a run, without the run's knowledge.
type outsider struct {
	who   string
	sends map[time.Duration]syscall.Signal // by time in the measured window

	mu  sync.Mutex
	pid int
}

var _ observe.Watcher = (*outsider)(nil)

func (o *outsider) Began(string)             {}
func (o *outsider) Interval(result.Interval) {}
func (o *outsider) Event(e result.Event) {
	o.mu.Lock()
	defer o.mu.Unlock()
	switch {
	case e.Kind == "process" && strings.HasPrefix(e.What, o.who) && strings.HasSuffix(e.What, " started"):
		o.pid, _ = e.Data["pid"].(int)
	case e.Kind == "phase" && e.What == "measure":
		pid := o.pid
		for after, signal := range o.sends {
			time.AfterFunc(after, func() { _ = syscall.Kill(pid, signal) })
		}
	}
}

// The last process was killed and replaced.
func wantProcesses(t *testing.T, r *result.Recorded, names ...string) {
	t.Helper()
	pids := make(map[string][]int)
	for _, iv := range r.Intervals {
		for _, p := range iv.Processes {
			if p.HeapBytes == nil {
				continue
			}
			if *p.HeapBytes <= 0 || *p.Goroutines <= 0 || p.GCPauseNs != nil && *p.GCPauseNs < 0 {
				t.Errorf("until %d: %s has a heap of %d and %d goroutines", iv.EndNs, p.Name, *p.HeapBytes, *p.Goroutines)
			}
			if !slices.Contains(pids[p.Name], p.PID) {
				pids[p.Name] = append(pids[p.Name], p.PID)
			}
		}
	}
	for i, name := range names {
		want := 1
		if i == len(names)-1 {
			want = 2
		}
		if len(pids[name]) != want {
			t.Errorf("%s was the processes %v, want %d", name, pids[name], want)
		}
	}
	wantCount(t, "names of processes", int64(len(pids)), int64(len(names)))
}

func wantRebalances(t *testing.T, r *result.Recorded) {
	t.Helper()
	changes := make(map[any]int)
	for _, e := range r.Events {
		if e.Kind != "rebalance" {
			continue
		}
		changes[e.Data["change"]]++
		what := fmt.Sprintf("consumer %v ", e.Data["consumer"])
		partitions, _ := e.Data["partitions"].([]any)
		if e.Data["group"] != r.Run.Run.Group || len(partitions) == 0 || e.Data["process"] == nil ||
			!strings.HasPrefix(e.What, what) || !strings.HasSuffix(e.What, fmt.Sprint(partitions)) {
			t.Errorf("of %q there is %v", e.What, e.Data)
		}
	}
	if changes["assigned"] == 0 || changes["assigned"]+changes["revoked"]+changes["lost"] < 2 || changes[nil] > 0 {
		t.Errorf("the changes are %v", changes)
	}
}
