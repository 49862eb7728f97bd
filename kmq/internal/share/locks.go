package share

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"kafkabench.example/kafka-bench/kmq/internal/lease"
)

// keep sends acknowledgements that waited long enough, and renews locks that would expire before their leases.
func (m *member) keep() {
	ctx := m.e.ctx
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-m.nudge:
		case <-timer.C:
		}
		now := time.Now()
		if m.sendDue(now) {
			m.send()
		}
		m.renewDue(ctx, now)
		timer.Reset(m.sleep(now))
	}
}

func (m *member) sendDue(now time.Time) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.sendAt.IsZero() || now.Before(m.sendAt) {
		return false
	}
	m.sendAt = time.Time{}
	if now.Sub(m.lastAck) < answerWithin {
		m.sendAt = now.Add(sendAgain)
	}
	return true
}

func (m *member) sleep(now time.Time) time.Duration {
	m.mu.Lock()
	defer m.mu.Unlock()
	s := time.Second
	if len(m.held) > 0 {
		s = min(s, m.lookAt.Sub(now))
	}
	if !m.sendAt.IsZero() {
		s = min(s, m.sendAt.Sub(now))
	}
	return max(s, time.Millisecond)
}

// renewDue checks locks up to eight times in their duration: it renews those that are half over, and loses those that
// have expired.
func (m *member) renewDue(ctx context.Context, now time.Time) {
	var over []*lease.Lease
	due := make(map[int32][]*lease.Lease)
	half := m.halfALock()
	m.mu.Lock()
	if now.Before(m.lookAt) {
		m.mu.Unlock()
		return
	}
	m.lookAt = now.Add(min(time.Second, max(half/4, 10*time.Millisecond)))
	for _, le := range m.held {
		h := le.Private.(*hold)
		if until := le.Deadline(); !h.kept && h.handed.Load() && !until.After(h.until) {
			continue // the lease ends before its lock
		}
		switch left := h.until.Sub(now); {
		case left <= 0:
			over = append(over, le)
		case left < half && m.e.group.renews && !h.renewing && !h.refused:
			h.renewing = true
			due[le.At.Partition] = append(due[le.At.Partition], le)
		}
	}
	m.mu.Unlock()
	if len(over) > 0 {
		m.e.lose(over)
	}
	for partition, leases := range due {
		m.e.run.Go(func() { // a silent broker delays no other renewal
			if err := m.renew(ctx, partition, leases); err != nil && ctx.Err() == nil {
				m.complain("kmq: locks could not be renewed", err)
			}
		})
	}
}

// renew waits for the broker's answer. A refusal is final: the client does not ask again for a record whose session
// has ended.
func (m *member) renew(ctx context.Context, partition int32, leases []*lease.Lease) error {
	within, cancel := context.WithTimeout(ctx, answerWithin)
	defer cancel()
	asked := time.Now()
	m.mu.Lock()
	m.lastAck = asked
	if m.sendAt.IsZero() {
		m.sendAt = asked.Add(sendAgain)
		wake(m.nudge)
	}
	refused := m.answersOf(partition).refused
	for _, le := range leases {
		if le.Private.(*hold).refused {
			m.mu.Unlock()
			return fmt.Errorf("%w: an earlier renewal was refused", lease.ErrLost)
		}
	}
	m.mu.Unlock()

	err := m.ask(within, partition, leases)

	m.mu.Lock()
	defer m.mu.Unlock()
	a := m.answersOf(partition)
	if a.refused != refused {
		err = fmt.Errorf("%w: the lock was not renewed: %w", lease.ErrLost, a.last)
	}
	for _, le := range leases {
		l := le.Private.(*hold).lent
		l.renewing = false
		switch {
		case err == nil:
			l.give(asked, 2*m.halfALock())
		case errors.Is(err, lease.ErrLost):
			l.refused = true
		}
	}
	return err
}

// ask sends renewals twice and waits for an answer to each. Answers name only the partition, so the
// first answer may belong to an earlier request; the second cannot, because a client sends one
// request at a time. If nothing is outstanding after the first renewal, one is enough.
func (m *member) ask(ctx context.Context, partition int32, leases []*lease.Lease) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	idle := make(chan struct{})
	for round := range 2 {
		m.mu.Lock()
		a := m.answersOf(partition)
		seen := a.times
		m.mu.Unlock()
		for _, le := range leases {
			le.Private.(*hold).record.Ack(kgo.AckRenew)
		}
		if round == 0 {
			go func() {
				if m.client.FlushAcks(ctx) == nil {
					close(idle)
				}
			}()
		} else {
			m.send()
		}
		for {
			m.mu.Lock()
			more := a.more
			if a.times == seen && more == nil {
				more = make(chan struct{})
				a.more = more
			}
			known := a.times != seen
			m.mu.Unlock()
			if known {
				break
			}
			select {
			case <-more:
			case <-idle:
				return nil
			case <-ctx.Done():
				return fmt.Errorf("kmq: no answer to a renewal: %w", ctx.Err())
			}
		}
	}
	return nil
}

func (m *member) lockOf(le *lease.Lease) time.Time {
	m.mu.Lock()
	defer m.mu.Unlock()
	return le.Private.(*hold).until
}
