package conformance

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"kafkabench.example/kafka-bench/kmq"
)

// stopped ends a Run in the middle: what its handlers began is finished, and the rest is delivered to another queue, once.
func stopped(w *world) {
	const workers = 4
	all := w.produce(40)
	q := w.open()
	ctx, cancel := context.WithCancel(w.ctx)
	defer cancel()
	var mu sync.Mutex
	var done []kmq.ID
	err := q.Run(ctx, func(ctx context.Context, d kmq.Delivery) error {
		cancel()
		time.Sleep(moment / 20)
		mu.Lock()
		defer mu.Unlock()
		done = append(done, d.ID())
		return ctx.Err()
	}, kmq.RunConfig{Workers: workers})
	w.is("run", err, nil)
	if len(done) > workers {
		w.Errorf("%d handlers began after the end of the run's context", len(done)-workers)
	}
	w.close(q)
	w.close(q)
	_, err = q.Receive(w.ctx, 1)
	w.is("receive", err, kmq.ErrClosed)
	w.is("flush", q.Flush(w.ctx), kmq.ErrClosed)

	q = w.open()
	rest := w.receive(q, len(all)-len(done))
	w.same("received by both", slices.Concat(done, ids(rest)), all)
	w.nothing(q)
}

// A partition moves to another member while an ordered run handles one of its records: the next record begins after
// that one has ended.
func handedOver(w *world) {
	if !w.can.hands {
		return
	}
	const records = 20 * partitions
	all := w.produce(records)
	ctx, cancel := context.WithCancel(w.ctx)
	defer cancel()
	var mu sync.Mutex
	busy := make(map[int32]kmq.ID)
	var done []kmq.ID
	handle := func(ctx context.Context, d kmq.Delivery) error {
		p := d.ID().Partition
		mu.Lock()
		if other, is := busy[p]; is {
			w.Errorf("record %v began before %v had ended", d.ID(), other)
		}
		busy[p] = d.ID()
		mu.Unlock()
		time.Sleep(moment / 4)
		mu.Lock()
		defer mu.Unlock()
		delete(busy, p)
		if done = append(done, d.ID()); len(done) == records {
			cancel()
		}
		return context.Cause(ctx)
	}
	var members sync.WaitGroup
	for range 3 {
		q := w.open(inOrder(kmq.ByPartition))
		members.Go(func() { w.is("run", q.Run(ctx, handle, kmq.RunConfig{}), nil) })
		time.Sleep(moment)
	}
	members.Wait()
	w.same("handled", done, all)
}

func closed(w *world) {
	all := w.produce(12)
	q := w.open()
	var held []kmq.Delivery
	for _, d := range w.receive(q, 12) {
		if d.ID().Offset == 0 {
			w.ack(d)
		} else {
			held = append(held, d)
		}
	}
	waiting := make(chan error, 1)
	go func() {
		_, err := q.Receive(context.Background(), 1)
		waiting <- err
	}()
	w.close(q)
	select {
	case err := <-waiting:
		w.is("a receive that was waiting", err, kmq.ErrClosed)
	case <-time.After(patience):
		w.Fatal("a receive outlives its queue")
	}
	for _, d := range held {
		if err := d.Ack(w.ctx); !errors.Is(err, kmq.ErrClosed) {
			w.Errorf("ack after close: %v", err)
		}
	}

	// The held records come again at once, long before their locks of 30 s expire.
	q = w.open()
	ctx, cancel := context.WithTimeout(w.ctx, 20*time.Second)
	defer cancel()
	var again []kmq.Delivery
	for len(again) < len(held) {
		ds, err := q.Receive(ctx, len(held))
		if err != nil {
			w.Fatalf("receive: %v, after %d of %d records", err, len(again), len(held))
		}
		w.ack(ds...)
		again = append(again, ds...)
	}
	w.same("given back", ids(again), ids(held))
	w.nothing(q)
	_ = all
}

type books struct {
	mu    sync.Mutex
	acked map[kmq.ID]int
}

func (b *books) consume(ctx context.Context, q *kmq.Queue) {
	for {
		ds, err := q.Receive(ctx, 5)
		if err != nil {
			return
		}
		for _, d := range ds {
			if d.Ack(context.Background()) == nil {
				b.mu.Lock()
				b.acked[d.ID()]++
				b.mu.Unlock()
			}
		}
	}
}

func (b *books) len() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.acked)
}

func (b *books) until(w *world, n int) {
	w.Helper()
	for end := time.Now().Add(patience); b.len() < n; time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			w.Fatalf("%d of %d records are acknowledged", b.len(), n)
		}
	}
}

func rebalance(w *world) {
	const records = 900
	b := &books{acked: make(map[kmq.ID]int)}
	var with []func(*kmq.Config)
	if w.can.lend {
		with = append(with, lendFor(5*time.Second))
	}
	with = append(with, inFlight(20))
	var work sync.WaitGroup
	defer work.Wait()
	ctx, cancel := context.WithCancel(w.ctx)
	defer cancel()
	join := func() *kmq.Queue {
		q := w.open(with...)
		work.Go(func() { b.consume(ctx, q) })
		return q
	}
	first := join()
	var all []kmq.ID
	more := func() { all = append(all, w.produce(records/3)...) }
	more()
	b.until(w, 50)
	second := join()
	more()
	b.until(w, 400)
	w.close(first)
	more()
	third := join()
	b.until(w, records)
	w.close(second)
	w.close(third)
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, id := range all {
		if b.acked[id] == 0 {
			w.Errorf("record %v is lost", id)
		}
	}
	if len(b.acked) != records {
		w.Errorf("%d records are acknowledged, of %d", len(b.acked), records)
	}
}

// During Close, a record is redelivered if and only if its Ack returned an error.
func closedBeside(w *world) {
	const records = 300
	all := w.produce(records)
	q := w.open()
	held := w.receive(q, records)
	var (
		mu   sync.Mutex
		open []kmq.ID
		work sync.WaitGroup
	)
	begun := make(chan struct{}, records)
	for i := range 10 {
		work.Go(func() {
			for _, d := range held[i*records/10 : (i+1)*records/10] {
				err := d.Ack(w.ctx)
				begun <- struct{}{}
				if err == nil {
					continue
				}
				if !errors.Is(err, kmq.ErrClosed) && !errors.Is(err, kmq.ErrLost) {
					w.Errorf("ack beside close: %v", err)
				}
				mu.Lock()
				open = append(open, d.ID())
				mu.Unlock()
			}
		})
	}
	for range 10 {
		<-begun
	}
	w.close(q)
	work.Wait()
	if !w.can.exact { // records beyond an open one are redelivered too
		first := make(map[int32]int64)
		for _, id := range open {
			if at, ok := first[id.Partition]; !ok || id.Offset < at {
				first[id.Partition] = id.Offset
			}
		}
		open = slices.DeleteFunc(slices.Clone(all), func(id kmq.ID) bool {
			at, ok := first[id.Partition]
			return !ok || id.Offset < at
		})
	}
	q = w.open()
	w.same("given back", w.acked(q, len(open)), open)
	w.nothing(q)
}
