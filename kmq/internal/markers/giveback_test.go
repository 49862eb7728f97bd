package markers

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"kafkabench.example/kafka-bench/kmq/internal/engine"
	"kafkabench.example/kafka-bench/kmq/internal/lease"
	"kafkabench.example/kafka-bench/kmq/internal/marker"
)

// A holder that lost its partition without knowing it must not cut short the time of the
// next one.
func TestReleaseByAnotherHolder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 1, visible(2*time.Second), func(c *engine.Config) { c.ExternalTracker = true })
		w.produce(0, 1)
		q := w.open()
		l := w.receive(q, 1)[0]
		other := newOutbox(q.writer, &w.cfg, q.holder+1)
		other.put(fact{partition: 0, kind: marker.Release}, l.At.Offset)
		if err := other.flush(w.ctx); err != nil {
			t.Fatal(err)
		}
		other.end()
		<-other.done
		tr, err := NewTracker(w.ctx, w.cfg)
		if err != nil {
			t.Fatal(err)
		}
		defer tr.Close(w.ctx)
		again := w.receive(q, 1)[0]
		if early := time.Until(l.Deadline()); early > 0 {
			t.Errorf("delivered again %v before the deadline of its holder", early)
		}
		w.ack(q, again)
	})
}

// What is not known to be started is not given back: it is not committed, and others read
// it again.
func TestOnlyWhatIsStartedIsGivenBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 1)
		q := w.open()
		for i, as := range []uint8{0, begun, begun | handed} {
			l := lease.FromRecord(&kgo.Record{Offset: int64(i)})
			q.set.Add(l, time.Now().Add(time.Hour))
			q.mark([]*lease.Lease{l}, as)
		}
		q.giveBack()
		w.flush(q)
		released := map[int64]bool{}
		for _, m := range w.markers(0) {
			released[m.Offset] = m.Undelivered
		}
		if undelivered, ok := released[1]; len(released) != 2 || !ok || !undelivered || released[2] {
			t.Errorf("released, and undelivered: %v", released)
		}
	})
}
