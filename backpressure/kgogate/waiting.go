package kgogate

import (
	"context"
	"sync"

	"kafkabench.example/kafka-bench/backpressure"
)

// waiting has a queue of records (lane) for each gate, so that a slow partition delays no other.
type waiting struct {
	workers sync.WaitGroup

	mu    sync.Mutex
	lanes map[int32]*lane
	total int64
	empty chan struct{} // closed when total falls to 0; nil while total is 0
}

// While a lane holds records, a worker waits for room for its first record.
type lane struct {
	orders []order
}

func (w *waiting) count() int64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.total
}

func (w *waiting) wait(ctx context.Context) error {
	w.mu.Lock()
	empty := w.empty
	w.mu.Unlock()
	if empty == nil {
		return nil
	}
	select {
	case <-empty:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// end waits for the workers. No new worker may start from now on.
func (w *waiting) end() {
	w.mu.Lock()   // a concurrent enqueue starts its worker before Wait
	w.mu.Unlock() //nolint:staticcheck // empty on purpose
	w.workers.Wait()
}

// passes admits a record if it need not wait, and reports whether the record was admitted.
func (p *Producer) passes(partition int32) bool {
	w := &p.waiting
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.lanes[p.gate.lane(partition)] == nil && p.gate.open(partition) && p.gate.try(partition)
}

func (p *Producer) excess(o order) {
	if p.cfg.Excess == Degrade {
		kept := p.cfg.Degrade(o.record)
		if kept == nil {
			p.drop(o, backpressure.ShedByDegrade)
			return
		}
		o.record = kept
	}
	if reason, ok := p.enqueue(o); !ok {
		p.drop(o, reason)
	}
}

func (p *Producer) enqueue(o order) (reason backpressure.ShedReason, ok bool) {
	w := &p.waiting
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case p.closing.Err() != nil: // no worker may start any more
		return ShedByClose, false
	case w.total >= int64(p.cfg.MaxDeferred):
		return backpressure.ShedByQueue, false
	}
	if w.total++; w.total == 1 {
		w.empty = make(chan struct{})
	}
	key := p.gate.lane(o.record.Partition)
	if l := w.lanes[key]; l != nil {
		l.orders = append(l.orders, o)
		return "", true
	}
	l := &lane{orders: []order{o}}
	w.lanes[key] = l
	w.workers.Go(func() { p.work(key, l, o) })
	return "", true
}

// A record stays in the lane until the client has it, so that no other record can overtake it. A
// record whose context ends is given up when it is first in the lane.
func (p *Producer) work(key int32, l *lane, o order) {
	for more := true; more; o, more = p.waiting.next(key, l) {
		if err := p.acquire(o); err != nil {
			p.giveUp(o, err)
			continue
		}
		p.send(o)
	}
}

// next deletes the lane and returns false if no order is left.
func (w *waiting) next(key int32, l *lane) (order, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	l.orders[0] = order{}
	l.orders = l.orders[1:]
	if w.total--; w.total == 0 {
		close(w.empty)
		w.empty = nil
	}
	if len(l.orders) == 0 {
		delete(w.lanes, key)
		return order{}, false
	}
	return l.orders[0], true
}
