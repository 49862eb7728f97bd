package kgogate

import (
	"errors"
	"fmt"

	"github.com/twmb/franz-go/pkg/kgo"

	"kafkabench.example/kafka-bench/backpressure"
)

const defaultMaxDeferred = 10_000

// Excess is what a [Producer] does with a record for which the gate has no room.
type Excess int

// The policies for excess records; see the package comment.
const (
	Block Excess = iota
	Shed
	Defer
	Degrade
)

// Config says whose lag is bounded, how, and what happens to excess records.
type Config struct {
	// Group is the consumer group whose lag on the topics is bounded. It need not exist yet.
	Group string
	// Topics are read by name. Until all of them exist the lag is not known, unless MayAppear is
	// set.
	Topics []string
	// TopicRegex adds the topics whose name it matches (Go's syntax; without anchors it may match
	// any part of the name), except internal topics. If no topic matches, it adds no lag. Records in a
	// new topic count only after it is found, within 30 s.
	TopicRegex string
	// MayAppear means that a topic that never existed has no lag yet. A topic that existed and is
	// gone is always an error.
	MayAppear bool
	// FromEnd counts, in a partition without a committed offset, only what was written since the
	// partition was first seen: for consumers with auto.offset.reset=latest. By default all that the
	// partition holds counts.
	FromEnd bool

	// MaxLag is the bound of the lag in records. Gate.Controller is set in its place for another
	// controller, such as backpressure.Latency.
	MaxLag int64
	// Gate has the settings of the gate. Its Source is set in place of Group and topics if the signal is
	// not the lag of a consumer group. Its Logger also logs, once each, what may be a mistake: a pattern
	// without a matching topic, or a topic with records on which the group has committed nothing.
	Gate backpressure.Config

	Excess Excess
	// MaxDeferred is how many records may wait with Defer and Degrade; 0 is 10,000. Further records are
	// shed.
	MaxDeferred int
	// Degrade is called in Produce, also concurrently, for each excess record with Excess: Degrade.
	// It returns the record or a replacement, which then waits as with Defer, or nil to drop it.
	Degrade func(*kgo.Record) *kgo.Record
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
	if (c.MaxLag != 0) == (c.Gate.Controller != nil) {
		faults = append(faults, errors.New("kgogate: set one of MaxLag and Gate.Controller"))
	}
	if c.Gate.Source != nil && (c.Group != "" || len(c.Topics) > 0 || c.TopicRegex != "") {
		faults = append(faults, errors.New("kgogate: Gate.Source takes the place of Group, Topics and TopicRegex: set either"))
	}
	return faults
}

var errNoClient = errors.New("kgogate: no client: the producer sends through a *kgo.Client")

// ErrClosed is wrapped by the error of a record that waited for space in the client's buffer when
// the producer was closed.
var ErrClosed = errors.New("the producer was closed")

// ErrShed is wrapped by the error of every dropped record, which gives the reason.
var ErrShed = errors.New("the record was shed")

// The reasons for dropping a record, as in Stats.Shed.
const (
	shedByGate    = "gate"
	shedByQueue   = "queue"
	shedByDegrade = "degrade"
	shedByClose   = "close"
)

var shedReasons = map[string]string{
	shedByGate:    "the gate has no room",
	shedByQueue:   "the queue of deferred records is full",
	shedByDegrade: "the application dropped it",
	shedByClose:   "the producer is closed",
}
