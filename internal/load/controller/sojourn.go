package controller

import (
	"time"

	"kafkabench.example/kafka-bench/internal/lagcontrol"
)

// sojourn measures the time of records from admission to consumer. Records count as consumed if
// they are committed, or if the consumers are estimated to be past them.
type sojourn struct {
	history []admission // oldest first; the first is at or before through
	through float64     // how many admitted records were consumed; a record in work counts in part
}

type admission struct {
	at       time.Duration
	admitted int64
}

// A full history drops every second entry.
const maxHistory = 1024

// see returns the time that the newest consumed record took, and false if none was consumed since
// the last call. progress is how many records the consumers have read and not committed.
func (s *sojourn) see(o lagcontrol.Observation, progress float64) (time.Duration, bool) {
	if n := len(s.history); n == 0 || s.history[n-1].admitted < o.Admitted {
		s.history = append(s.history, admission{o.At, o.Admitted})
	}
	if len(s.history) > maxHistory {
		s.thin()
	}
	through := min(float64(o.Settled-o.Lag)+progress, float64(o.Settled))
	if through <= s.through {
		return 0, false
	}
	s.through = through
	for len(s.history) > 1 && float64(s.history[1].admitted) <= through {
		s.history = s.history[1:]
	}
	return o.At - s.admittedAt(through), true
}

func (s *sojourn) admittedAt(n float64) time.Duration {
	first := s.history[0]
	past := n - float64(first.admitted)
	if len(s.history) == 1 || past <= 0 {
		return first.at
	}
	next := s.history[1]
	return first.at + time.Duration(past/float64(next.admitted-first.admitted)*float64(next.at-first.at))
}

func (s *sojourn) thin() {
	kept := s.history[:0]
	for i, a := range s.history {
		if i%2 == 0 || i == len(s.history)-1 {
			kept = append(kept, a)
		}
	}
	s.history = kept
}
