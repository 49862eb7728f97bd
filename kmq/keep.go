package kmq

import (
	"cmp"
	"context"
	"time"

	"kafkabench.example/kafka-bench/kmq/internal/engine"
	"kafkabench.example/kafka-bench/kmq/internal/lease"
)

// With an Order, records wait in a line behind a record of the same partition or key. A run renews
// their locks, so that a slow record does not use up the attempts of those behind it.

// run.mu guards all but Delivery.
type waiter struct {
	Delivery
	begun    bool
	renewing chan struct{} // closed when the current renewal ends; nil: never renewed
}

// keepsPer is the number of checks in each Visibility. A check renews the locks that expire within
// half of Visibility.
const keepsPer = 4

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

// renew checks once and renews each partition separately, so that an unwritable partition delays
// only its own records. It gives up after a quarter of Visibility.
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

// due returns, by partition, the waiting deliveries whose locks expire before a time. It skips the
// line of a handler whose own lock has expired: the handler may hang.
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

func (r *run) renewSome(ctx context.Context, e engine.AllExtender, some []*waiter) error {
	if !r.q.enter() {
		return nil // Close gives the records back
	}
	defer r.q.leave()
	renewed := make(chan struct{})
	defer close(renewed)
	return e.ExtendAll(ctx, r.waiting(some, renewed), r.q.lent)
}

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
