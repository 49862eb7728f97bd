package kgogate

import (
	"errors"
	"fmt"

	"github.com/twmb/franz-go/pkg/kgo"

	"kafka-bench/backpressure"
)

// DefaultMaxDeferred is how many records may wait where the config does not say.
const DefaultMaxDeferred = 10_000

// ShedByClose is the reason of records that waited when the producer was closed.
const ShedByClose backpressure.ShedReason = "close"

// Excess is what becomes of a record for which the gate has no room.
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
}

// faults are all faults of the config together with the client's settings.
func (c Config) faults(client *kgo.Client) error {
	var faults []error
	if c.Excess < Block || c.Excess > Degrade {
		faults = append(faults, fmt.Errorf("kgogate: Excess is %d: use Block, Shed, Defer or Degrade", c.Excess))
	}
	if c.MaxDeferred < 0 {
		faults = append(faults, fmt.Errorf("kgogate: MaxDeferred must not be negative: %d records", c.MaxDeferred))
	}
	if (c.Degrade != nil) != (c.Excess == Degrade) {
		faults = append(faults, errors.New("kgogate: Config.Degrade is to be set with Excess: Degrade, and with no other"))
	}
	if client.OptValue(kgo.RequiredAcks) == kgo.NoAck() {
		faults = append(faults, errors.New("kgogate: the client asks for no acknowledgements (acks=0), so it never knows what is in the log: use kgo.AllISRAcks"))
	}
	if client.OptValue(kgo.ManualFlushing) == true && c.Excess != Shed {
		faults = append(faults, errors.New("kgogate: records cannot wait for room in front of a client that sends only when it is flushed: use Shed, or no kgo.ManualFlushing"))
	}
	return errors.Join(faults...)
}

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
		return "kgogate: the record was shed: the producer was closed while it waited"
	}
	return fmt.Sprintf("kgogate: the record was shed: %s", e.Reason)
}

// Unwrap makes errors.Is(err, ErrShed) true.
func (e *ShedError) Unwrap() error { return ErrShed }
