package kgogate

import (
	"errors"
	"fmt"
	"log/slog"

	"github.com/twmb/franz-go/pkg/kgo"

	"kafkabench.example/kafka-bench/backpressure"
)

// DefaultMaxDeferred is how many records may wait where the config does not say.
const DefaultMaxDeferred = 10_000

// ShedByClose is the reason of records that waited when the producer was closed, or
// came after.
const ShedByClose = backpressure.ShedByClose

// Excess is what becomes of a record for which the gate has no room. It is a type of
// its own: beyond [backpressure.Excess], which is for pipes, a call of Produce can
// wait, and does so where nothing is said.
type Excess int

// What can become of it.
const (
	Block   Excess = iota // Produce waits
	Shed                  // its promise gets an error
	Defer                 // it waits in a queue, Produce does not
	Degrade               // as Config.Degrade says
)

// Config says what becomes of excess records.
type Config struct {
	Excess Excess
	// MaxDeferred is how many records may wait with Defer and Degrade; 0 is
	// DefaultMaxDeferred. What does not fit is shed.
	MaxDeferred int
	// Degrade is asked about each excess record, with Degrade alone. It returns the
	// record, which then waits as with Defer, another to wait in its place (a
	// summary, a smaller one), or nil to drop it. It is called in Produce, from as
	// many goroutines as that is.
	Degrade func(*kgo.Record) *kgo.Record
	// OnShed is told of each record that was dropped, before its promise; nil is
	// nobody. It is called by who calls the promise.
	OnShed func(*kgo.Record, backpressure.ShedReason)
	// Logger is told of a record that went to another partition than it was admitted
	// for; nil logs nothing.
	Logger *slog.Logger
}

// faults are all faults of the config.
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
			errors.New("kgogate: Config.Degrade is to be set with Excess: Degrade, and with no other"))
	}
	return faults
}

// ErrMisplaced is the error of every record that comes after one that the client
// put elsewhere than in the partition for which it was admitted.
var ErrMisplaced = errors.New("the client does not keep the partitions of records")

// ErrClosed is wrapped by the error of a record that the client had not taken yet,
// for want of space in its buffer, when the producer was closed.
var ErrClosed = errors.New("the producer was closed")

// ErrShed is what the error of every record that was dropped wraps.
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
		return "kgogate: the record was shed: the application did without it"
	case ShedByClose:
		return "kgogate: the record was shed: the producer is closed"
	}
	return fmt.Sprintf("kgogate: the record was shed: %s", e.Reason)
}

// Unwrap makes errors.Is(err, ErrShed) true.
func (e *ShedError) Unwrap() error { return ErrShed }
