package truth

import (
	"fmt"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"kafka-bench/internal/bench"
	"kafka-bench/internal/cluster"
	"kafka-bench/internal/result"
)

// TestProcesses makes a run whose producers are in three processes beside one whose
// producers are all in the tool: what was offered is the same, the books balance,
// and the times are of one clock.
func TestProcesses(t *testing.T) {
	t.Parallel()
	c := embedded(t, cluster.EmbeddedOptions{})
	wantSameOfProcesses(t, c, "phases.measure=3s")
}

// testProcesses is TestProcesses on an Apache Kafka.
func testProcesses(t *testing.T) { wantSameOfProcesses(t, realKafka(t), "phases.measure=5s") }

func wantSameOfProcesses(t *testing.T, c cluster.Cluster, overrides ...string) {
	overrides = append(overrides, "load.producers=5", "load.rate=2k/s", "topic.partitions=3")
	pair := unstarved(t, func() []*result.Recorded {
		return runTogether(t,
			config(t, c, smallScenario(t, "here", overrides...)),
			config(t, c, smallScenario(t, "apart", append(overrides, "load.processes=3")...)))
	})
	here, apart := pair[0], pair[1]
	for _, r := range pair {
		wantValid(t, r)
		wantBalance(t, r)
		wantHistograms(t, r)
		wantSeries(t, r)
		if !r.Run.Lag.Drained || r.Run.Delivery.Lost+r.Run.Delivery.Duplicates+r.Run.Delivery.Foreign != 0 {
			t.Errorf("%s: %+v", r.Run.Run.Name, r.Run.Delivery)
		}
	}
	wantCount(t, "scheduled apart", apart.Run.Load.Scheduled, here.Run.Load.Scheduled)
	wantCount(t, "scheduled apart in the warm-up", apart.Run.Warmup.Load.Scheduled, here.Run.Warmup.Load.Scheduled)
	wantCount(t, "bytes apart", apart.Run.Load.Bytes, here.Run.Load.Bytes)
	wantCount(t, "unique apart", apart.Run.Delivery.Unique, here.Run.Delivery.Unique)
	for _, metric := range []string{"pacer_lateness", "send_response_time", "e2e_service_time", "e2e_response_time"} {
		a, b := here.Run.Time[metric], apart.Run.Time[metric]
		wantCount(t, metric+" apart", b.Count, a.Count)
		if b.MinNs < 0 || b.MinNs == 0 && metric != "pacer_lateness" {
			t.Errorf("%s was once %d ns: the clocks differ", metric, b.MinNs)
		}
		// Of thousands of times the least is the one that a busy machine does not make longer,
		// and clocks that are apart show in it.
		if apart := time.Duration(b.MinNs - a.MinNs).Abs(); apart > 10*time.Millisecond {
			t.Errorf("%s: the least is %v apart, %v here", metric, time.Duration(b.MinNs), time.Duration(a.MinNs))
		}
	}
	if a, b := here.Run.Process.RSSPeakBytes, apart.Run.Process.RSSPeakBytes; a != nil && *b < 10<<20+*a/3 {
		t.Errorf("four processes take %d bytes, one %d", *b, *a)
	}
	if a, b := here.Run.Load.WireBytes, apart.Run.Load.WireBytes; *b < *a/2 || *b > *a*2 {
		t.Errorf("%d bytes were written apart, %d here", *b, *a)
	}
	wantProcessesGone(t, apart, 3)
}

// processes are the numbers of the processes that a run says it started.
func processes(events []result.Event) (pids []int) {
	for _, e := range events {
		if pid, err := strconv.Atoi(fmt.Sprint(e.Data["pid"])); err == nil && e.Kind == "process" {
			pids = append(pids, pid)
		}
	}
	return pids
}

// wantProcessesGone wants nothing to be left of so many processes of a run.
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

// assassin kills the second process of a run in its measured window.
type assassin struct {
	mu   sync.Mutex
	pids []int
}

func (a *assassin) Began(string)             {}
func (a *assassin) Interval(result.Interval) {}
func (a *assassin) Event(e result.Event) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if pid, told := e.Data["pid"].(int); told {
		a.pids = append(a.pids, pid)
	}
	if e.Kind == "phase" && e.What == "measure" {
		pid := a.pids[1]
		time.AfterFunc(300*time.Millisecond, func() { _ = syscall.Kill(pid, syscall.SIGKILL) })
	}
}

