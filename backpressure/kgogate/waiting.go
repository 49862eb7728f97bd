package kgogate

import (
	"context"
	"sync"
)

// waiting is the queue of the deferred records. While it holds records, a worker waits for room for
// the first.
type waiting struct {
	workers sync.WaitGroup

	mu     sync.Mutex
	orders []order
	empty  chan struct{} // closed when the queue becomes empty; nil while it is
}

func (w *waiting) count() int64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	return int64(len(w.orders))
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
func (p *Producer) passes() bool {
	w := &p.waiting
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.orders) == 0 && p.gate.TryAcquire(1)
}

func (p *Producer) excess(o order) {
	if p.cfg.Excess == Degrade {
		kept := p.cfg.Degrade(o.record)
		if kept == nil {
			p.drop(o, shedByDegrade)
			return
		}
		o.record = kept
	}
	if reason, ok := p.enqueue(o); !ok {
		p.drop(o, reason)
	}
}

func (p *Producer) enqueue(o order) (reason string, ok bool) {
	w := &p.waiting
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case p.closing.Err() != nil: // no worker may start any more
		return shedByClose, false
	case len(w.orders) >= p.cfg.MaxDeferred:
		return shedByQueue, false
	}
	if w.orders = append(w.orders, o); len(w.orders) == 1 {
		w.empty = make(chan struct{})
		w.workers.Go(func() { p.work(o) })
	}
	return "", true
}

// A record stays in the queue until the client has it, so that no other record can overtake it. A
// record whose context ends is given up when it is the first.
func (p *Producer) work(o order) {
	for more := true; more; o, more = p.waiting.next() {
		if err := p.gate.Acquire(o.ctx, 1); err != nil {
			p.giveUp(o, err)
			continue
		}
		p.send(o)
	}
}

func (w *waiting) next() (order, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.orders[0] = order{}
	if w.orders = w.orders[1:]; len(w.orders) > 0 {
		return w.orders[0], true
	}
	w.orders = nil
	close(w.empty)
	w.empty = nil
	return order{}, false
}
