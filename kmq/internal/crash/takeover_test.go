package crash

import (
	"testing"
	"testing/synctest"
	"time"
)

// A broker's clock goes an hour forward before another tracker takes over.
func TestInvariant8NeverEarlyAcrossATakeover(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		external := way{name: "markers external", engine: markersEngine, external: true}
		v, f := single(t, external, func(s *queueSpec) { s.Visibility = 8 * time.Second; s.MaxDeliveries = 0 })
		v.createMarkers(f)
		q := v.open(nil)
		end := v.tracker()
		read := func() int64 { return v.committedAt(v.spec.Group+"-tracker", v.spec.Topic+"-markers", 0) }
		work := func() {
			t.Helper()
			if err := v.produce(soon(t), 5); err != nil {
				t.Fatal(err)
			}
			ackAll(t, take(t, q, 5))
			if err := q.Flush(soon(t)); err != nil {
				t.Fatal(err)
			}
		}
		work()
		eventually(t, "the first tracker has read the first markers", func() bool { return read() > 0 })
		if err := v.produce(soon(t), 10); err != nil {
			t.Fatal(err)
		}
		lent := take(t, q, 10)
		deadline := lent[0].Deadline()
		for _, d := range lent {
			if d.Deadline().Before(deadline) {
				deadline = d.Deadline()
			}
		}
		f.brokers.SetClock(time.Hour)
		work() // with the new time
		end()
		v.tracker()
		again := take(t, q, 1)
		if early := time.Until(deadline); early > clockGrain {
			t.Errorf("record %d came %v before its deadline", number(again[0]), early)
		}
		ackAll(t, append(again, take(t, q, 9)...))
	})
}
