package send

import (
	"math"
	"sync"

	"kafkabench.example/kafka-bench/internal/load"
	"kafkabench.example/kafka-bench/internal/measure/snapshot"
)

// Each worker has its own part of the volume, so workers need not coordinate. When all parts are
// spent, the window ends.
type volume struct {
	axis  *load.Axis
	part  bool // other processes offer the rest
	first int  // worker of the first measured record
	spent chan struct{}

	mu sync.Mutex
	// left counts the workers with an unspent part. Of the workers that have spent theirs, last is
	// the latest due time that they offered, next the earliest that they did not offer.
	left       int
	last, next int64
}

func newVolume(axis *load.Axis, workers int, part bool) *volume {
	return &volume{
		axis: axis, part: part, spent: make(chan struct{}), left: workers,
		last: math.MinInt64, next: math.MaxInt64,
	}
}

// Dealt returns a worker's part of a total. The parts of all workers add up to the total and differ by at most 1.
func Dealt(total int64, workers, id int) int64 {
	share := total / int64(workers)
	if int64(id) < total%int64(workers) {
		share++
	}
	return share
}

type share struct {
	of      *volume
	records bool
	left    int64
}

// newShare deals records in turn, beginning with the worker of the first measured record, so that
// the first records of the schedule are offered.
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

// firstMeasured returns 0 without a schedule.
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

// empty reports whether the worker has no records because there are fewer records than workers. A
// share of bytes is never empty: each worker offers the record that reaches it.
func (s *share) empty() bool { return s.records && s.left == 0 }

func (s *share) take(bytes int) (spent bool) {
	if s.records {
		bytes = 1
	}
	s.left -= int64(bytes)
	return s.left <= 0
}

// The window ends at the first due time that no worker offered, but never before the last offered record.
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
