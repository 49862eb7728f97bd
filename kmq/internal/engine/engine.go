// Package engine is the interface between the queue that an application sees and how the
// queue is kept on Kafka.
//
// Files to know: engine.go, config.go, topics.go, copier.go.
package engine

import (
	"context"
	"time"

	"kafkabench.example/kafka-bench/kmq/internal/lease"
)

// Engine hands out records and takes back what became of them. All methods may be called
// on any goroutine.
type Engine interface {
	// Receive waits for at least one record, or for ctx, and returns at most max. It
	// acknowledges nothing. Fewer than max are returned rather than waited for.
	Receive(ctx context.Context, max int) ([]*lease.Lease, error)

	// Ack takes a record as processed. It returns once that is noted and will be
	// written; Flush waits until it is durable. A crash in between delivers the record
	// again.
	Ack(ctx context.Context, l *lease.Lease) error
	// Nack gives a record back, to be delivered again after a delay, at once for 0.
	Nack(ctx context.Context, l *lease.Lease, delay time.Duration) error
	// Extend lends the record until d from now.
	Extend(ctx context.Context, l *lease.Lease, d time.Duration) error
	// Reject gives a record up: it is in the dead-letter topic, durably, before it
	// counts as done.
	Reject(ctx context.Context, l *lease.Lease, reason string) error

	// Flush waits until everything that was settled before the call is durable.
	Flush(ctx context.Context) error
	// Close gives back what was received and not settled, flushes, and leaves the
	// group. ctx bounds the flushing; everything is released whatever it returns.
	Close(ctx context.Context) error
	// Counts are the engine's counters.
	Counts() Counts
}

// Unhander is an Engine that can take back what was handed out and not begun, so that it
// does not count as a delivery: by those that can't it is released, which does.
type Unhander interface {
	// Unhand gives a record back, to be delivered at once, as the attempt that it was.
	Unhand(ctx context.Context, l *lease.Lease) error
}

// AllExtender is an Engine that can extend many leases as one.
type AllExtender interface {
	// ExtendAll lends records until d from now, at most. Those that have ended are left
	// as they are, as are those that could not be extended: the error is why the first of
	// these could not. It returns by the time that ctx ends. Until then nobody else may
	// settle or extend a lease, and the slice is the engine's.
	ExtendAll(ctx context.Context, leases []*lease.Lease, d time.Duration) error
}

// Counts are the counters of an engine since it was opened.
type Counts struct {
	Delivered    int64 // handed out, every attempt
	Acked        int64
	Nacked       int64
	Rejected     int64
	Expired      int64 // locks that ran out in this process
	Lost         int64 // leases whose partition went away
	Redelivered  int64 // handed out with an attempt above 1
	Tailed       int64 // copied to the tail of their partition by this process
	DeadLettered int64 // copied to the dead-letter topic by this process
	Missing      int64 // records to be redelivered that were not in the log any more
	Retried      int64 // what the tracker in this process tried in vain, and tries again
	Unreadable   int64 // markers that the tracker in this process could not read

	InFlight      int       // handed out or ready, and not settled
	OldestUnacked time.Time // the timestamp of the oldest of these; zero if none
	Paused        []int32   // partitions that take nothing new, for lack of room
	CommitBehind  int64     // records beyond the committed offsets, over all partitions
	// Lateness counts, for each redelivery made by this process, how long after its
	// deadline it was made.
	Lateness Histogram
	// RetentionAlarm says what is about to be lost, where retention does not cover the
	// oldest record that is not settled; empty: nothing. It is looked for every 30 s. The
	// engine share has none: what is not settled is known to the broker alone.
	RetentionAlarm string
}

// Histogram counts durations by the upper bounds of Bounds; the last count is of what is
// above all of them.
type Histogram struct {
	Counts [len(Bounds) + 1]int64
	Sum    time.Duration
}

// Bounds are the upper bounds of the buckets of a Histogram.
var Bounds = [...]time.Duration{
	time.Millisecond, 2 * time.Millisecond, 5 * time.Millisecond, 10 * time.Millisecond, 20 * time.Millisecond,
	50 * time.Millisecond, 100 * time.Millisecond, 200 * time.Millisecond, 500 * time.Millisecond,
	time.Second, 2 * time.Second, 5 * time.Second, 10 * time.Second, 30 * time.Second,
}

// Bounds are the upper bounds of Counts, but for the last, which has none.
func (Histogram) Bounds() []time.Duration { return Bounds[:] }

// Add counts one duration.
func (h *Histogram) Add(d time.Duration) {
	i := 0
	for i < len(Bounds) && d > Bounds[i] {
		i++
	}
	h.Counts[i]++
	h.Sum += d
}
