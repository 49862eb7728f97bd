package offsetmap

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"

	"kafkabench.example/kafka-bench/kmq/internal/engine"
	"kafkabench.example/kafka-bench/kmq/internal/lease"
	"kafkabench.example/kafka-bench/kmq/internal/step"
)

type move struct {
	of       *slot
	lease    *lease.Lease
	dead     bool
	reason   string
	due      time.Time // end of the lock; zero: lateness is not measured
	until    time.Time // from when on the copy in the retry topic may be delivered
	rejected bool
	told     chan error // for the result of a Reject: buffered, sent once
	alone    bool
	cancel   func() // of a running Reject: the client gives the copy up
}

type producer interface {
	Produce(ctx context.Context, r *kgo.Record, promise func(*kgo.Record, error))
}

type copier interface {
	Write(ctx context.Context, records ...*kgo.Record) []error
}

// A queued slot's lease keeps its place until the copy is durable, so that MaxInFlight bounds the
// queued copies.
func (e *Engine) enqueue(s *slot, m move) {
	m.of, m.lease = s, s.lease
	s.phase, s.move, s.run.of.changed = moving, &m, true
	s.run.of.moving++
	if s.marks&dropped != 0 {
		e.readAgain(toRead{slot: s, lease: s.lease})
		return
	}
	e.moves = append(e.moves, &m)
	e.wakeMover()
}

func (e *Engine) wakeMover() {
	select {
	case e.wake <- struct{}{}:
	default:
	}
}

func (e *Engine) moveRecords(ctx context.Context) {
	wait := engine.NewWait()
	for {
		select {
		case <-ctx.Done():
			return
		case <-e.wake:
		}
		e.mu.Lock()
		failed := e.failed
		e.failed = false
		e.mu.Unlock()
		if !failed {
			wait = engine.NewWait()
		} else if wait.Sleep(ctx) != nil {
			return
		}
		e.moveBatch(ctx)
	}
}

// moveBatch does not wait for the copies, so that a partition without a leader delays no other.
func (e *Engine) moveBatch(ctx context.Context) {
	e.mu.Lock()
	batch := e.moves
	e.moves = nil
	e.mu.Unlock()
	for _, m := range batch {
		step.At(step.BeforeCopy)
		e.producer.Produce(e.during(ctx, m), e.copyOf(m), func(_ *kgo.Record, err error) { e.moved(ctx, m, err) })
	}
}

// The context of a Reject's copy ends with the record's lock.
func (e *Engine) during(ctx context.Context, m *move) context.Context {
	if !m.rejected {
		return ctx
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	ctx, m.cancel = context.WithCancel(ctx)
	if m.of.move != m {
		m.cancel()
	}
	return ctx
}

func (e *Engine) moveLarge(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-e.wakeLarge:
		}
		e.mu.Lock()
		batch := e.large
		e.large = nil
		e.mu.Unlock()
		for _, m := range batch {
			e.moved(ctx, m, e.copier.Write(e.during(ctx, m), e.copyOf(m))[0])
		}
	}
}

func (e *Engine) copyOf(m *move) *kgo.Record {
	l, deliveries := m.lease, m.lease.Attempt-1
	if m.dead {
		return l.DeadLetter(deliveries, m.reason, e.cfg.Group, e.cfg.DeadLetterTopic, e.topics.DeadLetterPartitions)
	}
	return l.RetryCopy(deliveries, m.until, e.cfg.Group, e.cfg.RetryTopic, e.topics.RetryPartitions)
}

func (e *Engine) moved(ctx context.Context, m *move, err error) {
	if err == nil {
		step.At(step.Copied)
	}
	e.mu.Lock()
	at := m.lease.Origin()
	again := e.settleMove(m, err, ctx.Err() != nil)
	e.mu.Unlock()
	switch {
	case err == nil:
		step.At(step.CopyEnded)
	case again:
		e.complaint.About("copy a record", fmt.Errorf("partition %d, offset %d: %w", at.Partition, at.Offset, err))
	}
}

