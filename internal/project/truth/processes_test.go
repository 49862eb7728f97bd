package truth

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"kafkabench.example/kafka-bench/internal/kafka/cluster"
	"kafkabench.example/kafka-bench/internal/plan/scenario"
	"kafkabench.example/kafka-bench/internal/result"
)

// TestProcesses makes a run whose producers are in three processes beside one whose
// producers are all in the tool: what was offered is the same, the books balance,
// and the times are of one clock.
func TestProcesses(t *testing.T) {
	t.Parallel()
	c := embedded(t, cluster.EmbeddedOptions{ProduceDelay: longDelay})
	wantSameOfProcesses(t, c, "phases.measure=3s", "load.rate=2k/s")
}

// testProcesses is TestProcesses on an Apache Kafka, at a load that leaves two processors
// room for it: of those who go short, one process goes shorter than four.
func testProcesses(t *testing.T) {
	wantSameOfProcesses(t, realKafka(t), "phases.measure=5s", "load.rate=500/s")
}

func wantSameOfProcesses(t *testing.T, c cluster.Cluster, overrides ...string) {
	t.Helper()
	here, apart := wantSameApart(t, c, "load.processes=3", []string{pacerLateness, "send_response_time", "e2e_service_time", "e2e_response_time"},
		append(overrides, "load.producers=5", "topic.partitions=3")...)
	if a, b := here.Run.Process.RSSPeakBytes, apart.Run.Process.RSSPeakBytes; a != nil && *b < 10<<20+*a/3 {
		t.Errorf("four processes take %d bytes, one %d", *b, *a)
	}
	if a, b := here.Run.Load.WireBytes, apart.Run.Load.WireBytes; *b < *a/2 || *b > *a*2 {
		t.Errorf("%d bytes were written apart, %d here", *b, *a)
	}
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

// TestProcessKilled kills one of the processes: the run goes to its end, and is
// invalid for that reason.
func TestProcessKilled(t *testing.T) {
	t.Parallel()
	s := smallScenario(t, "bereft", "load.producers=4", "load.processes=3", "phases.drain=5s")
	cfg := config(t, embedded(t, cluster.EmbeddedOptions{}), s)
	cfg.Watch = killer("process 1")
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
			r := undisturbed(t, func() *result.Recorded { return sharedRun(t, s) }, readAbove300)
			if shows := readAbove300(r); shows != "" {
				t.Error(shows)
			}
		})
	}
}

// sharedRun makes a run of three processes that share a bound of 300 and have more to
// send, and wants the lag to have been below it wherever that is certain.
func sharedRun(t *testing.T, s scenario.Scenario) *result.Recorded {
	t.Helper()
	c := embedded(t, cluster.EmbeddedOptions{})
	r := run(t, config(t, c, s))
	wantValid(t, r)
	wantBalance(t, r)
	b := r.Run.Backpressure
	if b == nil || b.BoundRecords == nil {
		t.Fatalf("there was no bound: %+v", b)
	}
	if last := b.BoundRecords.Last; b.Processes != 3 || b.Share != s.Backpressure.Share || last > 300 || last < 290 {
		t.Errorf("the bound was %d of %d processes, %s; want 300 of 3, %s", last, b.Processes, b.Share, s.Backpressure.Share)
	}
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
	return r
}

// readAbove300 says that the lag was once read above 300. A reading holds no other
// process up: what is committed in the midst of it counts in the peak beside the records
// that took its place, and on a busy machine it takes long.
func readAbove300(r *result.Recorded) string {
	b, peak := r.Run.Backpressure, r.Run.Lag.PeakRecords
	if b.PeakLagToBound == nil || *b.PeakLagToBound > 1 || peak == nil || *peak > 300 {
		return fmt.Sprintf("the peak of the lag was read as %s, %s of the bound", records(peak), ratio(b.PeakLagToBound))
	}
	return ""
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
