package offsetmap

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"

	"kafka-bench/kmq/internal/engine"
	"kafka-bench/kmq/internal/lease"
	"kafka-bench/kmq/internal/step"
)

// move is where a record goes that leaves its place.
type move struct {
	dead   bool       // to the dead-letter topic, and not to the tail of its partition
	reason string     // on dead letters
	due    time.Time  // since when; zero: that is not measured
	told   chan error // of a Reject: told the outcome once, has room for it
	alone  bool       // too large for a batch of the client
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
	s.phase, s.move = moving, &m
	s.run.of.moving++
	e.moves = append(e.moves, s)
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
	for _, s := range batch {
		step.At(step.BeforeCopy)
		e.producer.Produce(ctx, e.copyOf(s), func(_ *kgo.Record, err error) { e.moved(s, err) })
	}
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
		for _, s := range batch {
			e.moved(s, e.copier.Write(ctx, e.copyOf(s))[0])
		}
	}
}

// copyOf is the record to be written for a slot.
func (e *Engine) copyOf(s *slot) *kgo.Record {
	l, deliveries := s.lease, s.lease.Attempt-1
	if s.move.dead {
		return lease.DeadLetter(l.Original(), l.Origin, deliveries, s.move.reason, e.cfg.Group, e.cfg.DeadLetterTopic, e.deadPartitions)
	}
	return lease.Copy(l.Original(), l.Origin, e.cfg.Topic, deliveries)
}

// moved is told that a copy is durable, or why it is not.
func (e *Engine) moved(s *slot, err error) {
	if err == nil {
		step.At(step.Copied)
	}
	e.mu.Lock()
	at := s.lease.At
	again := e.settleMove(s, err)
	e.mu.Unlock()
	switch {
	case err == nil:
		step.At(step.CopyEnded)
	case again:
		e.complaint.About("copy a record", fmt.Errorf("partition %d, offset %d: %w", at.Partition, at.Offset, err))
	}
}

// settleMove does what follows from the outcome of a move. It returns whether there is
// something to complain about.
func (e *Engine) settleMove(s *slot, err error) (again bool) {
	s.run.of.moving--
	defer e.calm.Broadcast()
	switch {
	case s.phase == void: // the record that has the offset now is another one
		if err == nil {
			e.countMove(s)
		}
		e.tell(s, err)
		return false
	case err == nil:
		e.countMove(s)
		e.tell(s, nil)
		_ = e.set.Settle(s.lease, lease.Released) // it is lost where the partition is gone
		e.finish(s)
		return false
	case s.run.of.gone || errors.Is(err, context.Canceled):
		e.tell(s, err)
		return false
	case errors.Is(err, kerr.MessageTooLarge) && !s.move.alone:
		s.run.of.moving++
		s.move.alone = true
		e.large = append(e.large, s)
		select {
		case e.wakeLarge <- struct{}{}:
		default:
		}
		return false
	case !engine.Fatal(err):
		s.move.alone = false
		s.run.of.moving++
		e.moves, e.failed = append(e.moves, s), true
		e.wakeMover()
		return true
	case s.move.dead:
		// Set aside, and tried again when a lock would have run out, then ever later: at
		// the end of its deliveries it is a dead letter again; one that was rejected is
		// delivered once more.
		e.tell(s, err)
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

func (e *Engine) tell(s *slot, err error) {
	if s.move.told != nil {
		s.move.told <- err
		s.move.told = nil
	}
}

func (e *Engine) countMove(s *slot) {
	if s.move.dead {
		e.counts.DeadLettered++
		e.givenUp.Record(s.lease.Origin, s.move.reason)
	} else {
		e.counts.Tailed++
	}
	if s.move.told != nil {
		e.counts.Rejected++
	}
	if !s.move.due.IsZero() {
		e.counts.Lateness.Add(time.Since(s.move.due))
	}
}
