package send

import (
	"math"
	"sync"

	"kafkabench.example/kafka-bench/internal/load"
	"kafkabench.example/kafka-bench/internal/measure/snapshot"
)

// volume bounds what all workers together offer in the measured window, in bytes of values or in records. Each worker
// has a part, so none needs to ask another. The last part to be spent ends the window.
type volume struct {
	axis  *load.Axis
	part  bool // other processes offer the rest, so the end is not known here
	first int  // worker of the first measured record; see newShare
	spent chan struct{}

	mu sync.Mutex
	// left counts the workers with an unspent part. Of the others, last is the latest due time that was offered, and
	// next the first that was not.
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
// Each process computes those of its own workers.
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

// newShare returns a worker's part; nil without a bound. Parts of records begin with the worker of the first measured
// record, so exactly the first records of the schedule are offered.
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

// firstMeasured returns the worker of the first record due in the measured window; 0 without a schedule.
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

// empty reports whether the worker has no record to offer, because there are fewer records than workers. A share of
// bytes is never empty: each worker offers the record that reaches it.
func (s *share) empty() bool { return s.records && s.left == 0 }

// take takes a record with a value of that many bytes off the share and reports whether it is spent.
func (s *share) take(bytes int) (spent bool) {
	if s.records {
		bytes = 1
	}
	s.left -= int64(bytes)
	return s.left <= 0
}

// end reports a spent share: last is the due time of its last record, next of the one after it. The window ends at
// the first due time that no worker offered, so its rate is the schedule's, but never before the last offered record.
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
