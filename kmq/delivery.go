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

// ID is a place in the queue's topic, of these fields:
//
//   - Partition int32: from 0.
//   - Offset int64: in that partition, from 0.
//
// It is comparable, so that it can be the key of a map.
type ID = lease.ID

// MaxDelay is the longest delay of Nack, and the longest time of Extend.
const MaxDelay = 12 * time.Hour

// Delivery is one record that was handed out by [Queue.Receive] or [Queue.Run]. It is a
// small value and may be copied. It is settled once, by Ack, Nack or Reject, on any
// goroutine; the others then get [ErrSettled].
type Delivery struct {
	// Record is the record as it was produced, with its key, headers and timestamp; its
	// partition and offset are those of the copy that was delivered.
	//
	// It is the application's, which may change all of its fields, and each header, and
	// may produce it elsewhere: what comes again, and what is given up, is the record as it
	// was. But the bytes of Key, of Value and of the headers' values are the queue's too:
	// put others in their place, and never write to these.
	Record *kgo.Record

	lease *lease.Lease
	queue *Queue
}

// ID is where the record was first: it names the record over all its attempts.
func (d Delivery) ID() ID { return d.lease.Origin }

// Attempt is 1 for the first delivery.
func (d Delivery) Attempt() int { return d.lease.Attempt }

// Deadline is until when the record is lent; zero where there is no bound. It counts by
// the monotonic clock of this process, which the broker's or the tracker's may lag behind,
// never the other way round.
func (d Delivery) Deadline() time.Time { return d.lease.Deadline() }

// Ack accepts the record: it is processed. It returns once that is noted; [Queue.Flush]
// waits until it is durable, and a crash before that delivers the record again. The error
// is [ErrSettled], [ErrExpired], [ErrLost] or [ErrClosed], or ctx's; after each of them
// but the first the record will be delivered again.
func (d Delivery) Ack(ctx context.Context) error {
	if !d.queue.enter() {
		return d.refused()
	}
	defer d.queue.leave()
	return d.queue.engine.Ack(ctx, d.lease)
}

// Nack releases the record, to be delivered again after a delay from 0 to [MaxDelay]. It
// counts as a delivery. Errors are those of Ack, [ErrUnsupported] of an engine that can't,
// and [ErrDelayed], after which the delivery is open.
func (d Delivery) Nack(ctx context.Context, delay time.Duration) error {
	switch {
	case delay < 0 || delay > MaxDelay:
		return fmt.Errorf("%w: Nack has a delay of %v: it must be from 0 to %v", ErrConfig, delay, MaxDelay)
	case !d.queue.enter():
		return d.refused()
	}
	defer d.queue.leave()
	return d.queue.engine.Nack(ctx, d.lease, delay)
}

// unhand gives back what was not begun, or was interrupted: uncounted where the engine can.
func (d Delivery) unhand(ctx context.Context) error {
	e, can := d.queue.engine.(engine.Unhander)
	switch {
	case !can:
		return d.Nack(ctx, 0)
	case !d.queue.enter():
		return d.refused()
	}
	defer d.queue.leave()
	return e.Unhand(ctx, d.lease)
}

// ended is whether the lock has run out, or the delivery is settled or lost.
func (d Delivery) ended() bool {
	deadline := d.lease.Deadline()
	return d.lease.Err() != nil || !deadline.IsZero() && !deadline.After(time.Now())
}

// ranOut is whether the lock has run out while the delivery was not settled.
func (d Delivery) ranOut() bool {
	err := d.lease.Err()
	return errors.Is(err, ErrExpired) || err == nil && d.ended()
}

// Extend renews the lock: until dur from now, above 0 and at most [MaxDelay], whatever was
// left of it. Errors are those of Nack.
func (d Delivery) Extend(ctx context.Context, dur time.Duration) error {
	switch {
	case dur <= 0 || dur > MaxDelay:
		return fmt.Errorf("%w: Extend is asked for %v: it must be above 0 and at most %v", ErrConfig, dur, MaxDelay)
	case !d.queue.enter():
		return d.refused()
	}
	defer d.queue.leave()
	return d.queue.engine.Extend(ctx, d.lease, dur)
}

// Reject gives the record up: it is in the dead-letter topic when Reject returns, with the
// reason, of which the first 1,024 bytes are kept, in a header. Errors are those of Nack;
// without a DeadLetterTopic that is [ErrUnsupported], but for Share, whose broker archives
// the record. Any other error is one by which the cluster refused the dead letter for good, such
// as a permission that is missing: the delivery is settled, and the record will be delivered
// again. With Plain, which delivers nothing again, the delivery stays open.
func (d Delivery) Reject(ctx context.Context, reason string) error {
	if !d.queue.enter() {
		return d.refused()
	}
	defer d.queue.leave()
	return d.queue.engine.Reject(ctx, d.lease, reason)
}

// refused is why a delivery of a closed queue can't be settled. What it gave back is lost to
// the queue as much as what a rebalance took.
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

// givenBack is ErrClosed, and ErrLost.
type givenBack struct{}

func (givenBack) Error() string   { return ErrClosed.Error() + ": the record was given back" }
func (givenBack) Unwrap() []error { return []error{ErrClosed, ErrLost} }
