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

// move is where a record goes that leaves its place.
type move struct {
	of       *slot
	lease    *lease.Lease // that the slot had when it was handed over
	dead     bool         // to the dead-letter topic, and not to the tail of its partition
	reason   string       // on dead letters
	due      time.Time    // since when; zero: that is not measured
	rejected bool
	told     chan error // of a Reject: told the outcome once, has room for it
	alone    bool       // too large for a batch of the client
	cancel   func()     // of a Reject whose copy is under way: the client gives it up if it can
}

// producer writes records: a kgo.Client.
type producer interface {
	Produce(ctx context.Context, r *kgo.Record, promise func(*kgo.Record, error))
}

// copier writes records that are too large for the producer: an engine.Copier.
type copier interface {
	Write(ctx context.Context, records ...*kgo.Record) []error
}

// enqueue hands a record over to the mover. The lease that its slot has keeps its room
// until the copy is durable, which is what bounds the queue.
func (e *Engine) enqueue(s *slot, m move) {
	m.of, m.lease = s, s.lease
	s.phase, s.move = moving, &m
	s.run.of.moving++
	e.moves = append(e.moves, &m)
	e.wakeMover()
}

func (e *Engine) wakeMover() {
	select {
	case e.wake <- struct{}{}:
	default:
	}
}

// moveRecords writes copies until ctx ends.
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

// moveBatch writes the copies that are due. It does not wait for them: a partition whose
// leader is away holds up its own records only.
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

// during is the context of a move: that of a Reject ends when its lock runs out.
func (e *Engine) during(ctx context.Context, m *move) context.Context {
	if !m.rejected {
		return ctx
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	ctx, m.cancel = context.WithCancel(ctx)
	if m.of.move != m {
		m.cancel() // it has run out
	}
	return ctx
}

// moveLarge writes, one after the other, the copies that are too large for a batch of the
// client, until ctx ends.
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

// copyOf is the record to be written by a move.
func (e *Engine) copyOf(m *move) *kgo.Record {
	l, deliveries := m.lease, m.lease.Attempt-1
	if m.dead {
		return lease.DeadLetter(l.Original(), l.Origin, deliveries, m.reason, e.cfg.Group, e.cfg.DeadLetterTopic, e.deadPartitions)
	}
	return lease.Copy(l.Original(), l.Origin, e.cfg.Topic, deliveries)
}

// moved is told that a copy is durable, or why it is not. ctx is that of all moves.
func (e *Engine) moved(ctx context.Context, m *move, err error) {
	if err == nil {
		step.At(step.Copied)
	}
	e.mu.Lock()
	at := m.lease.At
	again := e.settleMove(m, err, ctx.Err() != nil)
	e.mu.Unlock()
	switch {
	case err == nil:
		step.At(step.CopyEnded)
	case again:
		e.complaint.About("copy a record", fmt.Errorf("partition %d, offset %d: %w", at.Partition, at.Offset, err))
	}
}

// settleMove does what follows from the outcome of a move. It returns whether there is
// something to complain about. If the engine has not halted, a context that has ended is that of
// another move: the client gives up a batch with the first record in it.
func (e *Engine) settleMove(m *move, err error, halted bool) (again bool) {
	s := m.of
	s.run.of.moving--
	defer e.calm.Broadcast()
	m.end()
	switch {
	// The record that has the offset now is another one, or its lock ran out meanwhile.
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
		_ = e.set.Settle(s.lease, lease.Released) // it is lost where the partition is gone
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
		// Set aside, and tried again when a lock would have run out, then ever later: at
		// the end of its deliveries it is a dead letter again; one that was rejected is
		// delivered once more.
		e.tell(m, err)
		e.counts.Retried++
		s.phase, s.lease.Attempt = waiting, s.lease.Attempt-1
		_ = e.set.Extend(s.lease, time.Now().Add(aside(e.cfg.Visibility, s.aside)))
		s.aside = min(s.aside+1, mostRefused)
		return true
	default:
		// It can't be copied: too large with its headers, or writing is not allowed. It is
		// delivered in place, twice as often before that is tried again.
		e.counts.Retried++
		s.refused = min(s.refused+1, mostRefused)
		s.phase, s.run.of.changed = live, true
		e.out.Push(s.lease)
		return true
	}
}

// nowhere is whether the dead-letter topic has been missing for so long that it counts as
// refusing.
func (e *Engine) nowhere(m *move, err error) bool { return m.dead && e.missing.Refuses(err) }

// end lets go of what the client may still do.
func (m *move) end() {
	if m.cancel != nil {
		m.cancel()
		m.cancel = nil
	}
}

// overdue has a record delivered again whose lock has run out while it was being rejected:
// nobody knows when its copy will be written, and perhaps it comes to be as well. One that
// had its last delivery, or whose partition is being taken away, waits for it further.
func (e *Engine) overdue(s *slot, l *lease.Lease) {
	m, next := s.move, l.Again()
	next.Attempt = l.Attempt
	e.set.Add(next, time.Time{})
	s.lease = next
	if m.told != nil {
		e.counts.Expired++
		e.tell(m, fmt.Errorf("%w before it was in the dead-letter topic", lease.ErrExpired))
	}
	if e.cfg.MaxDeliveries > 0 && l.Attempt > e.cfg.MaxDeliveries || s.run.of.leaving {
		return
	}
	m.end()
	s.move, s.run.void = nil, true
	e.again(s, next, l.Deadline())
}

// mostRefused bounds what is waited between attempts at a copy: 2^6 locks, an hour if that
// is more than one.
const (
	mostRefused = 6
	mostAside   = time.Hour
)

// aside is how long a copy that was refused so often before is set aside. From the second
// time on it is spread: those that were refused together, for the sake of one of them, are
// not sent together again.
func aside(visibility time.Duration, times uint8) time.Duration {
	if times == 0 {
		return visibility
	}
	d := min(visibility<<times, max(visibility, mostAside))
	return d/2 + rand.N(d/2+1)
}

// lostBy is the error of a Reject whose record somebody else has by now; nil if the copy is durable.
func lostBy(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%w before it was in the dead-letter topic: %w", lease.ErrLost, err)
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
		e.givenUp.Record(m.lease.Origin, m.reason)
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
