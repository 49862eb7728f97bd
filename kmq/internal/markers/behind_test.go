package markers

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"

	"kafkabench.example/kafka-bench/kmq/internal/engine"
	"kafkabench.example/kafka-bench/kmq/internal/lease"
)

// behindOne opens a queue of two partitions that has n records of each lent, and then can't
// write the markers of partition 1, until free is called.
func behindOne(t *testing.T, n int) (w *world, q *queue, healthy, stuck []*lease.Lease, free func()) {
	t.Helper()
	w = newWorld(t, 2, visible(time.Hour), func(c *engine.Config) { c.ExternalTracker = true })
	q = w.open()
	w.until("the partitions are assigned", func() bool { return len(q.member.Owned()) == 2 })
	w.produce(0, n)
	w.produce(1, n)
	for _, l := range w.receive(q, 2*n) {
		if l.At.Partition == 0 {
			healthy = append(healthy, l)
		} else {
			stuck = append(stuck, l)
		}
	}
	return w, q, healthy, stuck, w.stuck(1)
}

// Ends of a partition that can't be written hold up those of no other, however many batches
// have some; once they can, all are written, each once.
func TestEndsThatCantBeWrittenHoldUpNoOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const rounds = 3 * batchesAtMost
		w, q, healthy, stuck, free := behindOne(t, rounds)
		for i := range rounds { // each round is batches of its own
			w.ack(q, healthy[i], stuck[i])
			w.until("the end of the other partition is written", func() bool { return w.ended(0) == int32(i+1) })
		}
		ctx, cancel := context.WithTimeout(w.ctx, 300*time.Millisecond)
		defer cancel()
		if err := q.Flush(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("flush of what is not written: %v", err)
		}
		h := handler{q}
		if err := h.Flush(w.ctx, []int32{0}); err != nil {
			t.Errorf("flush of the other partition: %v", err)
		}
		free()
		w.flush(q)
		if n, m := w.ended(0), w.ended(1); n != rounds || m != rounds {
			t.Errorf("%d and %d ended", n, m)
		}
		w.until("nothing is behind", func() bool {
			q.out.mu.Lock()
			defer q.out.mu.Unlock()
			return len(q.out.aside) == 0 && len(q.out.writing) == 0 && q.out.held.Load() == 0 && q.out.behind.Load() == 0
		})
	})
}

// Nor do ends that are refused at once: they are tried again by themselves.
func TestEndsThatAreRefusedHoldUpNoOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const rounds = 8
		w, q, healthy, stuck, free := behindOne(t, rounds)
		refusal := w.fake.Fault(kfake.Fault{ // which the client does not try again
			Keys: []kmsg.Key{kmsg.Produce}, Topic: w.cfg.MarkersTopic, Partitions: []int32{1}, Err: kerr.PolicyViolation, Count: -1,
		})
		free()
		for i := range rounds {
			w.ack(q, healthy[i], stuck[i])
			w.until("the end of the other partition is written", func() bool { return w.ended(0) == int32(i+1) })
		}
		if n := w.ended(1); n > 0 {
			t.Errorf("%d ended that are refused", n)
		}
		refusal.Remove()
		w.flush(q)
		if n := w.ended(1); n != rounds {
			t.Errorf("%d ended", n)
		}
	})
}

// What is aside takes a part of the room alone: settling goes on for the other partitions.
func TestEndsThatWaitLeaveRoom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, q, healthy, stuck, free := behindOne(t, 2)
		w.ack(q, stuck[0])
		w.until("it is set aside", func() bool { return q.out.behind.Load() == 1 })
		q.out.behind.Add(behindBound)
		w.ack(q, healthy...)
		ctx, cancel := context.WithTimeout(w.ctx, 100*time.Millisecond)
		defer cancel()
		if err := q.Ack(ctx, stuck[1]); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("ack of a partition whose ends wait: %v", err)
		}
		acked := make(chan error, 1)
		go func() { acked <- q.Ack(w.ctx, stuck[1]) }()
		free()
		if err := <-acked; err != nil {
			t.Errorf("ack once they are written: %v", err)
		}
		q.out.behind.Add(-behindBound)
		w.flush(q)
		if n, m := w.ended(0), w.ended(1); n != 2 || m != 2 {
			t.Errorf("%d and %d ended", n, m)
		}
	})
}

// A revocation waits for the ends of its own partitions, and Close for as long as it may.
func TestWhoWaitsForEndsThatAreAside(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, q, healthy, stuck, free := behindOne(t, 2)
		w.ack(q, healthy[0], stuck[0])
		h := handler{q}
		flushed := make(chan error, 1)
		go func() { flushed <- h.Flush(w.ctx, []int32{1}) }()
		w.until("it is set aside", func() bool { return q.out.behind.Load() == 1 })
		select {
		case err := <-flushed:
			t.Errorf("flushed while an end of the partition waits: %v", err)
		case <-time.After(300 * time.Millisecond):
		}
		free()
		if err := <-flushed; err != nil {
			t.Errorf("flush: %v", err)
		}
		if n := w.ended(1); n != 1 {
			t.Errorf("%d ended", n)
		}

		defer w.stuck(1)()
		w.ack(q, healthy[1], stuck[1])
		w.returns("Close", func(ctx context.Context) {
			if err := q.Close(ctx); !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("closed, with an end that is not written: %v", err)
			}
		})
		if n, m := w.ended(0), w.ended(1); n != 2 || m != 1 {
			t.Errorf("%d and %d ended", n, m)
		}
	})
}
