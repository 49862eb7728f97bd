package conformance

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"kafkabench.example/kafka-bench/kmq"
)

func (w *world) run(q *kmq.Queue, workers, want int, handle kmq.Handler) error {
	ctx, cancel := context.WithTimeout(w.ctx, patience)
	defer cancel()
	var done atomic.Int64
	return q.Run(ctx, func(ctx context.Context, d kmq.Delivery) error {
		err := handle(ctx, d)
		if err == nil && done.Add(1) == int64(want) {
			cancel()
		}
		return err
	}, kmq.RunConfig{Workers: workers})
}

func unordered(w *world) {
	const workers = 4 * partitions
	w.produce(workers)
	q := w.open()
	var here sync.WaitGroup
	here.Add(workers)
	err := w.run(q, workers, workers, func(ctx context.Context, _ kmq.Delivery) error {
		here.Done()
		all := make(chan struct{})
		go func() { here.Wait(); close(all) }()
		select {
		case <-all:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	})
	w.is("run", err, nil)
	if n := q.Stats().Acked; n != workers {
		w.Errorf("%d are acknowledged, want %d", n, workers)
	}
}

// Records with the same name must be handled one at a time, in offset order.
func (w *world) inOrder(order kmq.Order, name func(*kgo.Record) string, with ...func(int, *kgo.Record)) {
	const records, workers = 120, 12
	w.produce(records, with...)
	if !w.can.order {
		_, err := kmq.Open(w.ctx, w.config(inOrder(order)))
		w.is("open in order", err, kmq.ErrConfig)
		return
	}
	q := w.open(inOrder(order))
	var (
		mu      sync.Mutex
		busy    = make(map[string]bool)
		last    = make(map[string]int64)
		most    int
		running int
	)
	err := w.run(q, workers, records, func(_ context.Context, d kmq.Delivery) error {
		n := name(d.Record)
		mu.Lock()
		if n != "" {
			if busy[n] {
				w.Errorf("two records of %s at once", n)
			}
			if before, any := last[n]; any && d.Record.Offset <= before {
				w.Errorf("offset %d of %s after %d", d.Record.Offset, n, before)
			}
			busy[n], last[n] = true, d.Record.Offset
		}
		running++
		most = max(most, running)
		mu.Unlock()
		time.Sleep(2 * time.Millisecond)
		mu.Lock()
		running--
		busy[n] = false
		mu.Unlock()
		return nil
	})
	w.is("run", err, nil)
	if most < 2 {
		w.Errorf("never more than %d at once", most)
	}
	if s := q.Stats(); s.Acked != records {
		w.Errorf("%d are acknowledged, of %d", s.Acked, records)
	}
}

func orderedByPartition(w *world) {
	w.inOrder(kmq.ByPartition, func(r *kgo.Record) string { return fmt.Sprint("partition ", r.Partition) })
}

func orderedByKey(w *world) {
	name := func(r *kgo.Record) string {
		if r.Key == nil {
			return ""
		}
		return fmt.Sprintf("key %s of partition %d", r.Key, r.Partition)
	}
	w.inOrder(kmq.ByKey, name, func(i int, r *kgo.Record) {
		if k := i / partitions % 5; k > 0 { // of one partition only, as with a partitioner
			r.Key = fmt.Appendf(nil, "%d-%d", r.Partition, k)
		}
	})
}

func waitsInLine(w *world) {
	const lent, took = 2 * time.Second, 100 * time.Millisecond
	const records = partitions * 50 // the last ones wait for 5 s
	all := w.produce(records)
	with := []func(*kmq.Config){w.withDead}
	if w.can.lend {
		with = append(with, lendFor(lent))
	}
	if w.can.limit {
		with = append(with, func(c *kmq.Config) { c.MaxDeliveries = 2 })
	}
	if !w.can.order {
		return
	}
	q := w.open(append(with, inOrder(kmq.ByPartition))...)
	var mu sync.Mutex
	var got []kmq.ID
	err := w.run(q, partitions, records, func(_ context.Context, d kmq.Delivery) error {
		time.Sleep(took)
		mu.Lock()
		defer mu.Unlock()
		got = append(got, d.ID())
		return nil
	})
	w.is("run", err, nil)
	w.same("handled", got, all)
	w.deadLetters(0)
	if s := q.Stats(); s.Redelivered != 0 || s.Expired != 0 || s.Acked != records {
		w.Errorf("every record was handled once: %+v", s)
	}
}

func interrupted(w *world) {
	if !w.can.unhand {
		return
	}
	const deliveries = 2
	all := w.produce(12)
	limit := func(c *kmq.Config) { c.MaxDeliveries = deliveries }
	for _, order := range []kmq.Order{kmq.ByPartition, kmq.Unordered, kmq.ByKey} {
		q := w.open(w.withDead, limit, inOrder(order))
		for range deliveries {
			ctx, cancel := context.WithCancel(w.ctx)
			var begun sync.WaitGroup
			begun.Add(partitions)
			go func() { begun.Wait(); cancel() }()
			var n atomic.Int64
			err := q.Run(ctx, func(ctx context.Context, d kmq.Delivery) error {
				if n.Add(1) <= partitions {
					begun.Done()
				}
				if d.Attempt() != 1 {
					w.Errorf("record %v has attempt %d, and was interrupted each time", d.ID(), d.Attempt())
				}
				<-ctx.Done()
				return fmt.Errorf("interrupted: %w", ctx.Err())
			}, kmq.RunConfig{Workers: partitions})
			w.is("run", err, nil)
			cancel()
		}
		w.close(q)
	}
	q := w.open(w.withDead, limit)
	got := w.each(q, len(all), func(d kmq.Delivery) {
		if d.Attempt() != 1 {
			w.Errorf("record %v has attempt %d, and was interrupted each time", d.ID(), d.Attempt())
		}
		w.ack(d)
	})
	w.same("received", got, all)
	w.deadLetters(0)
	w.nothing(q)
}

var errNotNow = errors.New("not now")

func handlerFails(w *world) {
	const records = 12
	w.produce(records)
	q := w.open(func(c *kmq.Config) { c.Retry = kmq.Exponential(20*time.Millisecond, 40*time.Millisecond) })
	var mu sync.Mutex
	tries := make(map[kmq.ID]int)
	err := w.run(q, 4, records, func(_ context.Context, d kmq.Delivery) error {
		mu.Lock()
		defer mu.Unlock()
		tries[d.ID()]++
		if w.can.release && d.Attempt() != tries[d.ID()] {
			w.Errorf("try %d of %v is attempt %d", tries[d.ID()], d.ID(), d.Attempt())
		}
		if tries[d.ID()] < 3 {
			return errNotNow
		}
		return nil
	})
	w.is("run", err, nil)
	for id, n := range tries {
		if n != 3 {
			w.Errorf("record %v was tried %d times, want 3", id, n)
		}
	}
	w.flush(q)
	if s := q.Stats(); s.Acked != records || s.InFlight != 0 {
		w.Errorf("when all is done: %+v", s)
	}
	w.nothing(q)
}

// handlerAsksAgain: the attempt does not count, except with an engine that leaves the count to the broker.
func handlerAsksAgain(w *world) {
	w.produce(1)
	q := w.open(w.withDead)
	var asked time.Time
	calls, attempts := 0, 0
	err := w.run(q, 1, 1, func(_ context.Context, d kmq.Delivery) error {
		calls, attempts = calls+1, d.Attempt()
		if calls < 4 {
			asked = time.Now()
			return fmt.Errorf("look here: %w", kmq.After(100*time.Millisecond))
		}
		if after := time.Since(asked); after < 100*time.Millisecond {
			w.Errorf("the record came after %v", after)
		}
		return nil
	})
	w.is("run", err, nil)
	want := 1
	if !w.can.unhand && w.can.release {
		want = 4
	}
	if calls != 4 || attempts != want {
		w.Errorf("attempt %d of %d calls, want %d of 4", attempts, calls, want)
	}
	w.deadLetters(0)
	w.nothing(q)
}

func handlerRejects(w *world) {
	const records = 6
	w.produce(records)
	q := w.open(w.withDead)
	ctx, cancel := context.WithCancel(w.ctx)
	defer cancel()
	var seen atomic.Int64
	err := q.Run(ctx, func(_ context.Context, d kmq.Delivery) error {
		if seen.Add(1) == records {
			cancel()
		}
		if d.ID().Offset == 0 {
			return fmt.Errorf("look here: %w", kmq.Reject{Reason: "hopeless"})
		}
		return nil
	}, kmq.RunConfig{Workers: 2})
	w.is("run", err, nil)
	w.deadLetters(partitions)
	if s := q.Stats(); s.Acked != records-partitions || s.Rejected != partitions {
		w.Errorf("%d of %d to be rejected: %+v", partitions, records, s)
	}
}
