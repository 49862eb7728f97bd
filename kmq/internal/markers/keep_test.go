package markers

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"kafkabench.example/kafka-bench/kmq/internal/engine"
	"kafkabench.example/kafka-bench/kmq/internal/lease"
	"kafkabench.example/kafka-bench/kmq/internal/marker"
)

// extended are the records of the extend markers of a partition: "first+count".
func (w *world) extended(partition int32) (all []string) {
	w.Helper()
	for _, m := range w.markers(partition) {
		if m.Type == marker.Extend {
			all = append(all, fmt.Sprintf("%d+%d", m.Offset, m.Count))
		}
	}
	slices.Sort(all)
	return all
}

func (w *world) lentFor(l *lease.Lease, least, most time.Duration) {
	w.Helper()
	if left := time.Until(l.Deadline()); left < least || left > most {
		w.Errorf("record %d of partition %d is lent for another %v, want %v to %v", l.At.Offset, l.At.Partition, left, least, most)
	}
}

// What is extended together is so by a marker for each run of offsets, in whatever order it
// comes; what is settled is not among it: what was given back would be lent again.
func TestExtendAllWritesAMarkerForEachRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 2, func(c *engine.Config) { c.ExternalTracker = true })
		w.produce(0, 200)
		w.produce(1, 100)
		q := w.open()
		ls := w.receive(q, 300)
		gone := map[lease.ID]bool{{Partition: 0, Offset: 50}: true, {Partition: 1, Offset: 99}: true}
		for _, l := range ls {
			if gone[l.At] {
				if err := q.Nack(w.ctx, l, 0); err != nil {
					t.Fatal(err)
				}
			}
		}
		w.flush(q)
		mixed := slices.Clone(ls)
		slices.SortFunc(mixed, func(a, b *lease.Lease) int { return int(a.At.Offset%7 - b.At.Offset%7) })
		if err := q.ExtendAll(w.ctx, mixed, time.Hour); err != nil {
			t.Fatal(err)
		}
		for _, l := range ls {
			if !gone[l.At] {
				w.lentFor(l, time.Hour-patience, time.Hour)
			}
		}
		if got := fmt.Sprint(w.extended(0), w.extended(1)); got != "[0+50 51+149] [0+99]" {
			t.Errorf("extend markers %s", got)
		}
	})
}

// What is not known to be written is not lent longer here, and holds up nothing else.
func TestExtendAllOfAPartitionThatCanNotBeWritten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := inBubble(t, 2, 2, func(c *engine.Config) { c.ExternalTracker = true })
		q := w.open()
		for p := range int32(2) {
			if err := w.fake.MoveTopicPartition(w.cfg.MarkersTopic, p, p); err != nil {
				t.Fatal(err)
			}
			w.produce(p, 10)
		}
		ls := w.receive(q, 20)
		var holds atomic.Bool
		free := make(chan struct{})
		w.onProduce(w.cfg.MarkersTopic, func(p *kmsg.ProduceRequest) *kmsg.ProduceResponse {
			if holds.Load() && p.Topics[0].Partitions[0].Partition == 1 {
				w.fake.SleepControl(func() { <-free })
			}
			return nil
		})
		holds.Store(true)
		ctx, cancel := context.WithTimeout(w.ctx, time.Second)
		defer cancel()
		err := q.ExtendAll(ctx, slices.Clone(ls), time.Hour)
		holds.Store(false)
		close(free)
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("extended: %v", err)
		}
		if err := q.writer.Flush(w.ctx); err != nil {
			t.Fatal(err)
		}
		for _, l := range ls {
			if l.At.Partition == 0 {
				w.lentFor(l, time.Hour-patience, time.Hour)
			} else {
				w.lentFor(l, 0, w.cfg.Visibility)
			}
		}
	})
}

// One that can't be extended any more says why. While the locks of those that wait are being
// extended, it comes later in the log: it would else be cut short.
func TestExtendOfOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 1, func(c *engine.Config) { c.ExternalTracker = true })
		w.produce(0, 1)
		q := w.open()
		l := w.receive(q, 1)[0]
		keeping := make(chan struct{})
		q.marking.Lock()
		q.keeping[0] = keeping
		q.marking.Unlock()
		extended := make(chan error, 1)
		go func() { extended <- q.Extend(w.ctx, l, time.Hour) }()
		select {
		case err := <-extended:
			t.Errorf("extended beside the keeper: %v", err)
			extended <- err
		case <-time.After(200 * time.Millisecond):
		}
		q.marking.Lock()
		delete(q.keeping, 0)
		q.marking.Unlock()
		close(keeping)
		if err := <-extended; err != nil {
			t.Fatal(err)
		}
		w.lentFor(l, time.Hour-patience, time.Hour)
		w.ack(q, l)
		if err := q.Extend(w.ctx, l, time.Hour); !errors.Is(err, lease.ErrSettled) {
			t.Errorf("what is settled: %v", err)
		}
		if got := w.extended(0); len(got) != 1 {
			t.Errorf("extend markers %v", got)
		}
	})
}
