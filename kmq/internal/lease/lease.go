// Package lease keeps a delivered record that is not settled: its identity, its deadline
// and its end.
//
// Files to know: lease.go, set.go, deadline.go, clock.go, headers.go, history.go.
package lease

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

// The errors of a queue, as package kmq tells them.
var (
	ErrClosed      = errors.New("kmq: the queue is closed")
	ErrSettled     = errors.New("kmq: the delivery is settled already")
	ErrExpired     = errors.New("kmq: the acquisition lock has run out")
	ErrLost        = errors.New("kmq: the partition was given to another member")
	ErrUnsupported = errors.New("kmq: the engine can't do that")
	ErrDelayed     = errors.New("kmq: too many records wait for the delay with which they were given back")
	ErrConfig      = errors.New("kmq: configuration")
)

// ID is a place in the queue's topic.
type ID struct {
	Partition int32
	Offset    int64
}

// String is both, as in 3@17 for offset 17 of partition 3.
func (id ID) String() string { return fmt.Sprintf("%d@%d", id.Partition, id.Offset) }

// State is what became of a lease.
type State int32

// A lease is open until exactly one of the others.
const (
	Open     State = iota
	Accepted       // acknowledged by the application
	Released       // given back, to be delivered again
	Rejected       // given up
	Expired        // its time ran out
	Lost           // its partition went to another member
)

// Lease is one record, lent until Deadline.
type Lease struct {
	// Record is for the application, which may change it once it is handed out: as it was
	// produced, with the queue's own headers taken off. What it was is Original.
	Record  *kgo.Record
	At      ID  // where this copy of the record is
	Attempt int // 1 is the first delivery

	// Private is the engine's, and so are Mark and Index, where a number will do: the
	// collector does not look at it.
	Private any
	Index   int32
	Mark    uint8

	place    place           // in a Set, under its lock, as are index and flags
	flags    uint8           // excused, held
	attrs    kgo.RecordAttrs // of the record, as are those below
	state    atomic.Int32
	index    int32        // in that place
	deadline atomic.Int64 // ns of the monotonic clock since epoch; 0: none

	// What is kept of the record: less than a second one for each, since those that are
	// delivered again, or copied, are few.
	key, value []byte
	headers    []kgo.RecordHeader
	topic      string
	context    context.Context       // for the hooks of the client
	tries      atomic.Pointer[tries] // nil for most
	timestamp  int64                 // ms since 1970, as Kafka has it
}

// keep notes what Original says.
func (l *Lease) keep(r *kgo.Record) {
	l.key, l.value, l.headers = r.Key, r.Value, r.Headers
	l.topic, l.context, l.timestamp, l.attrs = r.Topic, r.Context, r.Timestamp.UnixMilli(), r.Attrs
	r.Headers = slices.Clone(r.Headers) // the application's: tracers set them in place
}

// Original is the record as it was fetched, in memory of its own, but for the bytes of its
// key, its value and those of its headers. It does not say who produced it, nor in which
// epoch of the leader.
func (l *Lease) Original() *kgo.Record {
	origin := l.Origin()
	return &kgo.Record{
		Topic: l.topic, Partition: origin.Partition, Offset: origin.Offset,
		Key: l.key, Value: l.value, Headers: slices.Clone(l.headers),
		Timestamp: time.UnixMilli(l.timestamp), Attrs: l.attrs, Context: l.context,
	}
}

// Origin returns where the record was first.
func (l *Lease) Origin() ID {
	if p := l.tries.Load(); IsRetry(l.At.Partition) && p != nil {
		return p.origin
	}
	return l.At
}

// Due returns from when on the record may be delivered; zero: at once.
func (l *Lease) Due() time.Time {
	if p := l.tries.Load(); p != nil && p.due != 0 {
		return time.UnixMilli(p.due)
	}
	return time.Time{}
}

// SetDue sets what Due returns.
func (l *Lease) SetDue(at time.Time) { l.amend(func(p *tries) { p.due = at.UnixMilli() }) }

// Timestamp returns the record's time in the log.
func (l *Lease) Timestamp() time.Time { return time.UnixMilli(l.timestamp) }

// Bytes returns the size of the record's key, value and headers.
func (l *Lease) Bytes() int {
	n := len(l.key) + len(l.value)
	for _, h := range l.headers {
		n += len(h.Key) + len(h.Value)
	}
	return n
}

// Drop forgets the record, but not where it is.
func (l *Lease) Drop() { l.Record, l.key, l.value, l.headers = nil, nil, nil, nil }

// Refill undoes Drop with the record as it was read again.
func (l *Lease) Refill(r *kgo.Record) {
	read := FromRecord(r)
	l.Record = read.Record
	l.keep(l.Record)
}

// Again is an open lease of the same record, as it was fetched, for its next attempt,
// without a deadline.
func (l *Lease) Again() *Lease {
	next := &Lease{
		Record: l.Original(), At: l.At, Attempt: l.Attempt + 1, Private: l.Private,
	}
	next.keep(next.Record)
	if p := l.tries.Load(); p != nil {
		next.tries.Store(&tries{origin: p.origin, failures: p.failures})
	}
	return next
}

// State is what became of the lease.
func (l *Lease) State() State { return State(l.state.Load()) }

// Settle gives an open lease its state, once: it returns nil to the one who did, and to
// all others the error that says what became of it. What is in a Set is settled there.
func (l *Lease) Settle(as State) error {
	if l.state.CompareAndSwap(int32(Open), int32(as)) {
		return nil
	}
	return l.Err()
}

// Err says why a lease can't be settled any more; nil while it is open.
func (l *Lease) Err() error {
	switch l.State() {
	case Open:
		return nil
	case Expired:
		return ErrExpired
	case Lost:
		return ErrLost
	default:
		return ErrSettled
	}
}

// Deadline is when the lease runs out; zero where it does not. It carries a reading of the
// monotonic clock.
func (l *Lease) Deadline() time.Time {
	if ns := l.deadline.Load(); ns != 0 {
		return instantOf(ns)
	}
	return time.Time{}
}

// RanOut is whether the lease has a deadline, and it has passed.
func (l *Lease) RanOut() bool { return l.Limited() && l.past(sinceNow()) }

// Limited is whether the lease has a deadline.
func (l *Lease) Limited() bool { return l.deadline.Load() != 0 }

// SetDeadline sets when the lease runs out; zero: never. Those of a Set are set by it.
func (l *Lease) SetDeadline(at time.Time) { l.deadline.Store(sinceEpoch(at)) }
