package share

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"kafkabench.example/kafka-bench/kmq/internal/lease"
)

// checkLocks renews the locks that are half over and end before their leases, and loses the leases whose locks have
// expired.
func (m *member) checkLocks(now time.Time) {
	due := make(map[int32][]*lease.Lease)
	half := m.lockDuration() / 2
	m.mu.Lock()
	lost := m.e.set.LoseAll(func(l *lease.Lease) bool {
		held := l.Private.(*brokerLock)
		if at := l.Deadline(); !at.IsZero() && !at.After(held.until) {
			return false
		}
		left := held.until.Sub(now)
		if left > 0 && left < half && !held.renewing && !held.refused {
			held.renewing = true
			due[l.At.Partition] = append(due[l.At.Partition], l)
		}
		return left <= 0
	})
	m.mu.Unlock()
	for _, l := range lost {
		if !l.Deadline().IsZero() {
			m.e.counts.lost.Add(1)
		}
	}
	ctx := m.e.ctx
	for partition, leases := range due {
		m.e.run.Go(func() { // a silent broker delays no other renewal
			if err := m.renew(ctx, partition, leases); err != nil && ctx.Err() == nil {
				m.mu.Lock()
				m.lockTrouble.About("renew locks", err)
				m.mu.Unlock()
			}
		})
	}
}

// renew waits for the broker's answer. A refusal is final: the client does not ask again for a record whose session
// has ended.
func (m *member) renew(ctx context.Context, partition int32, leases []*lease.Lease) error {
	ctx, cancel := context.WithTimeout(ctx, answerWithin)
	defer cancel()
	asked := time.Now()
	m.mu.Lock()
	m.lastAck = asked
	refused := m.answersOf(partition).refused
	m.mu.Unlock()
	err := m.askTwice(ctx, partition, leases)
	m.mu.Lock()
	defer m.mu.Unlock()
	if a := m.answersOf(partition); a.refused != refused {
		err = fmt.Errorf("%w: the lock was not renewed: %w", lease.ErrLost, a.last)
	}
	for _, l := range leases {
		held := l.Private.(*brokerLock)
		held.renewing = false
		switch {
		case held.refused:
			err = fmt.Errorf("%w: an earlier renewal was refused", lease.ErrLost)
		case err == nil:
			held.set(asked, m.lockDuration())
		case errors.Is(err, lease.ErrLost):
			held.refused = true
		}
	}
	return err
}

// askTwice sends renewals twice and waits for an answer to each. Answers name only the partition, so the first answer
// may belong to an earlier request; the second cannot, because a client sends one request at a time.
func (m *member) askTwice(ctx context.Context, partition int32, leases []*lease.Lease) error {
	for range 2 {
		m.mu.Lock()
		a := m.answersOf(partition)
		if a.next == nil {
			a.next = make(chan struct{})
		}
		next := a.next
		m.mu.Unlock()
		for _, l := range leases {
			l.Private.(*brokerLock).record.Ack(kgo.AckRenew)
		}
		m.send()
		select {
		case <-next:
		case <-ctx.Done():
			return fmt.Errorf("kmq: no answer to a renewal: %w", ctx.Err())
		}
	}
	return nil
}
