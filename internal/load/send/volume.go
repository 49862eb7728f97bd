package send

import (
	"math"
	"sync"

	"kafkabench.example/kafka-bench/internal/load"
	"kafkabench.example/kafka-bench/internal/measure/snapshot"
)

// volume is the bound on what all workers offer in the measured window together.
// Each has a share, so that none has to ask another before a record. When the last
// share is spent, the measured window ends.
type volume struct {
	axis  *load.Axis
	part  bool // others offer the rest: when the window ends is not known here
	spent chan struct{}

	mu sync.Mutex
	// Of the workers whose share is not spent yet, how many there are; of the
	// others, when the last record was due and when the first of those would
	// have been that were not offered any more.
	left       int
	last, next int64
}

func newVolume(axis *load.Axis, workers int, part bool) *volume {
	return &volume{
		axis: axis, part: part, spent: make(chan struct{}), left: workers,
		last: math.MinInt64, next: math.MaxInt64,
	}
}

// share is a worker's part of a volume, in bytes.
type share struct {
	of   *volume
	left int64
}

// take takes the bytes of a value off the share, and tells whether it is spent.
func (s *share) take(bytes int) (spent bool) {
	s.left -= int64(bytes)
	return s.left <= 0
}

// end says that a worker's share is spent, with the record that was due last; its
// next one would have been due at next. The window ends when the next record of
// all would have been due, so that what was offered over its length is the rate of
// the schedule; but after the last record, which some worker with larger ones may
// have had later.
func (s *share) end(last, next int64) {
	v := s.of
	v.mu.Lock()
	defer v.mu.Unlock()
	v.last, v.next = max(v.last, last), min(v.next, next)
	if v.left--; v.left == 0 {
		if !v.part {
			v.axis.EndAt(snapshot.Spending{LastNs: v.last, NextNs: v.next}.End())
		}
		close(v.spent)
	}
}
