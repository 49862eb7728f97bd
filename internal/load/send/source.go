package send

import (
	"math"
	"sync/atomic"
	"time"
)

// ahead is how much younger than the oldest record at the source one may be that asks the gate. It
// is above what a worker oversleeps, so that all workers may ask while their records are as old.
const ahead = 50 * time.Millisecond

// source is what the workers of a process tell each other about the records that wait: how many
// there are, and which is the oldest. So deferred records go out in the order of their due times.
// If each worker took what it gets, one could be seconds ahead of another.
type source struct {
	heads         []head
	_             [64]byte
	lookedAt      atomic.Int64
	oldest        atomic.Int64 // due time, at lookedAt
	_             [64]byte
	waiting, peak atomic.Int64
}

type head struct {
	due atomic.Int64 // of the oldest record that waits for the gate; nobody without one
	_   [56]byte
}

const nobody = math.MaxInt64

func newSource(workers int) *source {
	s := &source{heads: make([]head, workers)}
	for i := range s.heads {
		s.heads[i].due.Store(nobody)
	}
	s.oldest.Store(nobody)
	s.lookedAt.Store(math.MinInt64 / 2)
	return s
}

// turn returns the due time up to which records may ask the gate. As each worker asks every
// retryEvery, all heads are read only as often.
func (s *source) turn(now int64) int64 {
	if at := s.lookedAt.Load(); now-at >= int64(retryEvery) && s.lookedAt.CompareAndSwap(at, now) {
		oldest := int64(nobody)
		for i := range s.heads {
			oldest = min(oldest, s.heads[i].due.Load())
		}
		s.oldest.Store(oldest)
	}
	return min(s.oldest.Load(), nobody-int64(ahead)) + int64(ahead)
}

// add counts records that wait, or no longer do.
func (s *source) add(n int64) {
	if n == 0 {
		return
	}
	now := s.waiting.Add(n)
	for peak := s.peak.Load(); now > peak && !s.peak.CompareAndSwap(peak, now); peak = s.peak.Load() {
	}
}
