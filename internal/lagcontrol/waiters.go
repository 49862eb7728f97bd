package lagcontrol

import (
	"container/list"
	"context"
	"errors"
	"fmt"
)

// ErrNever is wrapped by the error of an Acquire that could never succeed: see [Gate.Acquire].
var ErrNever = errors.New("more records than the gate can ever admit at once")

// waiters are in order of arrival. Each has its own channel, so that only the calls that may go are
// woken.
type waiters struct {
	list  list.List // of *waiter
	woken int64
}

type waiter struct {
	n     int64
	ready chan struct{} // closed when its records are admitted, or err is set
	err   error
}

func (w *waiters) len() int64 { return int64(w.list.Len()) }

// Acquire waits until n records may be sent. They then count as admitted. If ctx ends first, it
// returns the error of ctx; if both happen at the same moment, the records are admitted. Calls are
// served in order of arrival, whatever their n.
//
// It returns an error that wraps [ErrNever] if the bound can never hold n records. It also returns
// that error if the call is first in line, nothing is outstanding and n is above the bound in
// force. A moving bound may be below n only for a moment; ask for fewer records to avoid the error.
func (g *Gate) Acquire(ctx context.Context, n int64) error {
	if n <= 0 {
		return nil
	}
	if g.Take(n) {
		return nil
	}
	if n > g.most {
		return fmt.Errorf("backpressure: %w: asked for %d, the bound is %d; ask for fewer at a time", ErrNever, n,
			g.most)
	}
	g.mu.Lock()
	if g.queue.list.Len() == 0 {
		err := g.hopeless(n)
		if err != nil || g.take(n) {
			g.mu.Unlock()
			return err
		}
	}
	w := &waiter{n: n, ready: make(chan struct{})}
	place := g.queue.list.PushBack(w)
	g.limit.Store(0)
	g.refused.Add(n)
	g.stats.Waited++
	g.closeNow()
	g.mu.Unlock()
	return g.wait(ctx, place, w)
}

// Take admits n records, or none, and reports which. It counts no refusal, and returns false while
// calls of Acquire wait.
func (g *Gate) Take(n int64) bool {
	for {
		limit, admitted := g.limit.Load(), g.admitted.Load()
		if limit-admitted < n {
			return false
		}
		if g.admitted.CompareAndSwap(admitted, admitted+n) {
			return true
		}
	}
}

// hopeless returns an error if n is above the bound in force and nothing is outstanding. The lock is
// held.
func (g *Gate) hopeless(n int64) error {
	bound := g.ruling.bound
	if !g.ruling.decided || g.sight.blind || n <= bound || n <= g.ceiling-g.admitted.Load() {
		return nil
	}
	if seen := &g.ruling.seen; seen.Lag > 0 || g.admitted.Load() > seen.Settled {
		return nil
	}
	return fmt.Errorf("backpressure: %w: asked for %d, but the bound is %d now and nothing is outstanding; ask for fewer at a time", ErrNever, n, bound)
}

// The lock is held. But Admit and TryAcquire take room without the lock, also while take runs.
func (g *Gate) take(n int64) bool {
	for {
		admitted := g.admitted.Load()
		if g.ceiling-admitted < n {
			return false
		}
		if g.admitted.CompareAndSwap(admitted, admitted+n) {
			return true
		}
	}
}

// When a waiter gives up, those behind it that need less may go.
func (g *Gate) wait(ctx context.Context, place *list.Element, w *waiter) error {
	select {
	case <-w.ready:
		return w.err
	case <-ctx.Done():
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	select {
	case <-w.ready:
		return w.err
	default:
	}
	g.queue.list.Remove(place)
	g.setCeiling(g.ceiling)
	return ctx.Err()
}

// letWaitersGo admits waiting calls from the front of the queue. The lock is held.
func (g *Gate) letWaitersGo() {
	for first := g.queue.list.Front(); first != nil; first = g.queue.list.Front() {
		w := first.Value.(*waiter)
		if w.err = g.hopeless(w.n); w.err == nil && !g.take(w.n) {
			g.limit.Store(0)
			return
		}
		g.queue.list.Remove(first)
		g.queue.woken++
		close(w.ready)
	}
	g.limit.Store(g.ceiling)
}
