package send

import (
	"math"
	"sync"

	"kafkabench.example/kafka-bench/internal/load"
	"kafkabench.example/kafka-bench/internal/measure/snapshot"
)

// volume is the bound on what all workers offer in the measured window together, in
// bytes of values or in records. Each has a share, so that none has to ask another
// before a record. When the last share is spent, the measured window ends.
type volume struct {
	axis  *load.Axis
	part  bool // others offer the rest: when the window ends is not known here
	first int  // the worker of the first measured record; see newShare
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

// Dealt is the share of the worker with this number, of so many workers, in a total. The
// shares of all add up to the total and differ by 1 at the most. Each process computes
// those of its own workers: nobody has to deal out anything.
func Dealt(total int64, workers, id int) int64 {
	share := total / int64(workers)
	if int64(id) < total%int64(workers) {
		share++
	}
	return share
}

// share is a worker's part of a volume, in bytes or in records.
type share struct {
	of      *volume
	records bool
	left    int64
}

// newShare is the share of a worker; nil without a bound. Records are dealt in the order in which
// they are due, beginning with the worker of the first measured one: so those that are offered are
// the first of the schedule, wherever the warm-up ended.
func newShare(cfg Config, of *volume, id int) *share {
	switch {
	case of == nil:
		return nil
	case cfg.Records > 0:
		turn := (id - of.first + cfg.Workers) % cfg.Workers
		return &share{of: of, records: true, left: Dealt(cfg.Records, cfg.Workers, turn)}
	}
	return &share{of: of, left: Dealt(cfg.Volume, cfg.Workers, id)}
}

// firstMeasured is the worker of the first record that is due in the measured window; 0 without a
// schedule.
func (cfg Config) firstMeasured() int {
	if cfg.Arrivals == nil {
		return 0
	}
	all := cfg.Arrivals.Stripe(0, 1)
	for all.Due() < 0 {
		all.Advance()
	}
	return int(all.Index() % int64(cfg.Workers))
}

// empty reports whether there are fewer records than workers, and none for this one. A
// share of bytes is never empty: each worker offers the record that reaches it.
func (s *share) empty() bool { return s.records && s.left == 0 }

// take takes a record with a value of so many bytes off the share, and tells whether
// it is spent.
func (s *share) take(bytes int) (spent bool) {
	if s.records {
		bytes = 1
	}
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
