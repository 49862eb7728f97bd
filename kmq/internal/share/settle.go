package share

import (
	"context"
	"fmt"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"kafkabench.example/kafka-bench/kmq/internal/lease"
	"kafkabench.example/kafka-bench/kmq/internal/step"
)

// Ack accepts a record. The acknowledgement is sent after sendEvery, or with an earlier fetch.
func (e *Engine) Ack(_ context.Context, l *lease.Lease) error {
	if err := e.set.Settle(l, lease.Accepted); err != nil {
		return err
	}
	e.counts.acked.Add(1)
	e.member.settle(l, kgo.AckAccept)
	step.At(step.Acked)
	return nil
}

// Nack releases a record. For a delay, which the protocol lacks, this process keeps the record and
// renews its lock. The record counts against MaxInFlight, and is released if this process ends.
func (e *Engine) Nack(_ context.Context, l *lease.Lease, delay time.Duration) error {
	if delay <= 0 {
		if err := e.set.Settle(l, lease.Released); err != nil {
			return err
		}
		e.member.settle(l, kgo.AckRelease)
	} else if _, err := e.withhold(l, lease.Released, time.Now().Add(delay)); err != nil {
		return err
	}
	e.counts.nacked.Add(1)
	return nil
}

// Extend renews the lock now and, if d is longer than the lock, repeatedly. It returns after the broker's answer.
func (e *Engine) Extend(ctx context.Context, l *lease.Lease, d time.Duration) error {
	if err := e.set.Check(l); err != nil {
		return err
	}
	until := time.Now().Add(d)
	if err := e.member.renew(ctx, l.At.Partition, []*lease.Lease{l}); err != nil {
		if settled := e.set.Check(l); settled != nil {
			return settled
		}
		return err
	}
	return e.set.Extend(l, until)
}

// Reject copies a record to the dead-letter topic and rejects it.
func (e *Engine) Reject(ctx context.Context, l *lease.Lease, reason string) error {
	kept, err := e.withhold(l, lease.Rejected, time.Time{})
	if err != nil {
		return err
	}
	step.At(step.BeforeCopy)
	if err := e.copier.Bury(ctx, e.deadLetter(l, l.Attempt, reason)); err != nil {
		_ = e.set.Settle(kept, lease.Released)
		e.member.settle(kept, kgo.AckRelease)
		return fmt.Errorf("kmq: the record could not be written to %s and is released: %w", e.cfg.DeadLetterTopic, err)
	}
	step.At(step.Copied)
	e.counts.deadLettered.Add(1)
	e.givenUp.Record(l.Origin(), reason)
	e.counts.rejected.Add(1)
	if err := e.set.Settle(kept, lease.Rejected); err != nil {
		return nil // lost meanwhile: the record is also delivered again
	}
	e.member.settle(kept, kgo.AckReject)
	step.At(step.CopyEnded)
	return nil
}

// withheld marks the leases that withhold returns.
const withheld = 1

// withhold settles a lease for the application but keeps its lock until a time; zero: until the caller settles the
// returned lease.
func (e *Engine) withhold(l *lease.Lease, as lease.State, until time.Time) (*lease.Lease, error) {
	kept := l.Again()
	kept.Attempt, kept.Mark = l.Attempt, withheld
	return kept, e.set.Swap(l, as, kept, until)
}

func (e *Engine) expired(l *lease.Lease) {
	if l.Mark != withheld {
		e.counts.expired.Add(1)
		e.counts.mu.Lock()
		e.counts.lateness.Add(time.Since(l.Deadline()))
		e.counts.mu.Unlock()
	}
	e.member.settle(l, kgo.AckRelease)
}
