package kmq

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"time"
)

// process loops only if the engine cannot release a record.
func (r *run) process(d Delivery) {
	for try := 1; ; try++ {
		if r.handling.Err() != nil {
			r.giveBack(d)
			return
		}
		if d.ended() || r.q.closed.Load() {
			return
		}
		err := r.call(d)
		if err == nil {
			r.settle(d, d.Ack)
			return
		}
		if reject, ok := rejection(err); ok {
			r.reject(d, reject.Reason)
			return
		}
		if _, panicked := errors.AsType[*HandlerPanic](err); !panicked && r.handling.Err() != nil {
			r.giveBack(d)
			return
		}
		delay := r.q.backoff.after(max(try, d.Attempt()))
		r.q.log.Debug("kmq: a handler failed", "partition", d.lease.At.Partition, "offset", d.lease.At.Offset, "attempt", d.Attempt(), "delay", delay, "error", err)
		if r.nack(d, delay) || !pause(r.handling, delay) {
			return
		}
		d.Record = d.lease.Original()
	}
}

// call records a panic for end to repeat, and returns it as an error.
func (r *run) call(d Delivery) (err error) {
	returned := false
	defer func() {
		if returned {
			return
		}
		p := &HandlerPanic{Value: recover(), Stack: debug.Stack()}
		if p.Value == nil { // runtime.Goexit, which continues after this function
			defer r.nack(d, 0)
		}
		r.q.log.Error("kmq: a handler panicked", "partition", d.lease.At.Partition, "offset", d.lease.At.Offset, "panic", p.Value)
		r.mu.Lock()
		if r.panic == nil {
			r.panic = p
		}
		r.mu.Unlock()
		r.halt(p)
		err = p
	}()
	err = r.handle(r.handling, d)
	returned = true
	return err
}

// giveBack releases a record. The delivery counts as an attempt only if the engine cannot avoid
// that.
func (r *run) giveBack(d Delivery) { r.released(d, d.unhand) }

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
	for try := 1; pause(r.handling, r.q.backoff.after(try)) && !d.ended() && !r.q.closed.Load(); try++ {
		err := d.Reject(r.handling, reason)
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

func (r *run) nack(d Delivery, delay time.Duration) (can bool) {
	return r.released(d, func(ctx context.Context) error { return r.nackOnceThereIsRoom(ctx, d, delay) })
}

const retryDelayed = 50 * time.Millisecond

// nackOnceThereIsRoom retries Nack while it returns ErrDelayed. The engine ends the wait when the
// lock expires. If the run ends, the record is released without a delay.
func (r *run) nackOnceThereIsRoom(ctx context.Context, d Delivery, delay time.Duration) error {
	for {
		if err := d.Nack(ctx, delay); !errors.Is(err, ErrDelayed) {
			return err
		}
		if !pause(r.handling, retryDelayed) {
			return d.Nack(ctx, 0)
		}
	}
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

// settle calls how, which may take settleGrace after the run has ended. An unexpected error ends
// the run.
func (r *run) settle(d Delivery, how func(context.Context) error) {
	ctx := r.settling
	if r.handling.Err() != nil {
		late, cancel := context.WithTimeout(context.WithoutCancel(ctx), settleGrace)
		defer cancel()
		ctx = late
	}
	err := how(ctx)
	switch {
	case err == nil || errors.Is(err, ErrSettled):
	case errors.Is(err, ErrExpired) || errors.Is(err, ErrLost) || errors.Is(err, ErrClosed):
		r.q.log.Info("kmq: a handler was too late", "partition", d.lease.At.Partition, "offset", d.lease.At.Offset, "attempt", d.Attempt(), "error", err)
	default:
		err = fmt.Errorf("kmq: settle the record at offset %d of partition %d: %w", d.lease.At.Offset, d.lease.At.Partition, err)
		r.mu.Lock()
		if r.err == nil {
			r.err = err
		}
		r.mu.Unlock()
		r.halt(err)
	}
}

func (b Backoff) after(attempts int) time.Duration {
	d := b.Min
	for i := 1; i < attempts && d < b.Max && d > 0; i++ {
		d *= 2
	}
	return min(d, b.Max)
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
