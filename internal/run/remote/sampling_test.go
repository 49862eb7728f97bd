package remote

import (
	"syscall"
	"testing"
	"time"

	"kafkabench.example/kafka-bench/internal/load"
	"kafkabench.example/kafka-bench/internal/measure/latency"
)

// A sampler waits once for a process that hangs, and not for long: it goes by what that
// told last. What was recorded meanwhile comes later, and all of it.
func TestSamplerWaitsForNobody(t *testing.T) {
	axis := load.NewAxis()
	axis.Set(0, time.Minute)
	var collector latency.Collector
	cs := join(t, axis, 2, nil)
	cs.AddTo(&collector)
	readToEnd(t, cs)
	before := cs.Sampled().Received()

	hung := cs.Processes()[1]
	if err := syscall.Kill(hung.PID(), syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	for range 5 {
		if got := cs.Sampled().Received(); got.Delivered != before.Delivered {
			t.Errorf("%d were delivered, and %d before", got.Delivered, before.Delivered)
		}
		collector.Collect()
		if reached := cs.Sampled().Reached(); len(reached) != cs.cfg.Group.Partitions {
			t.Errorf("it came to %+v", reached)
		}
		_ = cs.Positions()
	}
	if took := time.Since(began); took < sampleTimeout || took > 3*sampleTimeout {
		t.Errorf("five samples took %v; one that does not answer may cost %v once", took, sampleTimeout)
	}
	if !hung.Late() || cs.Processes()[0].Late() || hung.Err() != nil {
		t.Errorf("late: %v and %v; ended: %v", cs.Processes()[0].Late(), hung.Late(), hung.Err())
	}

	if err := syscall.Kill(hung.PID(), syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(5 * time.Second); hung.Late(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("it never answered")
		}
	}
	got := learn(cs, &collector)
	if want := got.received.Delivered; got.counts[latency.E2EServiceTime] != want || want == 0 {
		t.Errorf("%d times were recorded of %d records", got.counts[latency.E2EServiceTime], want)
	}
}
