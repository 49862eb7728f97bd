//go:build full

package remote

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"kafkabench.example/kafka-bench/internal/load"
	"kafkabench.example/kafka-bench/internal/measure/latency"
	"kafkabench.example/kafka-bench/internal/measure/snapshot"
)

func outside(place int) (*Child, error) { return StartChild(place, childCommand) }

func readSome(cs *Consumers, partition int) {
	for cs.Standing(Want{}).Reached[partition].Delivered == 0 {
		time.Sleep(time.Millisecond)
	}
}

// The books of a killed process are kept. The test's records then begin anew, so those that the
// process had read count as duplicates.
func TestKilledProcess(t *testing.T) {
	axis := load.NewAxis(nil)
	axis.Set(0, time.Minute)
	cs := join(t, outside, axis, 3, nil)
	var collector latency.Collector
	cs.AddTo(&collector)
	readSome(cs, 1)
	pid := cs.places[1].process.PID()
	loss, err := cs.Kill(1)
	if err != nil || !slices.Equal(loss.Partitions, []int32{1, 4}) || loss.Uncommitted == 0 {
		t.Fatalf("it lost %+v, %v", loss, err)
	}
	if !gone(pid) || cs.Err() != nil {
		t.Errorf("the process is gone: %v, and that is no error: %v", gone(pid), cs.Err())
	}
	if _, err := cs.Kill(1); err == nil {
		t.Error("it was killed twice")
	}
	before := cs.Standing(Want{Books: true}).Reached
	if before[1].Delivered+before[4].Delivered != loss.Uncommitted {
		t.Errorf("it was handed %d and %d, and has not committed %d", before[1].Delivered, before[4].Delivered, loss.Uncommitted)
	}
	collector.Collect()
	if err := cs.Start(1); err != nil {
		t.Fatal(err)
	}
	if err := cs.Start(1); err == nil {
		t.Error("it was started twice")
	}
	readToEnd(t, cs)
	all := learn(cs, &collector)
	b := all.books
	if dup := b.Warmup.Duplicates + b.Measured.Duplicates; dup != loss.Uncommitted || all.received.Duplicates() != dup {
		t.Errorf("%d duplicates, %d when they came; want %d", dup, all.received.Duplicates(), loss.Uncommitted)
	}
	if b.Warmup.Unique+b.Measured.Unique != 5*tapeRecords || b.Measured.Lost != 0 || b.Approximate || len(b.Measured.Imbalance()) > 0 {
		t.Errorf("the books are %+v", b)
	}
	if n := all.counts[latency.E2EServiceTime]; n != 5*tapeRecords {
		t.Errorf("%d records have a time, want %d", n, 5*tapeRecords)
	}
}

func TestPausedProcess(t *testing.T) {
	axis := load.NewAxis(nil)
	axis.Set(0, time.Minute)
	cs := join(t, outside, axis, 3, nil)
	readSome(cs, 1)
	process := cs.places[1].process
	how, err := cs.Pause(1)
	if err != nil || !strings.Contains(how, fmt.Sprintf("pid %d) is paused (SIGSTOP)", process.PID())) {
		t.Fatalf("paused by %q, %v", how, err)
	}
	if _, err := cs.Pause(1); err == nil {
		t.Error("it was paused twice")
	}
	if running(process) || process.Ended() {
		t.Error("it runs, or has ended")
	}
	reached := func() []snapshot.Reached { return cs.Standing(Want{Books: true}).Reached }
	at := reached()
	now := at
	for ; now[0].Position < tapeRecords; now = reached() { // the others go on
		time.Sleep(time.Millisecond)
	}
	if now[1].Position != at[1].Position || now[1].Position == 0 {
		t.Errorf("positions went from %+v to %+v", at, now)
	}
	if _, err := process.Do(Command{Do: Hold}); !errors.Is(err, errNotRunning) {
		t.Errorf("it was asked: %v", err)
	}
	if err := cs.Resume(1); err != nil {
		t.Error(err)
	}
	if err := cs.Resume(1); err == nil {
		t.Error("it was resumed twice")
	}
	readToEnd(t, cs)

	if _, err := cs.Pause(0); err != nil { // it is not resumed
		t.Error(err)
	}
	if _, err := cs.Pause(2); err != nil {
		t.Error(err)
	}
	if loss, err := cs.Kill(2); err != nil || loss.Uncommitted != tapeRecords { // partition 2
		t.Errorf("a process that stood still lost %+v, %v", loss, err)
	}
	var collector latency.Collector
	cs.AddTo(&collector)
	all := learn(cs, &collector)
	if b := all.books; b.Warmup.Unique+b.Measured.Unique != 5*tapeRecords || b.Measured.Duplicates != 0 {
		t.Errorf("the books are %+v", b)
	}
	if n := all.counts[latency.E2EServiceTime]; n != 5*tapeRecords {
		t.Errorf("%d records have a time, want %d", n, 5*tapeRecords)
	}
	if cs.Err() != nil || slices.ContainsFunc(cs.Children(), func(c *Child) bool { return !gone(c.PID()) }) {
		t.Errorf("a process is left, or %v", cs.Err())
	}
}

func TestConsumersOfADeadProcess(t *testing.T) {
	axis := load.NewAxis(nil)
	axis.Set(0, time.Minute)
	cs := join(t, outside, axis, 3, nil)
	readSome(cs, 1)
	at := cs.Standing(Want{Books: true}).Reached
	_ = syscall.Kill(cs.places[1].process.PID(), syscall.SIGKILL)
	for cs.Dead() == nil {
		time.Sleep(time.Millisecond)
	}
	for _, err := range []error{cs.Dead(), cs.Err(), cs.AwaitReady(context.Background())} {
		if err == nil || !strings.Contains(err.Error(), "process 1") || !strings.Contains(err.Error(), "killed") {
			t.Errorf("of the dead process it is said: %v", err)
		}
	}
	if _, err := cs.Kill(1); err == nil {
		t.Error("it was killed")
	}
	if now := cs.Standing(Want{Books: true}).Reached; now[1].Position < at[1].Position || now[1].Arrived < at[1].Arrived {
		t.Errorf("it had come to %+v, and now to %+v", at[1], now[1])
	}
	cs.Stop(context.Background())
	if b := cs.Receivers()[1]; b.Unique() == 0 {
		t.Error("nothing of it is in the books")
	}
}

func TestStillChildOfADeadParent(t *testing.T) { wakesStillChild(t) }

func wakesStillChild(t *testing.T) {
	t.Helper()
	parent := exec.Command(childCommand[0], orphanWord)
	out, err := parent.Output()
	if err != nil {
		t.Fatal(err)
	}
	var pid int
	if _, err := fmt.Sscan(string(out), &pid); err != nil {
		t.Fatal(err)
	}
	for !ended(pid) {
		time.Sleep(10 * time.Millisecond)
	}
}

func ended(pid int) bool {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return gone(pid) || err == nil && strings.Contains(string(status), ") Z ")
}

func BenchmarkStanding(b *testing.B) {
	axis := load.NewAxis(nil)
	axis.Set(0, time.Minute)
	cs := join(b, outside, axis, 3, nil)
	var collector latency.Collector
	cs.AddTo(&collector)
	for b.Loop() {
		cs.Standing(Want{Times: true, Books: true})
		collector.Collect()
	}
}
