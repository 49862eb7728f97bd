package backpressure

import (
	"context"

	"kafkabench.example/kafka-bench/internal/lagcontrol"
)

// Source reads the lag.
type Source interface {
	// Read reads the lag. It returns an error if the lag of any partition is not known.
	Read(ctx context.Context) (Reading, error)
}

// SourceFunc is a function that implements [Source].
type SourceFunc func(ctx context.Context) (Reading, error)

// Read implements [Source].
func (f SourceFunc) Read(ctx context.Context) (Reading, error) { return f(ctx) }

// Reading is the lag of a consumer group at one moment.
type Reading struct {
	// Lag is the sum over the partitions of high watermark − committed offset, in records. The gate
	// ignores it if Partitions are given.
	Lag int64
	// Committed counts the committed records from any starting point: only its differences matter.
	// The gate ignores it if Partitions are given.
	Committed int64
	// Partitions must be complete: a missing partition counts as no lag. Nil means not reported.
	// Empty means that the topic does not exist yet.
	Partitions []Partition
	// Unreadable: the lag stands still, and may be offsets without a record, but the source may not read the topic.
	// Then a closed gate whose records are all settled admits one record each 30 s: if it is consumed, the group commits
	// past those offsets.
	Unreadable bool
}

// Partition is the state of one partition in a reading.
type Partition struct {
	Topic string
	ID    int32
	// Committed is the group's committed offset; without one, the offset at which the group would
	// start. End is the high watermark. Read Committed first: then the lag is never understated.
	Committed, End int64
	// Delivered is the offset after the last record that the application took, if the consumers
	// report it; otherwise 0.
	Delivered int64
}

func readFrom(source Source) func(context.Context) (lagcontrol.Reading, error) {
	return func(ctx context.Context) (lagcontrol.Reading, error) {
		r, err := source.Read(ctx)
		reading := lagcontrol.Reading{Lag: r.Lag, Committed: r.Committed, Unreadable: r.Unreadable}
		if r.Partitions != nil {
			reading.Partitions = make([]lagcontrol.Partition, len(r.Partitions))
		}
		for i, p := range r.Partitions {
			reading.Partitions[i] = lagcontrol.Partition(p)
		}
		return reading, err
	}
}
