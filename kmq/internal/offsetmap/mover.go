package offsetmap

import (
	"context"
	"errors"
	"time"

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
}

// producer writes records: a kgo.Client.
type producer interface {
	Produce(ctx context.Context, r *kgo.Record, promise func(*kgo.Record, error))
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

// copyOf is the record to be written for a slot.
func (e *Engine) copyOf(s *slot) *kgo.Record {
	l, deliveries := s.lease, s.lease.Attempt-1
	if s.move.dead {
		return lease.DeadLetter(l.Record, l.Origin, deliveries, s.move.reason, e.cfg.Group, e.cfg.DeadLetterTopic, e.deadPartitions)
	}
	return lease.Copy(l.Record, l.Origin, e.cfg.Topic, deliveries)
}

// moved is told that a copy is durable, or why it is not.
func (e *Engine) moved(s *slot, err error) {
	if err == nil {
		step.At(step.Copied)
	}
	e.mu.Lock()
	again := e.settleMove(s, err)
	e.mu.Unlock()
	switch {
	case err == nil:
		step.At(step.CopyEnded)
	case again:
		e.complaint.About("copy a record", err)
	}
}

// settleMove does what follows from the outcome of a move. It returns whether there is
// something to complain about.
func (e *Engine) settleMove(s *slot, err error) (again bool) {
	s.run.of.moving--
	defer e.calm.Broadcast()
	switch {
	case err == nil:
		e.countMove(s)
		e.tell(s, nil)
		_ = e.set.Settle(s.lease, lease.Released) // it is lost where the partition is gone
		e.finish(s)
		return false
	case s.run.of.gone || errors.Is(err, context.Canceled):
		e.tell(s, err)
		return false
	case !engine.Fatal(err):
		s.run.of.moving++
		e.moves, e.failed = append(e.moves, s), true
		e.wakeMover()
		return true
	case s.move.dead:
		// Tried again when a lock would have run out: at the end of its deliveries it
		// is a dead letter again; one that was rejected is delivered once more.
		e.tell(s, err)
		s.phase, s.lease.Attempt = waiting, s.lease.Attempt-1
		_ = e.set.Extend(s.lease, time.Now().Add(e.cfg.Visibility))
		return true
	default:
		// It can't be copied: too large with its headers, or writing is not allowed.
		s.phase = live
		e.out.Push(s.lease)
		return true
	}
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
