package load

import (
	"math"
	"math/rand/v2"
	"time"
)

// Server simulates the work of one worker of a consumer. Only one goroutine may use it at a time.
//
// As in queueing theory, the work of a record begins when the record has arrived and the work of the record before it
// is done. The work takes the drawn time. A late timer delays one observation, but not the work of later records.
type Server struct {
	axis   *Axis
	plan   Plan
	rng    *rand.Rand
	freeAt int64
}

// NewServer returns a free server.
func NewServer(axis *Axis, plan Plan, seed, number uint64) Server {
	return Server{axis: axis, plan: plan, rng: rand.New(rand.NewPCG(seed, number)), freeAt: math.MinInt64}
}

// Begin takes n records that arrived at the time there, and begins the work of the first ones: those whose work can
// begin by now, at least one. It returns the number of these records, and how much of their work lies in the measured
// window, in nanoseconds.
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

// Wait waits until the work that has begun is done. It returns false if cut is closed first.
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

// Abandon stops unfinished work and returns how much of it lies in the measured window, in nanoseconds.
func (s *Server) Abandon() (undone int64) {
	now := min(s.axis.Now(), s.freeAt)
	undone = s.axis.overlap(now, s.freeAt)
	s.freeAt = now
	return undone
}
