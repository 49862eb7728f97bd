package kmq

import (
	"context"
	"errors"
	"slices"
	"time"

	"kafka-bench/kmq/internal/engine"
)

// The keeper of a run renews the locks of what waits in its lines: a record is not to be
// delivered again, nor its attempts used up, because the one ahead of it is slow.

// waiter is a delivery that waits in a line. But for the delivery it is under the lock of
// the run.
type waiter struct {
	Delivery
	begun    bool
	renewing chan struct{} // closed when its lock has been renewed; nil: that was never tried
}

const (
	// keepsPer is how often in a Visibility the keeper looks. It renews what has less than
	// half of it left, so that there is a quarter to do it in, at least.
	keepsPer = 4
	// keptAtOnce is how many locks are renewed at a time: an engine that writes something
	// for each writes that together. A record whose turn comes meanwhile waits for the rest.
	keptAtOnce = 500
)

// keep begins to renew, where there are lines and locks, until kept is called.
func (r *run) keep() {
	ctx, stop := context.WithCancel(r.settling)
	r.kept = stop
	if r.order == Unordered || r.q.kind != Markers && r.q.kind != OffsetMap {
		return
	}
	r.keeping.Go(func() {
		trouble := engine.NewComplaint(r.q.log)
		every := time.NewTicker(r.q.lent / keepsPer)
		defer every.Stop()
		for {
			select {
			case <-every.C:
			case <-ctx.Done():
				return
			}
			if err := r.renew(ctx); err != nil && ctx.Err() == nil {
				trouble.About("renew the locks of records that wait in line", err)
			}
		}
	})
}

// renew looks once. What can't be renewed within a quarter of the Visibility has run out,
// or is looked at again.
func (r *run) renew(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, r.q.lent/keepsPer)
	defer cancel()
	due := r.due(time.Now().Add(r.q.lent / 2))
	var failed error
	for len(due) > 0 && failed == nil {
		n := min(len(due), keptAtOnce)
		failed = r.renewSome(ctx, due[:n])
		due = due[n:]
	}
	return failed
}

// due are those that wait and whose locks end before a time. Behind a handler that let its
// own lock run out none is renewed: it may hang, and what waits for it is not lent for ever.
func (r *run) due(before time.Time) (due []*waiter) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, l := range r.lines {
		if l.ahead.ranOut() {
			continue
		}
		for _, w := range l.waiting {
			if !w.ended() && w.Deadline().Before(before) {
				due = append(due, w)
			}
		}
	}
	return due
}

// renewSome renews those that still wait, all at the same time, and returns why one that
// could be was not. It waits for no more than ctx: a call that outlives it is waited for by
// [Queue.Close].
func (r *run) renewSome(ctx context.Context, some []*waiter) (failed error) {
	renewed := make(chan struct{})
	defer close(renewed)
	some = r.waiting(some, renewed)
	results := make(chan error, len(some))
	for _, w := range some {
		go func() { results <- w.Extend(ctx, r.q.lent) }()
	}
	for range some {
		select {
		case err := <-results:
			if err != nil && !tooLate(err) && failed == nil {
				failed = err
			}
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return failed
}

// waiting are those that have not begun: these wait, once they could, for renewed.
func (r *run) waiting(some []*waiter, renewed chan struct{}) []*waiter {
	r.mu.Lock()
	defer r.mu.Unlock()
	some = slices.DeleteFunc(some, func(w *waiter) bool { return w.begun })
	for _, w := range some {
		w.renewing = renewed
	}
	return some
}

// tooLate is whether a lock could not be renewed because there is none any more.
func tooLate(err error) bool {
	return slices.ContainsFunc([]error{ErrExpired, ErrLost, ErrClosed, ErrSettled}, func(e error) bool { return errors.Is(err, e) })
}
