package kmq

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"time"

	"kafkabench.example/kafka-bench/kmq/internal/lease"
)

// attempt is one call of the handler with a record.
type attempt struct {
	Delivery
	err error // why it failed
}

// process loops only if the engine cannot release a record.
func (w *worker) process(a *attempt) {
	r := w.run
	for again := a.err == nil || w.failed(a) && w.again(); again; again = w.failed(a) && w.again() {
		if a.ended() || r.q.calls.isClosed() {
			return
		}
		if a.err = w.call(a); a.err == nil {
			r.settle(a.Delivery, a.Ack)
			return
		}
	}
}

// failed settles an attempt that has ended with an error. It returns true if the worker itself must try again.
func (w *worker) failed(a *attempt) (again bool) {
	r, d, err := w.run, a.Delivery, a.err
	a.err = nil
	if reject, ok := rejection(err); ok {
		r.q.handlers.rejections.Add(1)
		r.reject(d, reject.Reason)
		return false
	}
	_, panicked := errors.AsType[*HandlerPanic](err)
	if !panicked && w.interrupted() {
		r.giveBack(d)
		return false
	}
	if after, ok := errors.AsType[After](err); ok && !panicked {
		return w.postponed(a, min(max(time.Duration(after), 0), MaxDelay))
	}
	attempts := d.Attempt()
	delay := r.q.retry.delayAfter(attempts, err)
	if panicked {
		r.q.handlers.panics.Add(1)
		r.q.log.Error("kmq: a handler panicked", "partition", d.ID().Partition, "offset", d.ID().Offset, "attempt", attempts, "error", err)
	} else {
		r.q.handlers.failed(w.ctx.Err() != nil) // an interruption was seen above
		r.q.log.Debug("kmq: a handler failed", "partition", d.ID().Partition, "offset", d.ID().Offset, "attempt", attempts, "delay", delay, "error", err)
	}
	d.lease.Failed(err.Error(), time.Now())
	switch {
	case r.releaseAfter(d, delay, d.Nack):
		return false
	case r.q.most > 0 && attempts >= r.q.most:
		r.reject(d, fmt.Sprintf("delivered %d times", attempts))
		return false
	}
	if again = w.waited(a, delay); again {
		a.lease.Attempt++ // no other goroutine looks at it
	}
	return again
}

// postponed releases a record whose handler asked for it again. The result is as that of failed.
func (w *worker) postponed(a *attempt, delay time.Duration) (again bool) {
	return !w.run.releaseAfter(a.Delivery, delay, a.unhand) && w.waited(a, delay)
}

// waited prepares the next attempt of a record that the engine cannot release. If the run ends first, it gives the record
// back and returns false.
func (w *worker) waited(a *attempt, delay time.Duration) bool {
	if r := w.run; !pause(r.taking, delay) || r.handling.Err() != nil {
		r.giveBack(a.Delivery)
		return false
	}
	a.Record = a.lease.Original()
	return true
}

// call returns a panic as an error. With Crash it also ends the run, and end repeats the panic.
func (w *worker) call(a *attempt) (err error) {
	r, returned := w.run, false
	defer func() {
		r.q.handlers.took(time.Since(r.start) - w.begun)
		if returned {
			return
		}
		value := recover()
		p, ofBatch := value.(*HandlerPanic)
		if !ofBatch {
			p = &HandlerPanic{Value: value, Stack: debug.Stack()}
		}
		err, a.err = p, p // after runtime.Goexit, nobody gets err
		if r.cfg.OnPanic != Crash {
			return
		}
		r.mu.Lock()
		if r.panic == nil {
			r.panic = p
		}
		r.mu.Unlock()
		r.halt(p)
	}()
	err = r.handle(w.ctx, a.Delivery)
	returned = true
	return err
}

// giveBack releases a record. The delivery counts as an attempt only if the engine cannot avoid
// that. A record that the engine cannot release goes back as if it had never been lent.
func (r *run) giveBack(d Delivery) {
	if !r.released(d, func(ctx context.Context) error { return d.unhand(ctx, 0) }) {
		d.lease.Record = d.lease.Original()
		r.q.engine.Return([]*lease.Lease{d.lease})
	}
}

// A refusal by the dead-letter topic does not end the run. If the engine keeps the delivery open, a
// goroutine retries the Reject.
func (r *run) reject(d Delivery, reason string) {
	refused := false
	r.settle(d, func(ctx context.Context) error {
		err := d.Reject(ctx, reason)
		if refused = ctx.Err() == nil && uncopied(err); refused {
			r.complain("reject a record", err)
			return nil
		}
		return err
	})
	if refused && d.lease.Err() == nil {
		r.rejecting.Go(func() { r.rejectLater(d, reason) })
	}
}

func (r *run) rejectLater(d Delivery, reason string) {
	for try := 1; pause(r.taking, r.q.retry.delayAfter(try, nil)) && !d.ended() && !r.q.calls.isClosed(); try++ {
		err := d.Reject(r.taking, reason)
		if !uncopied(err) {
			return
		}
		r.complain("reject a record", err)
	}
}

// uncopied reports whether the dead-letter topic caused err.
func uncopied(err error) bool {
	return err != nil && !slices.ContainsFunc(
		[]error{ErrSettled, ErrExpired, ErrLost, ErrClosed, ErrUnsupported, ErrConfig, context.Canceled, context.DeadlineExceeded},
		func(other error) bool { return errors.Is(err, other) })
}

func (r *run) complain(what string, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.complaint.About(what, err)
}

const retryDelayed = 50 * time.Millisecond

// releaseAfter calls how, and again while it returns ErrDelayed. The engine ends the wait when the lock expires. If the run
// ends, the record is released without a delay.
func (r *run) releaseAfter(d Delivery, delay time.Duration, how func(context.Context, time.Duration) error) (can bool) {
	return r.released(d, func(ctx context.Context) error {
		for {
			if err := how(ctx, delay); !errors.Is(err, ErrDelayed) {
				return err
			}
			if !pause(r.taking, retryDelayed) {
				return how(ctx, 0)
			}
		}
	})
}

func (r *run) released(d Delivery, how func(context.Context) error) (can bool) {
	can = true
	r.settle(d, func(ctx context.Context) error {
		err := how(ctx)
		if errors.Is(err, ErrUnsupported) {
			can = false
			return nil
		}
		return err
	})
	return can
}

// settle calls how, which may take as long as the run lasts. An unexpected error ends the run.
func (r *run) settle(d Delivery, how func(context.Context) error) {
	err := how(r.settling)
	switch {
	case err == nil || errors.Is(err, ErrSettled):
	case errors.Is(err, ErrExpired) || errors.Is(err, ErrLost) || errors.Is(err, ErrClosed):
		r.q.log.Info("kmq: a handler was too late", "partition", d.ID().Partition, "offset", d.ID().Offset, "attempt", d.Attempt(), "error", err)
	default:
		r.fail(fmt.Errorf("kmq: settle the record at offset %d of partition %d: %w", d.ID().Offset, d.ID().Partition, err))
	}
}

// fail ends the run with an error.
func (r *run) fail(err error) {
	r.mu.Lock()
	if r.err == nil {
		r.err = err
	}
	r.mu.Unlock()
	r.halt(err)
}

func pause(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
