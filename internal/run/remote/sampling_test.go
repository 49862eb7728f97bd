package remote

import (
	"testing"
	"testing/synctest"
	"time"

	"kafkabench.example/kafka-bench/internal/measure/latency"
	"kafkabench.example/kafka-bench/internal/measure/snapshot"
)

func TestSamplerWaitsForNobody(t *testing.T) {
	virtually(t, func(t *testing.T) {
		axis := virtualAxis()
		axis.Set(0, time.Minute)
		var collector latency.Collector
		cs := join(t, inside, axis, 2, nil)
		cs.AddTo(&collector)
		readToEnd(t, cs)
		received := func() snapshot.Received { return cs.Standing(Want{Times: true, Books: true}).Received }
		before := received()

		hung := cs.Children()[1]
		if err := hung.stand(); err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		for range 5 {
			if got := received(); got.Delivered != before.Delivered {
				t.Errorf("%d were delivered, and %d before", got.Delivered, before.Delivered)
			}
			collector.Collect()
			if reached := cs.Standing(Want{}).Reached; len(reached) != cs.cfg.Group.Partitions {
				t.Errorf("it came to %+v", reached)
			}
		}
		if took := time.Since(began); took != sampleTimeout {
			t.Errorf("five samples took %v; one that does not answer costs %v once", took, sampleTimeout)
		}
		if !hung.Late() || cs.Children()[0].Late() || hung.Err() != nil {
			t.Errorf("late: %v and %v; ended: %v", cs.Children()[0].Late(), hung.Late(), hung.Err())
		}

		if err := hung.goOn(); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if hung.Late() {
			t.Error("it has not answered")
		}
		got := learn(cs, &collector)
		if want := got.received.Delivered; got.counts[latency.E2EServiceTime] != want || want == 0 {
			t.Errorf("%d times were recorded of %d records", got.counts[latency.E2EServiceTime], want)
		}
	})
}
