package kmq

import (
	"context"
	"errors"
	"sync"
	"time"

	"kafkabench.example/kafka-bench/kmq/internal/lease"
)

// worker calls the handler with one record at a time.
type worker struct {
	run     *run
	one     [1]*lease.Lease // for Lend
	job     job
	attempt attempt

	mu     sync.Mutex
	lease  *lease.Lease // of the running handler
	lent   bool
	begun  time.Duration // since the run's start: when it was lent, or its last call began
	ctx    context.Context
	cancel context.CancelCauseFunc
}

func (w *worker) work() {
	for w.job = range w.run.work {
		w.processLine()
	}
}

// processLine processes the worker's record and those behind it in its line. A handler that calls runtime.Goexit ends the
// goroutine; then another one goes on.
func (w *worker) processLine() {
	r, finished := w.run, false
	defer func() {
		if !finished {
			r.workers.Go(func() {
				w.processLine()
				w.work()
			})
		}
	}()
	for more := true; more; w.job, more = r.next(w.job) {
		j := w.job
		if w.attempt.err == nil { // else the goroutine before this one began it
			d := Delivery{Record: j.lease.Record, lease: j.lease, queue: r.q}
			switch {
			case r.handling.Err() != nil && j.lent:
				r.giveBack(d)
				continue
			case r.handling.Err() != nil:
				r.q.engine.Return([]*lease.Lease{j.lease})
				continue
			case !w.begin(j):
				continue
			}
			w.attempt.Delivery = d
		}
		w.process(&w.attempt)
		w.finish()
		if j.lease.Err() == nil { // nobody has settled it
			r.q.engine.ForgetHolder(j.lease)
		}
	}
	finished = true
	r.idle <- struct{}{}
}

// begin notes which record the worker has, and lends it unless it is lent. It returns false if the record has ended
// meanwhile.
func (w *worker) begin(j job) bool {
	r := w.run
	w.mu.Lock()
	if w.ctx == nil || w.ctx.Err() != nil {
		w.ctx, w.cancel = context.WithCancelCause(r.handling)
	}
	w.lease, w.lent, w.begun, w.one[0] = j.lease, j.lent, j.begun, j.lease
	w.mu.Unlock()
	open := j.lent && j.lease.Err() == nil
	if !j.lent { // it may have to wait for others before it is lent
		lent, err := r.q.engine.Lend(r.taking, w.one[:], r)
		if err != nil && r.taking.Err() == nil {
			r.fail(err)
		}
		open = len(lent) > 0
		w.mu.Lock()
		w.lent, w.begun = true, time.Since(r.start)
		w.mu.Unlock()
	}
	if !open {
		w.finish()
	}
	return open
}

// again prepares another call with the same record. It returns false if the record is no longer the worker's.
func (w *worker) again() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch cause := context.Cause(w.ctx); {
	case cause == nil:
	case errors.Is(cause, ErrExpired):
		w.ctx, w.cancel = context.WithCancelCause(w.run.handling)
	default:
		return false
	}
	w.begun = time.Since(w.run.start)
	return true
}

// interrupted reports whether the handler's context ended for another reason than its time.
func (w *worker) interrupted() bool {
	cause := context.Cause(w.ctx)
	return cause != nil && !errors.Is(cause, ErrExpired)
}

// finish notes that no handler of the worker runs.
func (w *worker) finish() {
	w.mu.Lock()
	w.lease = nil
	w.mu.Unlock()
}

func (w *worker) working() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.lease != nil
}

// Ended implements [lease.Holder]: it ends the context of the record's handler.
func (r *run) Ended(l *lease.Lease) {
	for _, w := range r.all {
		w.cancelHandler(l)
	}
}

func (w *worker) cancelHandler(l *lease.Lease) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.lease != l {
		return
	}
	switch err := l.Err(); {
	case w.run.q.calls.isClosed():
		w.cancel(ErrClosed)
	case err != nil:
		w.cancel(err)
	default: // its partition is being revoked
		w.cancel(ErrLost)
	}
}

// renewEvery bounds the time between two looks at the running handlers.
const renewEvery = time.Second

// renewLocks renews the locks of running handlers, and ends the contexts of those that take longer than RunConfig.Timeout.
func (r *run) renewLocks() {
	every := min(renewEvery, r.cfg.Timeout)
	if r.q.lent > 0 {
		every = min(every, r.q.lent/4)
	}
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
		case <-r.settling.Done():
			return
		}
		r.lines.resume()
		var renewals sync.WaitGroup
		for _, w := range r.all {
			if l, until := w.lockToRenew(); l != nil {
				renewals.Go(func() { r.renew(l, until) })
			}
		}
		renewals.Wait()
	}
}

// lockToRenew returns the lock that is to be renewed, and until when; nil if there is nothing to renew.
func (w *worker) lockToRenew() (l *lease.Lease, until time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.lease == nil || !w.lent {
		return nil, time.Time{}
	}
	begun := w.run.start.Add(w.begun)
	now, last := time.Now(), begun.Add(w.run.cfg.Timeout)
	deadline, lent := w.lease.Deadline(), w.run.q.lent
	extended := deadline.After(last) && deadline.Sub(begun) > lent+time.Second // by the handler
	if !now.Before(last) && !extended {
		w.cancel(ErrExpired)
		return nil, time.Time{}
	}
	if deadline.IsZero() || lent == 0 || deadline.Sub(now) > lent*2/3 || !deadline.Before(last) {
		return nil, time.Time{}
	}
	if until = now.Add(lent); until.After(last) {
		until = last
	}
	return w.lease, until
}

// renew extends a lock. An error needs no answer: the lock expires, or the next look tries again.
func (r *run) renew(l *lease.Lease, until time.Time) {
	if !r.q.calls.enter() {
		return
	}
	defer r.q.calls.leave()
	ctx, cancel := context.WithTimeout(r.settling, r.q.lent/3)
	defer cancel()
	if d := time.Until(until); d > 0 {
		if err := r.q.engine.Extend(ctx, l, d); err != nil && ctx.Err() == nil {
			r.complain("renew a lock", err)
		}
	}
}
