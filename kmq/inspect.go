package kmq

import (
	"context"
	"log/slog"
	"time"

	"kafkabench.example/kafka-bench/kmq/internal/engine"
	"kafkabench.example/kafka-bench/kmq/internal/inspect"
)

// Inspection is the state of a group's queue, as the cluster records it.
type Inspection struct {
	Group, Topic string
	// Engine is the one that was named, or the one that was found out; nil: neither. Plain leaves no state of its own. Nor
	// does OffsetMap before its first commit, and Markers in another topic than the default before its first tracker.
	Engine          Engine
	Partitions      []PartitionInspection
	DeadLetterTopic string // the one that was named, or the default
	DeadLetters     int64  // records in the dead-letter topic; -1 if none is named and none has the default name
}

// PartitionInspection is the state of one partition; -1 means unknown.
type PartitionInspection struct {
	Partition int32
	// Committed is the group's committed offset, or -1. Records below it are settled or, with Markers,
	// may be locked. For Share it is the start offset of the share partition.
	Committed int64
	End       int64 // the high watermark
	// InFlight counts the unsettled records that have a start marker (Markers), or are below the
	// highest acknowledged offset (OffsetMap). With Plain and Share it is -1 while records wait,
	// and 0 otherwise. It is -1 if the Engine is unknown, or with OffsetMap before a commit. In an
	// empty partition it is 0.
	InFlight int64
	// Waiting counts the records not known to be delivered. If InFlight is -1, it includes the
	// records in flight.
	Waiting int64
	// OldestUnacked is the timestamp of the oldest unsettled record; zero: none.
	OldestUnacked time.Time
	// Redelivered counts the unsettled records in the group's retry topic, which are also in flight or waiting.
	Redelivered int64
}

// Inspect reports what a group has in flight, as the cluster records it. It joins no group and
// writes nothing. It needs Brokers, Group, and Client if the cluster authenticates clients.
// Engine, if it is set, and DeadLetterTopic are as for the queue. Topic may be empty if the group's commits
// name only one topic or, without commits, its members do. If Engine is nil, Inspect derives it
// from the group's state; for this it reads at most the last 100,000 markers of each partition. If
// Topic is empty or Engine is nil, Inspect refuses a group that has neither commits nor members.
//
// It reads the unsettled records, at most 100,000 of each partition, and the markers that a new
// tracker would read. The error is the cluster's or [ErrConfig], which includes a missing Topic or
// DeadLetterTopic.
func Inspect(ctx context.Context, cfg Config) (Inspection, error) {
	f := new(mistakes)
	for _, needed := range []struct {
		name  string
		empty bool
	}{{"Brokers", len(cfg.Brokers) == 0}, {"Group", cfg.Group == ""}} {
		if needed.empty {
			f.add("%s is empty", needed.name)
		}
	}
	if err := f.err(); err != nil {
		return Inspection{}, err
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.Default()
	}
	kind := inspect.Unsaid
	e := engine.Config{
		Brokers: cfg.Brokers, Topic: cfg.Topic, Group: cfg.Group, DeadLetterTopic: cfg.DeadLetterTopic,
		Client: cfg.Client, Log: cfg.Logger,
	}
	if cfg.Engine != nil {
		kind = cfg.Engine.String()
		cfg.Engine.configure(&e)
	}
	found, err := inspect.Group(ctx, e, kind)
	if err != nil {
		return Inspection{}, err
	}
	if cfg.Engine == nil {
		cfg.Engine, _ = ParseEngine(found.Engine) // nil if it is Unsaid
	}
	all := Inspection{Group: cfg.Group, Topic: found.Topic, Engine: cfg.Engine, DeadLetterTopic: found.DeadLetterTopic, DeadLetters: found.DeadLetters}
	for _, p := range found.Partitions {
		all.Partitions = append(all.Partitions, PartitionInspection{
			Partition: p.ID, Committed: p.Committed, End: p.End, InFlight: p.InFlight, Waiting: p.Waiting,
			OldestUnacked: p.OldestUnacked, Redelivered: p.Redelivered,
		})
	}
	return all, nil
}
