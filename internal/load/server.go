package load

import (
	"math"
	"math/rand/v2"
	"time"
)

// Server does the simulated work of one worker of a consumer. Only one goroutine at a time
// uses it.
//
// It is a server in the sense of queueing theory, whose completion times are arithmetic: a
// record's work begins when the record is there and the one before it is done, and takes as
// long as was drawn. A sleep that ends late by a timer's millisecond makes one observation
// late, but not the work of the records behind it, so the capacity of a consumer is workers
// ÷ mean work, as the scenario says, and not what the timers leave of it.
type Server struct {
	axis   *Axis
	plan   Plan
	rng    *rand.Rand
	freeAt int64 // when it is done with what it was handed
}

// NewServer returns a server that is free. The draws follow from the seed and the number.
func NewServer(axis *Axis, plan Plan, seed, number uint64) Server {
	return Server{axis: axis, plan: plan, rng: rand.New(rand.NewPCG(seed, number)), freeAt: math.MinInt64}
}

// Begin begins with every record whose turn has come by now, at least one and at most n,
// which were there from the given time on. It returns how many those are, and how much of
// their work lies in the measured window, in nanoseconds.
func (s *Server) Begin(n int, there, now int64) (begun int, work int64) {
	current := s.plan.at(now)
	s.freeAt = max(s.freeAt, there)
	for begun < n && (begun == 0 || s.freeAt <= now) {
		drawn := current.draw(s.rng)
		s.freeAt += drawn
		work += s.axis.overlap(s.freeAt-drawn, s.freeAt)
		begun++
	}
	return begun, work
}

// Wait waits until the work that has begun is done. It returns false if cut is closed before.
func (s *Server) Wait(cut <-chan struct{}) bool {
	left := s.freeAt - s.axis.Now()
	if left <= 0 {
		return true
	}
	timer := time.NewTimer(time.Duration(left))
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-cut:
		return false
	}
}

// Abandon gives up the work that has begun and is not done: the server is free at once. It
// returns how much of that work lies in the measured window, in nanoseconds.
func (s *Server) Abandon() (undone int64) {
	now := min(s.axis.Now(), s.freeAt)
	undone = s.axis.overlap(now, s.freeAt)
	s.freeAt = now
	return undone
}
