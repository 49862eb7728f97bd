package truth

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"kafkabench.example/kafka-bench/internal/kafka/cluster"
	"kafkabench.example/kafka-bench/internal/kafka/driver"
	"kafkabench.example/kafka-bench/internal/kafka/driver/franz"
	"kafkabench.example/kafka-bench/internal/plan/scenario"
	"kafkabench.example/kafka-bench/internal/result"
	"kafkabench.example/kafka-bench/internal/run/bench"
	"kafkabench.example/kafka-bench/internal/show/report"
)

// interrupter closes a run's interrupt at an event, as a person would.
type interrupter struct {
	phase string
	after time.Duration
	fired chan struct{}
}

func (i *interrupter) Began(string)             {}
func (i *interrupter) Interval(result.Interval) {}
func (i *interrupter) Event(e result.Event) {
	if e.Kind == "phase" && e.What == i.phase {
		time.AfterFunc(i.after, func() { close(i.fired) })
	}
}

// interruptIn is cfg, interrupted a while after a phase began.
func interruptIn(cfg bench.Config, phase string, after time.Duration) bench.Config {
	i := &interrupter{phase: phase, after: after, fired: make(chan struct{})}
	cfg.Watch, cfg.Interrupt = i, i.fired
	return cfg
}

// TestInterruptInWindow ends a run of a minute after less than a second.
func TestInterruptInWindow(t *testing.T) {
	t.Parallel()
	s := smallScenario(t, "interrupted", "phases.measure=1m", "load.rate=2k/s")
	began := time.Now()
	r := run(t, interruptIn(config(t, embedded(t, cluster.EmbeddedOptions{}), s), "measure", 700*time.Millisecond))
	if took := time.Since(began); took > 20*time.Second {
		t.Errorf("the run went on for %v", took)
	}
	wantInterrupted(t, r)
	wantValid(t, r)
	wantBalance(t, r)
	wantHistograms(t, r)
	wantSeries(t, r)
	wantWarning(t, r, "interrupted: ")
	window := time.Duration(r.Run.Run.Phases[1].EndNs)
	if window < 700*time.Millisecond || window > 10*time.Second {
		t.Errorf("the measured window is %v long, and it was interrupted after 700ms", window)
	}
	// Record i is due at i/rate: so many are due before the window's end.
	if due, got := window.Seconds()*2000, float64(r.Run.Load.Scheduled); got < due || got > due+1 {
		t.Errorf("%v records were scheduled in %v at 2000/s", got, window)
	}
	wantCount(t, "unique", r.Run.Delivery.Unique, r.Run.Load.Scheduled)
}

// TestInterruptInWarmup ends a run before there is anything to measure.
func TestInterruptInWarmup(t *testing.T) {
	t.Parallel()
	s := smallScenario(t, "early", "phases.warmup=1m")
	r := run(t, interruptIn(config(t, embedded(t, cluster.EmbeddedOptions{}), s), "warm-up", 300*time.Millisecond))
	wantInterrupted(t, r)
	wantBalance(t, r)
	wantCount(t, "scheduled in the measured window", r.Run.Load.Scheduled, 0)
	wantHistograms(t, r)
	wantSeries(t, r)
	warmup := r.Run.Run.Phases[0]
	length := time.Duration(warmup.EndNs - warmup.StartNs)
	if due, got := length.Seconds()*1000, float64(r.Run.Warmup.Load.Scheduled); got < due-1 || got > due+1 || length > 10*time.Second {
		t.Errorf("%v records were scheduled in %v of warm-up at 1000/s", got, length)
	}
	if left := reasons(r); len(left) == 0 || left[0] != "the run ended before the measured window began" {
		t.Errorf("the reasons are %q", left)
	}
}

// TestInterruptInDrain ends a run whose consumer needs a minute for the rest.
func TestInterruptInDrain(t *testing.T) {
	t.Parallel()
	s := smallScenario(t, "undrained", "phases.drain=2m", "consume.work=50ms")
	r := run(t, interruptIn(config(t, embedded(t, cluster.EmbeddedOptions{}), s), "drain", 300*time.Millisecond))
	wantInterrupted(t, r)
	wantValid(t, r)
	wantBalance(t, r)
	if r.Run.Lag.Drained || r.Run.Delivery.Pending < 900 {
		t.Errorf("drained is %v with %d pending; 1000 records take 50 s", r.Run.Lag.Drained, r.Run.Delivery.Pending)
	}
	wantCount(t, "acked", r.Run.Load.Acked, 1000)
	wantCount(t, "lost", r.Run.Delivery.Lost, 0)
}