// TestProcessKilled kills one of the processes: the run goes to its end, and is
// invalid for that reason.
func TestProcessKilled(t *testing.T) {
	t.Parallel()
	s := smallScenario(t, "bereft", "load.producers=4", "load.processes=3", "phases.drain=5s")
	cfg := config(t, embedded(t, cluster.EmbeddedOptions{}), s)
	cfg.Watch = &assassin{}
	began := time.Now()
	r := run(t, cfg)
	if took := time.Since(began); took > 20*time.Second {
		t.Errorf("the run took %v", took)
	}
	left := reasons(r)
	if r.Run.Verdict.Status != result.Invalid || len(left) == 0 || !strings.HasPrefix(left[0], "a process ended before the run did: process 1 (pid ") || !strings.Contains(left[0], "killed") {
		t.Errorf("the verdict is %s, because %q", r.Run.Verdict.Status, left)
	}
	told := 0
	for _, e := range r.Events {
		if e.Kind == "error" && e.What == "process 1 ended before the run did" {
			told++
		}
	}
	if told != 1 {
		t.Errorf("%d events tell of the process that was killed", told)
	}
	if r.Run.Delivery.Delivered == 0 {
		t.Error("nothing of the others is in the result")
	}
	wantProcessesGone(t, r, 3)
}

// TestProcessesInterrupted ends a run of several processes early: all of them offer
// what was due before its end, and no more.
func TestProcessesInterrupted(t *testing.T) {
	t.Parallel()
	s := smallScenario(t, "interrupted", "phases.measure=1m", "load.rate=2k/s", "load.processes=2")
	r := run(t, interruptIn(config(t, embedded(t, cluster.EmbeddedOptions{}), s), "measure", 700*time.Millisecond))
	wantInterrupted(t, r)
	wantValid(t, r)
	wantBalance(t, r)
	wantHistograms(t, r)
	window := time.Duration(r.Run.Run.Phases[1].EndNs)
	if due, got := window.Seconds()*2000, float64(r.Run.Load.Scheduled); got < due || got > due+1 {
		t.Errorf("%v records were scheduled in %v at 2000/s", got, window)
	}
	wantProcessesGone(t, r, 2)
}

// TestProcessesKeepABound has the gates of three processes share a bound, in equal parts
// for good or by demand.
func TestProcessesKeepABound(t *testing.T) {
	t.Parallel()
	for _, share := range []string{"static", "demand"} {
		t.Run(share, func(t *testing.T) {
			t.Parallel()
			s := smallScenario(t, "shared-"+share, "load.producers=3", "load.processes=3", "load.rate=3k/s", "phases.warmup=3s", "phases.measure=3s",
				"consume.work=2ms", "backpressure.controller=credit", "backpressure.max_lag=300", "backpressure.poll=20ms",
				"backpressure.excess=shed", "backpressure.share="+share, "sampling.lag=20ms")
			c := embedded(t, cluster.EmbeddedOptions{})
			r := run(t, config(t, c, s))
			wantValid(t, r)
			wantBalance(t, r)
			b := r.Run.Backpressure
			if b == nil || b.Processes != 3 || b.Share != share || b.BoundRecords == nil || b.BoundRecords.Last > 300 || b.BoundRecords.Last < 290 {
				t.Fatalf("the bound was %+v of %+v", b.BoundRecords, b)
			}
			// A reading holds no other process up: what is committed in the midst of it counts
			// in the peak beside the records that took its place, the more the longer it takes.
			// What the lag was at the least tells for certain.
			if b.PeakAtLeastToBound == nil || *b.PeakAtLeastToBound > 1 || b.PeakLagToBound == nil || *b.PeakLagToBound < 0.3 {
				t.Errorf("the peak of the lag ÷ the bound is %s to %s", ratio(b.PeakAtLeastToBound), ratio(b.PeakLagToBound))
			}
			if peak := r.Run.Lag.PeakAtLeastRecords; peak == nil || *peak > 300 {
				t.Errorf("the peak of the lag is %s at the least, with a bound of 300", records(peak))
			}
			if b.Refused == 0 || r.Run.Load.Shed == 0 {
				t.Errorf("%d were refused, %d shed: nothing was held back", b.Refused, r.Run.Load.Shed)
			}
			wantNoTopics(t, c)
		})
	}
}

// records prints a number of records that may be missing.
func records(n *int64) string {
	if n == nil {
		return "unknown"
	}
	return fmt.Sprint(*n)
}

// ratio prints a ratio that may be missing.
func ratio(r *float64) string {
	if r == nil {
		return "unknown"
	}
	return fmt.Sprintf("%.3f", *r)
}

// TestNoCommandForProcesses: a run that can't start its processes is none.
func TestNoCommandForProcesses(t *testing.T) {
	t.Parallel()
	c := embedded(t, cluster.EmbeddedOptions{ProduceDelay: time.Millisecond})
	for _, command := range [][]string{nil, {t.TempDir() + "/nothing"}} {
		cfg := config(t, c, smallScenario(t, "never", "load.processes=2"))
		cfg.Worker = command
		if r, err := tryRun(cfg); err == nil {
			t.Errorf("the run is %v", r)
		}
		wantNothingLeft(t, c, cfg.Out)
	}
}

var _ bench.Watcher = (*assassin)(nil)