// settleMove reports whether to log the error of a failed copy. The record is then copied again, or
// delivered. If a context was canceled but neither this move nor the engine has ended, it was the
// context of another move: the client gives up a whole batch with the batch's first record.
func (e *Engine) settleMove(m *move, err error, halted bool) (again bool) {
	s := m.of
	s.run.of.moving--
	defer e.calm.Broadcast()
	m.end()
	switch {
	case s.phase == void || s.move != m:
		if err == nil {
			e.countMove(m)
		}
		e.tell(m, lostBy(err))
		return false
	case err == nil:
		if m.dead {
			e.missing.Refuses(nil)
		}
		e.countMove(m)
		e.tell(m, nil)
		_ = e.set.Settle(s.lease, lease.Released) // fails if the partition is gone
		e.finish(s)
		return false
	case s.run.of.gone || halted:
		e.tell(m, lostBy(err))
		return false
	case errors.Is(err, kerr.MessageTooLarge) && !m.alone:
		s.run.of.moving++
		m.alone = true
		e.large = append(e.large, m)
		select {
		case e.wakeLarge <- struct{}{}:
		default:
		}
		return false
	case !engine.Fatal(err) && !e.nowhere(m, err):
		m.alone = false
		s.run.of.moving++
		e.moves, e.failed = append(e.moves, m), true
		e.wakeMover()
		return true
	case m.dead:
		// Retry after the time of a lock, then after longer times. A record without deliveries left is
		// then copied again; a rejected record is delivered once more.
		e.tell(m, err)
		e.counts.Retried++
		e.waitInPlace(s, time.Now().Add(aside(e.cfg.Visibility, s.aside)))
		s.aside = min(s.aside+1, mostRefused)
		return true
	default:
		// The copy is too large with its headers, or not permitted. The record stays in its place.
		e.counts.Retried++
		s.marks |= stuck
		e.waitInPlace(s, m.until)
		return true
	}
}

// waitInPlace undoes what enqueue did.
func (e *Engine) waitInPlace(s *slot, until time.Time) {
	s.move = nil
	s.lease.Attempt--
	_ = e.set.Extend(s.lease, until) // fails if it was lost meanwhile
	e.wait(s)
}

func (e *Engine) nowhere(m *move, err error) bool { return m.dead && e.missing.Refuses(err) }

func (m *move) end() {
	if m.cancel != nil {
		m.cancel()
		m.cancel = nil
	}
}

// After its last delivery, or during a revocation, the record waits for the copy. Otherwise it is
// delivered again, although the copy may still be written.
func (e *Engine) overdue(s *slot, l *lease.Lease) {
	m, next := s.move, l.Again()
	next.Attempt = l.Attempt
	e.set.Add(next, time.Time{})
	s.lease = next
	if m.told != nil {
		e.counts.Expired++
		e.tell(m, fmt.Errorf("%w before the record was in the dead-letter topic", lease.ErrExpired))
	}
	if e.isLast(l.Attempt-1) || s.run.of.leaving {
		return
	}
	m.end()
	s.move, s.run.void = nil, true
	e.again(s, next, l.Deadline())
}

// The delay between copies is at most 2^6 locks, and at most one hour unless a lock is longer.
const (
	mostRefused = 6
	mostAside   = time.Hour
)

// From the second refusal on the delay is random, because copies that were refused together should not be sent
// together again.
func aside(visibility time.Duration, times uint8) time.Duration {
	if times == 0 {
		return visibility
	}
	d := min(visibility<<times, max(visibility, mostAside))
	return d/2 + rand.N(d/2+1)
}

// lostBy returns the error of a Reject whose record was lost; nil if the copy is durable.
func lostBy(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%w before the record was in the dead-letter topic: %w", lease.ErrLost, err)
}

func (e *Engine) tell(m *move, err error) {
	if m.told != nil {
		m.told <- err
		m.told = nil
	}
}

func (e *Engine) countMove(m *move) {
	if m.dead {
		e.counts.DeadLettered++
		e.givenUp.Record(m.lease.Origin(), m.reason)
	} else {
		e.counts.Tailed++
	}
	if m.told != nil {
		e.counts.Rejected++
	}
	if !m.due.IsZero() {
		e.counts.Lateness.Add(time.Since(m.due))
	}
}