// TestInterruptWhileSettling ends a run that waits for a client which will never
// report on some records.
func TestInterruptWhileSettling(t *testing.T) {
	t.Parallel()
	v, d := newVandal(), &tapped{Driver: franz.New()}
	d.produce = func(r *driver.Record, _ func(driver.Done)) bool { return !v.touches(r.Value) }
	s := smallScenario(t, "unsettled", "phases.drain=2m")
	cfg := withDriver(config(t, embedded(t, cluster.EmbeddedOptions{}), s), d)
	r := run(t, interruptIn(cfg, "drain", 300*time.Millisecond))
	wantInterrupted(t, r)
	wantReason(t, r, fmt.Sprintf("the client never reported on %d records", len(v.touched)))
	wantCount(t, "unique", r.Run.Delivery.Unique, 1000-int64(len(v.touched)))
}

func wantInterrupted(t *testing.T, r *result.Recorded) {
	t.Helper()
	if !r.Run.Run.Interrupted || !r.Run.Finished() {
		t.Errorf("interrupted is %v, finished %v; want both", r.Run.Run.Interrupted, r.Run.Finished())
	}
	if !slices.ContainsFunc(r.Events, func(e result.Event) bool { return e.Kind == "phase" && e.What == "interrupted" }) {
		t.Error("no event tells of the interruption")
	}
	at := r.Run.Run.Phases[0].StartNs
	for _, phase := range r.Run.Run.Phases {
		if phase.StartNs != at || phase.EndNs < phase.StartNs {
			t.Errorf("the phases do not follow on each other: %+v", r.Run.Run.Phases)
		}
		at = phase.EndNs
	}
	if err := report.Text(io.Discard, r, report.Options{}); err != nil {
		t.Errorf("the report: %v", err)
	}
}

// TestLastWorkIsDone wants a drained run to wait for the work on the last record
// that it delivered: it has a processed time, and is committed.
func TestLastWorkIsDone(t *testing.T) {
	t.Parallel()
	s := smallScenario(t, "work", "load.rate=10/s", "consume.work=150ms")
	r := run(t, config(t, embedded(t, cluster.EmbeddedOptions{}), s))
	wantValid(t, r)
	wantHistograms(t, r)
	wantCount(t, "processed", r.Run.Time["processed_response_time"].Count, 10)
	if final := r.Run.Lag.FinalRecords; final == nil || *final != 0 {
		t.Errorf("the lag at the end is %v, want 0", final)
	}
}

// TestInterruptBeforeTheRun wants nothing to be left of a run that did not begin.
func TestInterruptBeforeTheRun(t *testing.T) {
	t.Parallel()
	c := embedded(t, cluster.EmbeddedOptions{ProduceDelay: time.Millisecond})
	cfg := config(t, c, smallScenario(t, "never"))
	interrupt := make(chan struct{})
	close(interrupt)
	cfg.Interrupt = interrupt
	if r, err := tryRun(cfg); !errors.Is(err, context.Canceled) {
		t.Errorf("the run is %v, %v; want context.Canceled", r, err)
	}
	wantNothingLeft(t, c, cfg.Out)
}

// TestAbandon ends a run by its context: it is not saved, but what it had
// written can be read, and its topic is gone.
func TestAbandon(t *testing.T) {
	t.Parallel()
	c := embedded(t, cluster.EmbeddedOptions{})
	cfg := config(t, c, smallScenario(t, "abandoned", "phases.measure=1m"))
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	i := &interrupter{phase: "measure", after: 800 * time.Millisecond, fired: make(chan struct{})}
	cfg.Watch = i
	go func() {
		<-i.fired
		cancel()
	}()
	outcome, err := bench.Run(ctx, cfg)
	if !errors.Is(err, context.Canceled) {
		t.Fatalf("the run is %v, %v; want context.Canceled", outcome, err)
	}
	wantUnfinished(t, onlyRun(t, cfg.Out))
	wantNoTopics(t, c)
}

