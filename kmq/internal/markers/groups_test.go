package markers

import (
	"testing"
	"testing/synctest"
	"time"

	"kafkabench.example/kafka-bench/kmq/internal/engine"
)

// Two groups that read one topic, and have their markers in one topic too, as they have by
// default, know nothing of each other: what one acknowledges stays lent to the other.
func TestGroupsShareAMarkersTopic(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 1, visible(2*time.Second))
		w.produce(0, 20)
		holds := w.open()
		w.receive(holds, 20)

		other := *w
		other.cfg.Group += "-other"
		acks := other.open()
		other.ack(acks, other.receive(acks, 20)...)
		other.flush(acks)

		again := w.receive(holds, 20)
		for _, l := range again {
			if l.Attempt != 2 {
				t.Errorf("record %v: attempt %d", l.Origin, l.Attempt)
			}
		}
		w.ack(holds, again...)
		for _, l := range other.receive(acks, 20) { // the copies, counted on: see FromRecord
			if l.Attempt != 2 || l.Origin.Offset >= 20 || l.At.Offset < 20 {
				t.Errorf("a copy of the other group: record %v at %v, attempt %d", l.Origin, l.At, l.Attempt)
			}
			other.ack(acks, l)
		}
		for of, q := range map[string]engine.Engine{"the one that held": holds, "the other": acks} {
			if c := q.Counts(); c.DeadLettered+c.Missing > 0 {
				t.Errorf("%s: %+v", of, c)
			}
		}
	})
}
