package backpressure

import "time"

// sojourn measures how long records stay: from their admission until a consumer
// is through with them. It is what other systems call the round-trip time. It keeps
// when how many records had been admitted; the record that is through now was
// admitted when that count reached it. What is through is what is committed and
// what the consumers are believed to be past it, so that the wait for a commit is
// not part of the time.
type sojourn struct {
	history []admission // oldest first, the first at or before what is through
	through float64     // in admitted records; a record in work counts in part
}

// admission is how many records had been admitted by a time.
type admission struct {
	at       time.Duration
	admitted int64
}

// maxHistory bounds the history; when it is full every second entry goes.
const maxHistory = 1024

// see takes an observation and by how many records the consumers are past the
// committed ones. It returns the time of the newest record that is through, and false if
// none came through since.
func (s *sojourn) see(o Observation, progress float64) (time.Duration, bool) {
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

// admittedAt is when the count reached n, evenly between two entries.
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
