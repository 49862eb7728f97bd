package lagcontrol

import "context"

// Reading is the lag of a consumer group at one moment.
type Reading struct {
	// Lag is the sum over the partitions of high watermark − committed offset, in records. The gate
	// ignores it if Partitions are given.
	Lag int64
	// Committed counts the committed records from any starting point: only its differences matter.
	// The gate ignores it if Partitions are given.
	Committed int64
	// Partitions must be complete: a missing partition counts as no lag. Nil means not reported.
	// Empty means that the topic does not exist yet. Do not change them after Report.
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

// After a change of leader a committed offset can be ahead of the high watermark; that partition
// counts 0.
func (r Reading) lag() int64 {
	var lag int64
	for _, p := range r.Partitions {
		lag += max(0, p.End-p.Committed)
	}
	return lag
}

// progress counts committed records and never falls: new partitions, and committed offsets that are
// set back, count 0. Records that are committed a second time count again.
type progress struct {
	total int64
	last  map[place]int64
	whole *int64 // the last Reading.Committed of readings without partitions
}

func (p *progress) of(r Reading) int64 {
	if r.Partitions == nil {
		if p.whole != nil {
			p.total += max(0, r.Committed-*p.whole)
		}
		p.whole = &r.Committed
		return p.total
	}
	if p.last == nil {
		p.last = make(map[place]int64, len(r.Partitions))
	}
	for _, now := range r.Partitions {
		at := place{now.Topic, now.ID}
		if last, known := p.last[at]; known {
			p.total += max(0, now.Committed-last)
		}
		p.last[at] = now.Committed
	}
	return p.total
}

// Source reads the lag.
type Source interface {
	// Read reads the lag. It returns an error if the lag of any partition is not known.
	Read(ctx context.Context) (Reading, error)
}

// SourceFunc is a function that implements [Source].
type SourceFunc func(ctx context.Context) (Reading, error)

// Read implements [Source].
func (f SourceFunc) Read(ctx context.Context) (Reading, error) { return f(ctx) }
