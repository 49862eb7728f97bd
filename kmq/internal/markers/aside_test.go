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

// stuck has the markers of a partition refused for lack of replicas, until it is called.
func (w *world) stuck(partition int32) (free func()) {
	return w.fake.Fault(kfake.Fault{
		Keys: []kmsg.Key{kmsg.Produce}, Topic: w.cfg.MarkersTopic, Partitions: []int32{partition}, Err: kerr.NotEnoughReplicas, Count: -1,
	}).Remove
}

// A partition whose markers can't be written is handed out of no more, fetched no more, and
// holds up no other; once they can, it follows in its order.
func TestAPartitionThatCantBeStartedHoldsUpNoOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const room = 60 // half of it is more than the 25 that may be read before the first are aside
		w := newWorld(t, 2, func(c *engine.Config) { c.MaxInFlight = room })
		q := w.open()
		w.until("the partitions are assigned", func() bool { return len(q.member.Owned()) == 2 })
		free := w.stuck(1)
		w.produce(1, 5)
		const rounds = 10
		for range rounds {
			w.produce(0, 20)
			w.produce(1, 20)
			for _, l := range w.receive(q, 20) {
				if l.At.Partition != 0 {
					t.Fatalf("a record of partition %d is handed out, which can't be started", l.At.Partition)
				}
				w.ack(q, l)
			}
		}
		w.flush(q)
		if at := w.committed(w.cfg.Group, w.cfg.Topic, 0); at != rounds*20 {
			t.Errorf("committed %d of the other partition", at)
		}
		if at := w.committed(w.cfg.Group, w.cfg.Topic, 1); at > 0 {
			t.Errorf("committed %d past what has no start", at)
		}
		c := q.Counts()
		if len(c.Paused) != 1 || c.Paused[0] != 1 {
			t.Errorf("paused are %v", c.Paused)
		}
		if c.InFlight > room {
			t.Errorf("%d in flight", c.InFlight)
		}

		free()
		for i := range int64(5 + rounds*20) {
			l := w.receive(q, 1)[0]
			if l.At.Partition != 1 || l.At.Offset != i {
				t.Fatalf("record %v is handed out as number %d", l.At, i)
			}
			w.ack(q, l)
		}
		w.flush(q)
		if at := w.committed(w.cfg.Group, w.cfg.Topic, 1); at != 5+rounds*20 {
			t.Errorf("committed %d", at)
		}
		w.until("it is fetched again", func() bool { return len(q.Counts().Paused) == 0 })
	})
}

// What is set aside when its partition is taken away is not committed, never handed out, and
// is the next member's; the others commit what they have, in time.
func TestWhatIsAsideIsTheNextMembers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 2)
		q := w.open()
		w.until("the partitions are assigned", func() bool { return len(q.member.Owned()) == 2 })
		free := w.stuck(1)
		defer free()
		w.produce(1, 5)
		w.until("it is set aside", func() bool { return len(q.Counts().Paused) == 1 })
		w.produce(0, 5)
		w.ack(q, w.receive(q, 5)...)

		h := handler{q}
		ctx, cancel := context.WithTimeout(w.ctx, 500*time.Millisecond)
		defer cancel()
		if err := h.Flush(ctx, []int32{0}); err != nil {
			t.Errorf("flush of a partition with nothing aside: %v", err)
		}
		flushed := make(chan error, 1)
		go func() { flushed <- h.Flush(w.ctx, []int32{0, 1}) }()
		select {
		case err := <-flushed:
			t.Errorf("flushed while something is aside: %v", err)
		case <-time.After(300 * time.Millisecond):
		}
		h.Forget([]int32{1})
		q.member.Pause(1) // as one that is not fetched
		free()
		select {
		case err := <-flushed:
			if err != nil {
				t.Errorf("flush: %v", err)
			}
		case <-time.After(patience):
			t.Fatal("what was aside was never flushed")
		}
		w.until("it is lost", func() bool { return q.Counts().Lost == 5 })
		ctx, cancel = context.WithTimeout(w.ctx, 300*time.Millisecond)
		defer cancel()
		if ls, err := q.Receive(ctx, 1); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%d records of a partition that is another's, %v", len(ls), err)
		}
		if at := q.started.offsets([]int32{0, 1}); len(at) != 1 || at[0].At != 5 {
			t.Errorf("may be committed: %v", at)
		}
	})
}

// A start that is refused for good ends the queue, also when it was aside.
func TestARefusalOfWhatIsAside(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 2)
		q := w.open()
		w.until("the partitions are assigned", func() bool { return len(q.member.Owned()) == 2 })
		free := w.stuck(1)
		w.produce(1, 1)
		w.until("it is set aside", func() bool { return len(q.Counts().Paused) == 1 })
		w.fake.Fault(kfake.Fault{
			Keys: []kmsg.Key{kmsg.Produce}, Topic: w.cfg.MarkersTopic, Partitions: []int32{1}, Err: kerr.TopicAuthorizationFailed, Count: -1,
		})
		free()
		ctx, cancel := context.WithTimeout(w.ctx, patience)
		defer cancel()
		if ls, err := q.Receive(ctx, 1); !errors.Is(err, kerr.TopicAuthorizationFailed) {
			t.Errorf("%d records, %v", len(ls), err)
		}
	})
}

// What ran out while it was aside is given back as not delivered once its start is written.
func TestWhatRunsOutAsideIsNotCounted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 2, visible(2*time.Second))
		q := w.open()
		w.until("the partitions are assigned", func() bool { return len(q.member.Owned()) == 2 })
		free := w.stuck(1)
		w.produce(1, 3)
		w.until("all have run out", func() bool { return q.Counts().Expired == 3 && q.set.Len() == 0 })
		free()
		for _, l := range w.receive(q, 3) {
			if l.At.Partition != 1 || l.Attempt != 1 || l.State() != lease.Open {
				t.Errorf("record %v, attempt %d, %v", l.At, l.Attempt, l.State())
			}
			w.ack(q, l)
		}
	})
}

// What is set aside leaves half of the room to the others, however much of it was fetched
// first, and comes all the same: what gave up its room as a copy, which counts no delivery.
func TestWhatIsAsideLeavesRoom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 2, visible(time.Hour), func(c *engine.Config) { c.MaxInFlight = 10 })
		q := w.open()
		w.until("the partitions are assigned", func() bool { return len(q.member.Owned()) == 2 })
		free := w.stuck(1)
		w.produce(1, 50)
		w.until("half of the room at most is taken by what is aside", func() bool { return len(q.Counts().Paused) == 1 && q.set.Len() <= 5 })
		w.produce(0, 10)
		for range 10 {
			w.ack(q, w.receive(q, 1)...)
		}
		free()
		seen := map[int64]bool{}
		for len(seen) < 50 {
			l := w.receive(q, 1)[0]
			if l.Origin.Partition != 1 || l.Attempt != 1 || seen[l.Origin.Offset] {
				t.Errorf("record %v at %v, attempt %d", l.Origin, l.At, l.Attempt)
			}
			seen[l.Origin.Offset] = true
			w.ack(q, l)
		}
		w.flush(q)
		w.until("all is committed", func() bool { return w.committed(w.cfg.Group, w.cfg.Topic, 1) == 50+q.Counts().Tailed })
	})
}
