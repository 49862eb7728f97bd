//go:build full

package remote

import (
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"kafkabench.example/kafka-bench/internal/load"
	"kafkabench.example/kafka-bench/internal/measure/ledger"
)

func TestProducersOfADeadProcess(t *testing.T) {
	axis := load.NewAxis(nil)
	children := start(t, 3)
	ps := open(t, children, axis, Version, "")
	go func() {
		scheduled := func() int64 { return ps.Snapshot(Want{}).Sent[1].Scheduled }
		for scheduled() == 0 {
			time.Sleep(time.Millisecond)
		}
		_ = syscall.Kill(children[1].PID(), syscall.SIGKILL)
		for ps.Err() == nil {
			time.Sleep(time.Millisecond)
		}
		for dead := scheduled(); scheduled() < dead+100; {
			time.Sleep(time.Millisecond)
		}
		ps.EndAt(axis.Now())
	}()
	got := offer(t, ps, axis, time.Minute)
	if err := ps.Err(); err == nil || !strings.Contains(err.Error(), "process 1") || !strings.Contains(err.Error(), "killed") {
		t.Errorf("of the dead process it is said: %v", err)
	}
	// Process 1 has two of the five workers and did not finish.
	if n, all := float64(got.measured.Scheduled), 2000*time.Duration(got.end).Seconds(); n < all*3/5-workers || n >= all {
		t.Errorf("%v records came due, of %v of all workers", n, all)
	}
	if behind := ps.Snapshot(Want{Awaited: slices.Repeat([][]ledger.Awaited{make([]ledger.Awaited, workers)}, partitions)}).Behind; behind.AckedIn[0] == 0 || behind.OldestDueNs[0] >= 0 {
		t.Errorf("the others are forgotten: %+v", behind)
	}
	if ps.Snapshot(Want{}).Traffic.Counted {
		t.Error("the traffic of a dead process is counted")
	}
}
