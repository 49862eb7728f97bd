package backpressure

import (
	"container/list"
	"context"
	"errors"
	"fmt"
)

// ErrNever is wrapped by the error of an Acquire that waiting cannot help: it
// asks for more records at once than the bound can ever hold.
var ErrNever = errors.New("more records than the gate can ever admit at once")

// waiters are the calls of Acquire that wait, in the order they came.
//
// Each has a channel of its own, so that exactly those are woken that may go:
// with one condition for all, a thousand would wake for each record of room and
// all but one lie down again.
type waiters struct {
	list list.List // of *waiter
	// woken counts the channels that were closed.
	woken int64
}

// waiter is one call of Acquire that waits.
type waiter struct {
	n     int64
	ready chan struct{} // closed when its records are admitted
}

func (w *waiters) len() int64 { return int64(w.list.Len()) }

// Acquire waits until n records may be sent, or until ctx ends; then it returns
// the error of ctx. Who came first goes first, whatever its n. Records that it
// granted count as admitted. An n that the bound can never hold is an error that
// wraps [ErrNever], as far as the gate knows the bound's limit. When room comes
// at the moment at which ctx ends, the records are granted.
func (g *Gate) Acquire(ctx context.Context, n int64) error {
	if n <= 0 {
		return nil
	}
	if limit, admitted := g.limit.Load(), g.admitted.Load(); limit-admitted >= n &&
		g.admitted.CompareAndSwap(admitted, admitted+n) {
		if g.stands(admitted + n) {
			return nil
		}
		g.giveBack(n)
	}
	if n > g.most {
		return fmt.Errorf("backpressure: %w: asked for %d, the bound is %d; ask for fewer at a time", ErrNever, n, g.most)
	}
	g.mu.Lock()
	if g.grant(n) {
		g.mu.Unlock()
		return nil
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

// grant admits n records if there is room and nobody waits. The lock is held, so
// no ceiling can rise between a refusal here and a place in the queue.
func (g *Gate) grant(n int64) bool {
	return g.queue.list.Len() == 0 && g.take(n)
}

// take admits n records if the ceiling in force has room for them. The lock is
// held; producers on the way past it may still take from the same room.
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

// wait waits for w's turn. A waiter that gives up makes way for those behind it,
// who may need less.
func (g *Gate) wait(ctx context.Context, place *list.Element, w *waiter) error {
	select {
	case <-w.ready:
		return nil
	case <-ctx.Done():
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	select {
	case <-w.ready:
		return nil
	default:
	}
	g.queue.list.Remove(place)
	g.setCeiling(g.ceiling)
	return ctx.Err()
}

// letWaitersGo admits those who wait, from the front, as far as the ceiling
// goes, and opens the way for others when none is left. The lock is held.
func (g *Gate) letWaitersGo() {
	for first := g.queue.list.Front(); first != nil; first = g.queue.list.Front() {
		w := first.Value.(*waiter)
		if !g.take(w.n) {
			g.limit.Store(0)
			return
		}
		g.queue.list.Remove(first)
		g.queue.woken++
		close(w.ready)
	}
	g.limit.Store(g.ceiling)
}
