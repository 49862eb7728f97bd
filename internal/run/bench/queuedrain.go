package bench

import (
	"context"
	"time"

	"kafkabench.example/kafka-bench/internal/kafka/driver/meter"
	"kafkabench.example/kafka-bench/internal/measure/snapshot"
	"kafkabench.example/kafka-bench/internal/run/judge"
	"kafkabench.example/kafka-bench/internal/run/observe"
	"kafkabench.example/kafka-bench/kmq"
)

func (r *run) unsettled() int64 {
	return judge.Undelivered(judge.CloseQueue(r.sentBooks(), r.queue.group.Settled()))
}

// To look for unsettled records costs more than to look at positions.
const settlePoll = 50 * time.Millisecond

// awaitSettled waits until every acked record is acknowledged or a dead letter, or until the queue
// is empty.
func (r *run) awaitSettled(ctx context.Context) (drained bool) {
	quiet := newQuiet(r.queue.quietFor())
	r.until(ctx, settlePoll, func() bool {
		drained = r.unsettled() == 0
		r.queue.empty = !drained && quiet.look(time.Now(), r.queue.group.Received(), r.queue.group.Totals()) &&
			r.queue.isEmpty(ctx)
		return drained || r.queue.empty
	})
	return drained
}

// Each inspection costs several requests.
const emptyPoll = 500 * time.Millisecond

// No part knows what others have settled, so the queue must be empty twice in a row, with its dead
// letters read. The drain and the end of the window may ask at the same time.
func (q *queue) isOver() bool {
	q.asking.Lock()
	defer q.asking.Unlock()
	if q.empty || time.Since(q.askedAt) < emptyPoll {
		return q.empty
	}
	q.askedAt = time.Now()
	ctx, cancel := context.WithTimeout(context.Background(), observe.ReadTimeout)
	defer cancel()
	if q.group.Working() || !q.isEmpty(ctx) || !q.readDead(ctx) {
		q.empties = 0
		return false
	}
	q.empties++
	q.empty = q.empties > 1
	return q.empty
}

func (q *queue) readDead(ctx context.Context) bool {
	if q.reader == nil {
		return true
	}
	read, err := q.reader.AtEnd(ctx)
	if err != nil {
		q.journal.Once("warning", "the end of the dead-letter topic could not be read", err)
	}
	return read
}

// quietFor returns how long nothing must have happened before the queue is inspected: until every
// lock has expired, and quietMore.
func (q *queue) quietFor() time.Duration {
	set := q.cfg.Scenario.Consume.Queue
	lent := time.Duration(set.Visibility)
	if lent == 0 && set.Engine == shareEngine {
		lent = lockOfBrokers
	}
	return max(lent, time.Duration(set.Backoff.Max)) + quietMore
}

const (
	// lockOfBrokers is Kafka's default of group.share.record.lock.duration.ms.
	lockOfBrokers = 30 * time.Second
	quietMore     = 5 * time.Second
)

type quiet struct {
	length time.Duration
	before [2]int64
	since  time.Time
}

func newQuiet(length time.Duration) *quiet { return &quiet{length: length} }

// look reports whether nothing was delivered or acknowledged for q.length. If so, the time begins
// again.
func (q *quiet) look(at time.Time, received snapshot.Received, totals snapshot.QueueTotal) bool {
	now := [2]int64{received.Delivered, totals.Acked}
	if q.since.IsZero() || now != q.before {
		q.before, q.since = now, at
		return false
	}
	if at.Sub(q.since) < q.length {
		return false
	}
	q.since = at
	return true
}

// isEmpty returns false if the answer is unknown.
func (q *queue) isEmpty(ctx context.Context) bool {
	ctx, cancel := context.WithTimeout(ctx, observe.ReadTimeout)
	defer cancel()
	cfg := q.of
	cfg.Client = q.clientOptions("inspect", &meter.Line{})
	seen, err := kmq.Inspect(ctx, cfg)
	if err != nil {
		q.journal.Once("warning", "nobody can tell whether the queue is empty", err)
		return false
	}
	for _, p := range seen.Partitions {
		if p.InFlight != 0 || p.Waiting != 0 {
			return false
		}
	}
	return len(seen.Partitions) == q.topic.Partitions
}
