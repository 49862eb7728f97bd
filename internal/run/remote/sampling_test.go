package remote

import (
	"testing"
	"testing/synctest"
	"time"

	"kafkabench.example/kafka-bench/internal/measure/latency"
)

// A sampler waits once for a process that hangs, and not for long: it goes by what that
// told last. What was recorded meanwhile comes later, and all of it.
func TestSamplerWaitsForNobody(t *testing.T) {
	virtually(t, func(t *testing.T) {
		axis := virtualAxis()
		axis.Set(0, time.Minute)
		var collector latency.Collector
		cs := join(t, inside, axis, 2, nil)
		cs.AddTo(&collector)
		readToEnd(t, cs)
		before := cs.Sampled().Received()

		hung := cs.Processes()[1]
		if err := hung.child.stand(); err != nil {
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
		if took := time.Since(began); took != sampleTimeout {
			t.Errorf("five samples took %v; one that does not answer costs %v once", took, sampleTimeout)
		}
		if !hung.child.Late() || cs.Processes()[0].child.Late() || hung.child.Err() != nil {
			t.Errorf("late: %v and %v; ended: %v", cs.Processes()[0].child.Late(), hung.child.Late(), hung.child.Err())
		}

		if err := hung.child.goOn(); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if hung.child.Late() {
			t.Error("it has not answered")
		}
		got := learn(cs, &collector)
		if want := got.received.Delivered; got.counts[latency.E2EServiceTime] != want || want == 0 {
			t.Errorf("%d times were recorded of %d records", got.counts[latency.E2EServiceTime], want)
		}
	})
}