// TestKilledTool kills the tool itself (SIGKILL) in the middle of a run on an
// Apache Kafka of its own: the run can be read and rendered, and the next start
// leaves no broker of it behind. Its other processes end by themselves.
func TestKilledTool(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	tool := exec.Command(os.Args[0])
	tool.Env = append(os.Environ(), childVariable+"="+dir)
	tool.Stderr = os.Stderr
	stdout, err := tool.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := tool.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = tool.Process.Kill() })
	var broker int
	if _, err := fmt.Fscan(bufio.NewReader(stdout), &broker); err != nil {
		t.Fatalf("the tool did not get as far as measuring: %v", err)
	}
	if err := tool.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = tool.Wait() // killed, as asked

	r := onlyRun(t, filepath.Join(dir, "runs"))
	wantUnfinished(t, r)
	wantProcessesGone(t, r, 2)
	if s, err := scenario.Read(filepath.Join(r.Dir, result.ScenarioFile)); err != nil || s.Name != "killed" {
		t.Errorf("the resolved scenario is %q, %v", s.Name, err)
	}
	home, err := childHome(dir)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := home.Reap(context.Background(), nil); err != nil { // every start begins with it
		t.Error(err)
	}
	if alive(broker) {
		t.Errorf("the broker, process %d, still runs", broker)
	}
	if left, err := filepath.Glob(filepath.Join(home.Clusters, "cluster-*")); err != nil || len(left) > 0 {
		t.Errorf("of the cluster is left: %v, %v", left, err)
	}
}

// alive tells whether a process exists and is not a zombie.
func alive(pid int) bool {
	for range 100 { // a killed process takes a moment to be gone
		if syscall.Kill(pid, 0) != nil || zombie(pid) {
			return false
		}
		time.Sleep(20 * time.Millisecond)
	}
	return true
}

// zombie tells whether a process is dead and nobody has asked for its end. That
// an orphan's new parent does so late is not our concern.
func zombie(pid int) bool {
	if runtime.GOOS != "linux" {
		return false
	}
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return true
	}
	_, rest, _ := strings.Cut(string(stat), ") ")
	return strings.HasPrefix(rest, "Z")
}

// childHome is where the tool that is killed keeps its cluster: apart from those
// of other tests.
func childHome(dir string) (cluster.Home, error) {
	home, err := cluster.UserHome()
	home.Clusters = filepath.Join(dir, "clusters")
	return home, err
}

// runUntilKilled is the tool that is killed: a run of ten minutes on a Kafka of
// its own. It prints the broker's process once it measures.
func runUntilKilled(dir string) error {
	home, err := childHome(dir)
	if err != nil {
		return err
	}
	ctx := context.Background()
	k, err := home.StartKafka(ctx, cluster.KafkaOptions{HeapBytes: 256 << 20})
	if err != nil {
		return err
	}
	s, err := scenario.Parse("killed.yaml", []byte(small), "phases.measure=10m", "load.processes=2")
	if err != nil {
		return err
	}
	measuring := interruptIn(bench.Config{
		Scenario: s, Cluster: k, Driver: franz.New(), Out: filepath.Join(dir, "runs"),
	}, "measure", time.Second)
	go func() {
		<-measuring.Interrupt
		fmt.Println(k.Brokers()[0].PID())
	}()
	_, err = bench.Run(ctx, bench.Config{
		Scenario: s, Cluster: k, Driver: measuring.Driver, Out: measuring.Out, Watch: measuring.Watch, Worker: workerCommand,
	})
	return errors.Join(err, errors.New("the run ended before it was killed"))
}

// wantUnfinished checks what a run leaves that was killed on its way.
func wantUnfinished(t *testing.T, r *result.Recorded) {
	t.Helper()
	if r.Run.Finished() || r.Run.Verdict.Status != result.Invalid {
		t.Errorf("finished is %v, the verdict %s", r.Run.Finished(), r.Run.Verdict.Status)
	}
	if len(r.Run.Verdict.Reasons) != 1 || r.Run.Verdict.Reasons[0] != "the run did not finish" {
		t.Errorf("the reasons are %q", r.Run.Verdict.Reasons)
	}
	if len(r.Events) == 0 {
		t.Error("there is no event")
	}
	var acked int64
	for _, iv := range r.Intervals {
		acked += iv.Acked
	}
	if acked < 500 {
		t.Errorf("%d intervals have %d acked records, want what a second or more of 1000/s left", len(r.Intervals), acked)
	}
	if totals := histograms(t, r); totals["warmup_send_response_time"] == nil {
		t.Error("the histograms of the warm-up are not in the log")
	}
	var text strings.Builder
	if err := report.Text(&text, r, report.Options{}); err != nil {
		t.Errorf("the report: %v", err)
	}
	if !strings.Contains(text.String(), "the run did not finish") {
		t.Errorf("the report does not say that the run did not finish:\n%s", text.String())
	}
}
