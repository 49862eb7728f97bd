package backpressure

import "context"

// Reading is the lag of a consumer group at one moment.
type Reading struct {
	// Lag is the sum over the partitions of high watermark − committed offset, in
	// records. Where Partitions are given it is computed from them.
	Lag int64
	// Committed counts the records committed so far, from any origin. Where
	// Partitions are given it is computed from them.
	Committed int64
	// Partitions leave none out: what lies in one that is missing counts as no lag.
	// Nil is that they are not told; empty is that there are none, as of a topic that
	// nobody has made yet. They must not be changed once the reading is reported.
	Partitions []Partition
}

// Partition is what a reading tells of one partition.
type Partition struct {
	Topic string
	ID    int32
	// Committed is the group's committed offset, or the first offset where the
	// group would start without one; End is the high watermark. Committed should be
	// read first: then the lag is never understated.
	Committed, End int64
	// Delivered is the offset after the last record that the application took,
	// where the consumers report it; 0 where they don't. It is ahead of Committed
	// by what is not committed yet.
	Delivered int64
}

// lag is the sum of the partitions' lag. Where the committed offset is ahead of
// the high watermark, as right after a change of leader, there is none.
func (r Reading) lag() int64 {
	var lag int64
	for _, p := range r.Partitions {
		lag += max(0, p.End-p.Committed)
	}
	return lag
}

// progress counts what is committed from reading to reading. It never falls:
// partitions that come with offsets of their own, or that are set back, are no
// work done and none undone. What is committed a second time counts again.
type progress struct {
	total int64
	last  map[place]int64
	whole *int64 // the last Reading.Committed, where there are no partitions
}

// of adds what a reading shows and returns the total.
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
	// Read asks for the lag. An error means that it is not known now, or not of every
	// partition.
	Read(ctx context.Context) (Reading, error)
}

// SourceFunc is a function that is a [Source].
type SourceFunc func(ctx context.Context) (Reading, error)

// Read implements [Source].
func (f SourceFunc) Read(ctx context.Context) (Reading, error) { return f(ctx) }
