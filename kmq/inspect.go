package kmq

import (
	"context"
	"log/slog"
	"slices"
	"time"

	"kafkabench.example/kafka-bench/kmq/internal/inspect"
)

// Inspection is what the cluster knows of a group's queue.
type Inspection struct {
	Group, Topic string
	// Engine is empty where nothing tells which it is. OffsetMap leaves behind what Plain does
	// while nothing is acknowledged beyond its commits; and so does Markers before a tracker has
	// run, where its markers are in a topic that is not named.
	Engine      Engine
	Partitions  []PartitionInspection
	DeadLetters int64 // records in the dead-letter topic; -1 if none is named
}

// PartitionInspection is that of one partition. -1 is what nobody can tell.
type PartitionInspection struct {
	Partition int32
	// Committed is the offset that the group has committed: what is below is settled, or
	// for Markers lent. For Share it is the start offset of the share partition. -1: none.
	Committed int64
	End       int64 // the high watermark
	// InFlight are the records that are not settled though later ones were handed out
	// (Markers), or acknowledged (OffsetMap). Plain and Share do not tell: -1 there while
	// anything is Waiting, 0 when nothing is. Nor does an Engine that is not known, or OffsetMap
	// before a commit: always -1. It is 0 where the partition holds nothing.
	InFlight int64
	// Waiting are the records that were not handed out, as far as the cluster knows; with
	// those in flight where InFlight is -1.
	Waiting int64
	// OldestUnacked is the timestamp of the oldest record that is not settled; zero: none.
	OldestUnacked time.Time
	// Redelivered are the copies among the records that are not settled: those that are on
	// their way to another delivery, or in it. -1 where there are too many to look at.
	Redelivered int64
}

// Inspect finds out what a group has in flight, from what the cluster keeps: it joins no
// group and writes nothing. Of cfg it needs Brokers and Group, and Client where the
// cluster asks who is there. Topic may be left out if the group has one only: it is the one of
// its offsets, or of its members where nothing is committed. Where Engine is empty, it is told by
// what the group has left behind, as far as that goes, and a group that has committed nothing and
// has no members is refused. MarkersTopic and DeadLetterTopic are as for the queue.
//
// It reads the records that are not settled, at most 100,000 of a partition, and the
// markers that a tracker would begin with; to find out the Engine, at most the last 100,000
// markers of a partition. Errors are [ErrConfig], for a Topic or a DeadLetterTopic that is not
// there too, or the cluster's.
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
	if cfg.Engine != "" && !slices.Contains(Engines, cfg.Engine) {
		f.add("Engine is %q: choose one of %s", cfg.Engine, engineNames())
	}
	if err := f.err(); err != nil {
		return Inspection{}, err
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	found, err := inspect.Group(ctx, cfg.engine(), string(cfg.Engine))
	if err != nil {
		return Inspection{}, err
	}
	all := Inspection{Group: cfg.Group, Topic: found.Topic, Engine: Engine(found.Engine), DeadLetters: found.DeadLetters}
	for _, p := range found.Partitions {
		all.Partitions = append(all.Partitions, PartitionInspection{
			Partition: p.ID, Committed: p.Committed, End: p.End, InFlight: p.InFlight, Waiting: p.Waiting,
			OldestUnacked: p.OldestUnacked, Redelivered: p.Redelivered,
		})
	}
	return all, nil
}
