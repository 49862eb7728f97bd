package kmq

import (
	"cmp"
	"context"
	"time"

	"kafkabench.example/kafka-bench/kmq/internal/engine"
	"kafkabench.example/kafka-bench/kmq/internal/lease"
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

// keepsPer is how often in a Visibility the keeper looks. It renews what has less than
// half of it left, so that there is a quarter to do it in, at least.
const keepsPer = 4

// keep begins to renew, where there are lines and locks, until kept is called.
func (r *run) keep() {
	ctx, stop := context.WithCancel(r.settling)
	r.kept = stop
	e, can := r.q.engine.(engine.AllExtender)
	if r.order == Unordered || !can {
		return
	}
	r.keeping.Go(func() {
		engine.Every(ctx, r.q.lent/keepsPer, r.q.log, "renew the locks of records that wait in line", func(ctx context.Context) error {
			return r.renew(ctx, e)
		})
	})
}

// renew looks once, and renews each partition by itself: one that can't be written to holds
// up its own records only. What can't be renewed within a quarter of the Visibility has run
// out, or is looked at again.
func (r *run) renew(ctx context.Context, e engine.AllExtender) error {
	ctx, cancel := context.WithTimeout(ctx, r.q.lent/keepsPer)
	defer cancel()
	due := r.due(time.Now().Add(r.q.lent / 2))
	results := make(chan error, len(due))
	for _, some := range due {
		go func() { results <- r.renewSome(ctx, e, some) }()
	}
	var failed error
	for range due {
		failed = cmp.Or(failed, <-results)
	}
	return failed
}

// due are, by partition, those that wait and whose locks end before a time. Behind a handler
// that let its own lock run out none is renewed: it may hang, and what waits for it is not
// lent for ever.
func (r *run) due(before time.Time) map[int32][]*waiter {
	r.mu.Lock()
	defer r.mu.Unlock()
	due := make(map[int32][]*waiter)
	for _, l := range r.lines {
		if l.ahead.ranOut() {
			continue
		}
		for _, w := range l.waiting {
			if !w.ended() && w.Deadline().Before(before) {
				due[w.Record.Partition] = append(due[w.Record.Partition], w)
			}
		}
	}
	return due
}

// renewSome renews those that still wait.
func (r *run) renewSome(ctx context.Context, e engine.AllExtender, some []*waiter) error {
	if !r.q.enter() {
		return nil // they are given back
	}
	defer r.q.leave()
	renewed := make(chan struct{})
	defer close(renewed)
	return e.ExtendAll(ctx, r.waiting(some, renewed), r.q.lent)
}

// waiting are the leases of those that have not begun: these wait, once they could, for
// renewed.
func (r *run) waiting(some []*waiter, renewed chan struct{}) (leases []*lease.Lease) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, w := range some {
		if !w.begun {
			w.renewing = renewed
			leases = append(leases, w.lease)
		}
	}
	return leases
}
