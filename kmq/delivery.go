package kmq

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"kafkabench.example/kafka-bench/kmq/internal/engine"
	"kafkabench.example/kafka-bench/kmq/internal/lease"
)

// ID is a position in the queue's topic.
type ID struct {
	Partition int32 // from 0
	Offset    int64 // in that partition, from 0
}

// String returns partition and offset, as in 3@17.
func (id ID) String() string { return lease.ID(id).String() }

// MaxDelay is the longest time of Nack and Extend.
const MaxDelay = 12 * time.Hour

// Delivery is one delivered record. It may be copied. Ack, Nack or Reject settles it once, on any
// goroutine; later calls return [ErrSettled]. Tests of handlers make one with kmqtest.Delivery; the
// methods of a Delivery that has only a Record return an error, or zero.
type Delivery struct {
	// Record is the record as it was produced, with its key, headers and timestamp, and where
	// it was produced: a copy from the retry topic has the topic, the partition and the offset of the original record.
	//
	// The application may change its fields and headers; a redelivery and a dead letter still have
	// the original record. The queue shares the bytes of Key, Value and header values, so the
	// application must never write to them.
	Record *kgo.Record

	lease *lease.Lease
	queue *Queue
}

// ID returns the position of the original record, which is the same for all attempts.
func (d Delivery) ID() ID {
	if d.lease == nil {
		return ID{}
	}
	return ID(d.lease.Origin())
}

// Attempt is 1 for the first delivery.
func (d Delivery) Attempt() int {
	if d.lease == nil {
		return 0
	}
	return d.lease.Attempt
}

// Deadline is the time at which the lock expires; zero means never. It uses this process's
// monotonic clock. The broker or the tracker may let the lock expire later, but never earlier.
func (d Delivery) Deadline() time.Time {
	if d.lease == nil {
		return time.Time{}
	}
	return d.lease.Deadline()
}

// errNoQueue is the error of a Delivery that a program made itself.
var errNoQueue = errors.New("kmq: the delivery is not from a queue: tests make one with kmqtest.Delivery")

// enter begins a call that settles or extends, which ends with d.queue.calls.leave. The error says why it may not begin.
func (d Delivery) enter() error {
	switch {
	case d.queue == nil:
		return errNoQueue
	case !d.queue.calls.enter():
		return d.refused()
	}
	return nil
}

// Ack marks the record as processed. It does not wait until the mark is durable: [Queue.Flush]
// does. After a crash before that, the record is delivered again. The error is [ErrSettled],
// [ErrExpired], [ErrLost], [ErrClosed] or ctx's. After any of these except ErrSettled, the record
// will be delivered again.
func (d Delivery) Ack(ctx context.Context) error {
	if err := d.enter(); err != nil {
		return err
	}
	defer d.queue.calls.leave()
	return d.queue.engine.Ack(ctx, d.lease)
}

// Nack releases the record for another delivery after a delay from 0 to [MaxDelay]. The released
// delivery counts in the next Attempt. The errors are those of Ack, [ErrUnsupported] if the engine
// cannot release a record, and [ErrDelayed], after which the delivery is still open.
func (d Delivery) Nack(ctx context.Context, delay time.Duration) error {
	if delay < 0 || delay > MaxDelay {
		return fmt.Errorf("%w: Nack has a delay of %v: it must be from 0 to %v", ErrConfig, delay, MaxDelay)
	}
	if err := d.enter(); err != nil {
		return err
	}
	defer d.queue.calls.leave()
	return d.queue.engine.Nack(ctx, d.lease, delay)
}

// unhand releases a record that no handler began or completed for another delivery after a delay. The delivery counts as
// an attempt only if the engine cannot avoid that.
func (d Delivery) unhand(ctx context.Context, delay time.Duration) error {
	e, can := d.queue.engine.(engine.Unhander)
	switch {
	case !can:
		return d.Nack(ctx, delay)
	case !d.queue.calls.enter():
		return d.refused()
	}
	defer d.queue.calls.leave()
	return e.Unhand(ctx, d.lease, delay)
}

func (d Delivery) ended() bool {
	return d.lease.Err() != nil || d.lease.RanOut()
}

// Extend sets the lock to expire dur from now. dur is above 0 and at most [MaxDelay]. The errors
// are those of Nack.
func (d Delivery) Extend(ctx context.Context, dur time.Duration) error {
	if dur <= 0 || dur > MaxDelay {
		return fmt.Errorf("%w: Extend is asked for %v: it must be above 0 and at most %v", ErrConfig, dur, MaxDelay)
	}
	if err := d.enter(); err != nil {
		return err
	}
	defer d.queue.calls.leave()
	return d.queue.engine.Extend(ctx, d.lease, dur)
}

// Reject gives the record up. When it returns nil, the record is in the dead-letter topic, with the
// first 1,024 bytes of reason in a header. The errors are those of Nack, or the cluster's permanent refusal of the dead letter, such as a missing permission. After a refusal the
// delivery is settled and the record will be delivered again; with Plain, the delivery stays open.
func (d Delivery) Reject(ctx context.Context, reason string) error {
	if err := d.enter(); err != nil {
		return err
	}
	defer d.queue.calls.leave()
	return d.queue.engine.Reject(ctx, d.lease, reason)
}

// refused returns the error of a call on a closed queue: both ErrClosed and ErrLost for a record
// that Close gave back.
func (d Delivery) refused() error {
	switch err := d.lease.Err(); {
	case err == nil:
		return ErrClosed
	case errors.Is(err, ErrLost):
		return givenBack{}
	default:
		return err
	}
}

type givenBack struct{}

func (givenBack) Error() string   { return ErrClosed.Error() + ": the record was given back" }
func (givenBack) Unwrap() []error { return []error{ErrClosed, ErrLost} }
