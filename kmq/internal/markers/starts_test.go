package markers

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"

	"kafkabench.example/kafka-bench/kmq/internal/engine"
	"kafkabench.example/kafka-bench/kmq/internal/lease"
	"kafkabench.example/kafka-bench/kmq/internal/marker"
)

// countOf returns for how many records of a partition there are markers of a type.
func (w *world) countOf(partition int32, of marker.Type) (n int) {
	w.Helper()
	for _, m := range w.markers(partition) {
		if m.Type == of {
			n += int(m.Count)
		}
	}
	return n
}

// When a Receive returns, its records have a durable start with their leader epoch, and are committed.
// Records that nobody received have none.
func TestStartIsDurableBeforeTheHandOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 1, func(c *engine.Config) { c.CommitEvery = time.Hour })
		w.produce(0, 20)
		q := w.open()
		for n := 4; n <= 12; n += 4 {
			ls := w.receive(q, 4)
			if got := w.countOf(0, marker.Start); got != n {
				t.Errorf("%d records received, %d starts", n, got)
			}
			if got := w.committed(w.cfg.Group, w.cfg.Topic, 0); got != int64(n) {
				t.Errorf("%d records received, committed up to %d", n, got)
			}
			w.ack(q, ls...)
		}
		w.flush(q)
		for _, m := range w.markers(0) {
			if (m.Type == marker.Start || m.Type == marker.End) && m.Epoch < 0 {
				t.Errorf("%v without an epoch", m.Type)
			}
		}
	})
}

// A start that is refused for good ends the queue, and its record is not committed.
func TestARefusedStartEndsTheQueue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 1, func(c *engine.Config) { c.ExternalTracker = true })
		q := w.open()
		w.fake.Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.Produce}, Topic: w.cfg.MarkersTopic, Err: kerr.TopicAuthorizationFailed, Count: -1})
		w.produce(0, 1)
		if _, err := engine.Receive(w.ctx, q, 1); !errors.Is(err, kerr.TopicAuthorizationFailed) {
			t.Errorf("receive: %v", err)
		}
		if got := w.committed(w.cfg.Group, w.cfg.Topic, 0); got > 0 {
			t.Errorf("committed up to %d", got)
		}
	})
}

// If the context of a Receive ends while starts are written, the next Receive returns the records, and in
// order.
func TestReceiveThatEndsBeforeTheStarts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 1)
		w.produce(0, 10)
		q := w.open()
		w.until("they are fetched", func() bool { return q.Counts().InFlight == 10 })
		stuck := w.fake.Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.Produce}, Topic: w.cfg.MarkersTopic, Err: kerr.NotEnoughReplicas, Count: -1})
		ctx, cancel := contextFor(w, time.Second)
		defer cancel()
		if ls, err := engine.Receive(ctx, q, 4); !errors.Is(err, context.DeadlineExceeded) {
			t.Fatalf("received %d without starts, %v", len(ls), err)
		}
		stuck.Remove()
		time.Sleep(2 * time.Second) // the starts become durable
		over, cancel := contextFor(w, 0)
		defer cancel()
		ls, err := engine.Receive(over, q, 3)
		if err != nil {
			t.Fatal(err)
		}
		for i, l := range append(ls, w.receive(q, 7)...) {
			if l.At.Offset != int64(i) || l.Attempt != 1 {
				t.Errorf("%v, attempt %d, comes as record %d", l.At, l.Attempt, i)
			}
			w.ack(q, l)
		}
	})
}

// A holder that lost its partition without knowing it must not cut short the time of the next one.
func TestReleaseByAnotherHolder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 1, visible(2*time.Second), func(c *engine.Config) { c.ExternalTracker = true })
		w.produce(0, 1)
		q := w.open()
		l := w.receive(q, 1)[0]
		other := newOutbox(q.writer, &w.cfg, q.holder+1)
		defer other.close()
		other.put(fact{kind: marker.Release}.about(l), l.At.Offset, true)
		if err := other.flush(w.ctx); err != nil {
			t.Fatal(err)
		}
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

// If it is not known whether an extension is in the log, the earlier of the two deadlines holds here.
func TestExtensionThatMayBeInTheLog(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 1, func(c *engine.Config) { c.ExternalTracker = true })
		w.produce(0, 2)
		q := w.open()
		ls := w.receive(q, 2)
		var silent atomic.Bool
		silent.Store(true)
		w.fake.ControlKey(int16(kmsg.Produce), func(kmsg.Request) (kmsg.Response, error, bool) {
			w.fake.KeepControl()
			return nil, nil, silent.Load()
		})
		for i, d := range []time.Duration{500 * time.Millisecond, time.Hour} {
			before := ls[i].Deadline()
			ctx, cancel := contextFor(w, 200*time.Millisecond)
			if err := q.Extend(ctx, ls[i], d); err == nil {
				t.Error("extended, and nobody knows")
			}
			cancel()
			if ls[i].Deadline().After(before) {
				t.Errorf("extended by %v: locked longer than it is known to be in the log", d)
			}
		}
		time.Sleep(time.Second)
		if err := q.Ack(w.ctx, ls[0]); !errors.Is(err, lease.ErrExpired) {
			t.Errorf("acknowledged too late: %v", err)
		}
		silent.Store(false)
		w.ack(q, ls[1])
	})
}

// With too many delayed records Nack refuses, and the record stays locked.
func TestDelaysAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 1)
		w.produce(0, 2)
		q := w.open()
		ls := w.receive(q, 2)
		q.delayed.Store(delayedAtMost - 1)
		if err := q.Nack(w.ctx, ls[0], time.Second); err != nil {
			t.Fatal(err)
		}
		if err := q.Nack(w.ctx, ls[1], time.Second); !errors.Is(err, lease.ErrDelayed) || ls[1].Err() != nil {
			t.Errorf("released: %v, %v", err, ls[1].Err())
		}
		time.Sleep(time.Second + time.Millisecond)
		if err := q.Nack(w.ctx, ls[1], time.Second); err != nil {
			t.Errorf("there is room: %v", err)
		}
	})
}
