package engine

import (
	"context"
	"time"

	"kafkabench.example/kafka-bench/kmq/internal/lease"
)

// Engine delivers records and settles them. Its methods are safe for concurrent use.
type Engine interface {
	Lender
	// Return gives back taken records that the caller does not settle. They count as not lent.
	Return(leases []*lease.Lease)
	// ForgetHolder says that the holder no longer works on a record, although the record is not settled.
	ForgetHolder(l *lease.Lease)

	// Ack marks a record as processed. The mark is durable after Flush.
	Ack(ctx context.Context, l *lease.Lease) error
	// Nack releases a record for another delivery after a delay; 0 means at once.
	Nack(ctx context.Context, l *lease.Lease, delay time.Duration) error
	// Extend sets the lock to expire d from now.
	Extend(ctx context.Context, l *lease.Lease, d time.Duration) error
	// Reject gives a record up. The record is durably in the dead-letter topic before it is
	// settled.
	Reject(ctx context.Context, l *lease.Lease, reason string) error

	// Flush waits until everything that was settled before the call is durable.
	Flush(ctx context.Context) error
	// Close gives back what is not settled, flushes, and leaves the group. ctx bounds the flushing; all resources are
	// freed even with an error.
	Close(ctx context.Context) error
	Counts() Counts
}

// A Lender is the part of an Engine that delivers.
type Lender interface {
	// Take waits for at least one record or for the end of ctx, and returns at most max records. They are neither
	// locked nor counted as delivered.
	Take(ctx context.Context, max int) ([]*lease.Lease, error)
	// Lend begins the locks of taken records and counts their deliveries. It returns those that it could lend, in the
	// same slice: the others ended meanwhile. The holder is told how they end; nil is nobody.
	Lend(ctx context.Context, leases []*lease.Lease, to lease.Holder) ([]*lease.Lease, error)
}

// Receive takes at least one record, at most max, and lends them.
func Receive(ctx context.Context, from Lender, max int) ([]*lease.Lease, error) {
	for {
		leases, err := from.Take(ctx, max)
		if err == nil {
			leases, err = from.Lend(ctx, leases, nil)
		}
		if err != nil || len(leases) > 0 {
			return leases, err
		}
	}
}

// Unhander is an Engine that can take back a delivery without counting it.
type Unhander interface {
	// Unhand is Nack, but the next delivery has the same attempt number.
	Unhand(ctx context.Context, l *lease.Lease, delay time.Duration) error
}

// A Parker is an Engine that delivers a failed record again from its place. So an ordered queue can keep those behind it in
// their line from overtaking it.
type Parker interface {
	// Park says that taken records wait behind another one. They do not count against MaxInFlight meanwhile.
	Park(leases []*lease.Lease)
	// Unpark undoes Park before a record is lent. If it returns false, the record is no longer the caller's: it is read
	// again, and a later Take has it.
	Unpark(l *lease.Lease) (complete bool)
	// IsOpen reports whether a record, by its place in the topic, is neither done nor another member's.
	IsOpen(at lease.ID) bool
}

// Counts are the counters of an engine since it was opened.
type Counts struct {
	Delivered    int64 // every attempt
	Acked        int64
	Nacked       int64
	Rejected     int64
	Expired      int64 // in this process
	Lost         int64 // their partition was taken away
	Redelivered  int64 // attempt above 1
	Tailed       int64 // moved to the retry topic, by this process
	DeadLettered int64 // by this process
	Missing      int64 // to be redelivered, but not in the log
	Retried      int64 // failed attempts of this process's tracker, which it repeats
	Unreadable   int64 // markers that this process's tracker could not read

	InFlight      int       // delivered or ready, and not settled
	Waiting       int       // for another attempt, or behind such a record; they do not count as in flight
	Blocked       []string  // why records are not fetched although they are there; empty: nothing
	OldestUnacked time.Time // of the records in flight; or zero
	Paused        []int32   // not fetched: a limit is reached
	CommitBehind  int64     // over all partitions
	// Lateness is the time from a deadline to the redelivery.
	Lateness Histogram
	// RetentionAlarm names the records that retention may delete before they are settled; empty: none. It is updated
	// every 30 s; share has none.
	RetentionAlarm string
}

// Histogram counts durations by the upper bounds in Bounds. The last count is above all bounds.
type Histogram struct {
	Counts [len(Bounds) + 1]int64
	Sum    time.Duration
}

var Bounds = [...]time.Duration{
	time.Millisecond, 2 * time.Millisecond, 5 * time.Millisecond, 10 * time.Millisecond, 20 * time.Millisecond,
	50 * time.Millisecond, 100 * time.Millisecond, 200 * time.Millisecond, 500 * time.Millisecond,
	time.Second, 2 * time.Second, 5 * time.Second, 10 * time.Second, 30 * time.Second,
}

// Bucket returns the index of the count of a duration.
func Bucket(d time.Duration) int {
	i := 0
	for i < len(Bounds) && d > Bounds[i] {
		i++
	}
	return i
}

// Add counts one duration.
func (h *Histogram) Add(d time.Duration) {
	h.Counts[Bucket(d)]++
	h.Sum += d
}
