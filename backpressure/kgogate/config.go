package kgogate

import (
	"errors"
	"fmt"

	"github.com/twmb/franz-go/pkg/kgo"

	"kafkabench.example/kafka-bench/backpressure"
)

// DefaultMaxDeferred is the default of Config.MaxDeferred, in records.
const DefaultMaxDeferred = 10_000

// ShedByClose is the reason for dropping the records that wait when the producer closes, and those
// of later calls of Produce.
const ShedByClose = backpressure.ShedByClose

// Excess is what a [Producer] does with a record for which the gate has no room. Unlike
// [backpressure.Excess] it has Block, which is its zero value.
type Excess int

// The policies for excess records; see the package comment.
const (
	Block Excess = iota
	Shed
	Defer
	Degrade
)

// Config configures a [Producer].
type Config struct {
	Excess Excess
	// MaxDeferred is how many records may wait with Defer and Degrade; 0 is
	// DefaultMaxDeferred. Further records are shed.
	MaxDeferred int
	// Degrade is called in Produce, also concurrently, for each excess record with Excess: Degrade.
	// It returns the record or a replacement, which then waits as with Defer, or nil to drop it.
	Degrade func(*kgo.Record) *kgo.Record
	// OnShed is called for each dropped record, just before its promise and on the same goroutine;
	// nil is never called.
	OnShed func(*kgo.Record, backpressure.ShedReason)
}

func (c Config) faults() []error {
	var faults []error
	if c.Excess < Block || c.Excess > Degrade {
		faults = append(faults, fmt.Errorf("kgogate: Excess is %d: use Block, Shed, Defer or Degrade", c.Excess))
	}
	if c.MaxDeferred < 0 {
		faults = append(faults, fmt.Errorf("kgogate: MaxDeferred must not be negative: %d records", c.MaxDeferred))
	}
	if (c.Degrade != nil) != (c.Excess == Degrade) {
		faults = append(faults,
			errors.New("kgogate: set Config.Degrade with Excess: Degrade, and only then"))
	}
	return faults
}

// ErrClosed is wrapped by the error of a record that waited for space in the client's buffer when
// the producer was closed.
var ErrClosed = errors.New("the producer was closed")

// ErrShed is wrapped by the error of every dropped record.
var ErrShed = errors.New("the record was shed")

// ShedError is the error of a record that was dropped and never sent.
type ShedError struct {
	Reason backpressure.ShedReason
}

// Error implements error.
func (e *ShedError) Error() string {
	switch e.Reason {
	case backpressure.ShedByGate:
		return "kgogate: the record was shed: the gate has no room"
	case backpressure.ShedByQueue:
		return "kgogate: the record was shed: the queue of deferred records is full"
	case backpressure.ShedByDegrade:
		return "kgogate: the record was shed: the application dropped it"
	case ShedByClose:
		return "kgogate: the record was shed: the producer is closed"
	}
	return fmt.Sprintf("kgogate: the record was shed: %s", e.Reason)
}

// Unwrap returns [ErrShed].
func (e *ShedError) Unwrap() error { return ErrShed }
