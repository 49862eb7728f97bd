package backpressure

import (
	"container/list"
	"context"
	"errors"
	"fmt"
)

// ErrNever is wrapped by the error of an Acquire that waiting cannot help: it
// asks for more records at once than the bound can ever hold, or than it holds now
// though nothing is outstanding.
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
	ready chan struct{} // closed when its records are admitted, or err is set
	err   error         // why they never will be
}

func (w *waiters) len() int64 { return int64(w.list.Len()) }

// Acquire waits until n records may be sent, or until ctx ends; then it returns
// the error of ctx. Who came first goes first, whatever its n: while one waits for
// much, nobody gets the little that there is. Records that it granted count as
// admitted. When room comes at the moment at which ctx ends, the records are
// granted.
//
// An n that the bound can never hold is an error that wraps [ErrNever]. So is one
// that is above the bound in force when it is first in the line and nothing is
// outstanding: then it has all the room that there is, and who is behind it would
// wait for nothing. A bound that moves may be below n now and not later; who asks
// for fewer at a time need not care.
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

// hopeless is the error of an ask for n records that the bound in force has no room
// for although nothing is outstanding. Of a bound of 0 nobody gets anything, so
// nobody is held up, and it is mostly a share that is still to come. The lock is held.
func (g *Gate) hopeless(n int64) error {
	bound := g.ruling.bound
	if !g.ruling.decided || g.sight.blind || bound == 0 || n <= bound || n <= g.ceiling-g.admitted.Load() {
		return nil
	}
	if seen := &g.ruling.seen; seen.Lag > 0 || g.admitted.Load() > seen.Settled {
		return nil
	}
	return fmt.Errorf("backpressure: %w: asked for %d, and nothing is outstanding of a bound that is %d now; ask for fewer at a time", ErrNever, n, bound)
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

// letWaitersGo admits those who wait, from the front, as far as the ceiling
// goes, and opens the way for others when none is left. The lock is held.
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
