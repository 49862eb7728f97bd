package kmq

import (
	"errors"
	"fmt"

	"kafkabench.example/kafka-bench/kmq/internal/lease"
)

// The errors that a caller may want to tell apart, by errors.Is.
var (
	// ErrClosed: the queue is closed, or being drained, and gives out nothing more.
	ErrClosed = lease.ErrClosed
	// ErrSettled: the delivery was acknowledged, released or rejected before.
	ErrSettled = lease.ErrSettled
	// ErrExpired: the acquisition lock has run out; the record was or will be delivered
	// again.
	ErrExpired = lease.ErrExpired
	// ErrLost: the partition was given to another member of the group, which delivers
	// the record again. Of [Queue.Flush] and [Queue.Close], with [Share]: acknowledgements were refused,
	// or not answered, and their records may be delivered again.
	ErrLost = lease.ErrLost
	// ErrDelayed: as many records of the partition wait for the delay with which they were
	// given back as a process may have wait, 65,536 with the engine Markers. The delivery
	// stays open: give it back without a delay, or later, as [Queue.Run] does.
	ErrDelayed = lease.ErrDelayed
	// ErrUnsupported: the engine can't do it. The error's text says why, and what can.
	ErrUnsupported = lease.ErrUnsupported
	// ErrConfig: the configuration is out of range, or contradicts itself or the
	// topics that are there.
	ErrConfig = lease.ErrConfig
)

// Reject is an error by which a handler of [Queue.Run] says that the record will never
// be processed: it goes to the dead-letter topic at once, without another attempt. It may
// be wrapped, and be a pointer.
type Reject struct{ Reason string }

// Error returns the reason.
func (r Reject) Error() string { return fmt.Sprintf("rejected: %s", r.Reason) }

// rejection is the Reject that is in an error.
func rejection(err error) (Reject, bool) {
	if r, ok := errors.AsType[Reject](err); ok {
		return r, true
	}
	r, ok := errors.AsType[*Reject](err)
	if !ok || r == nil {
		return Reject{}, ok
	}
	return *r, true
}
