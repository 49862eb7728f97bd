package backpressure

import "time"

// sojourn measures how long records stay: from their admission until they are
// known to be committed. It is what other systems call the round-trip time. It
// keeps when how many records had been admitted; the record that is committed now
// was admitted when that count reached it. No rate enters, so there is nothing to
// estimate, but the time includes the wait for the commit.
type sojourn struct {
	history   []admission // oldest first, the first at or before what is committed
	committed int64       // in admitted records
}

// admission is how many records had been admitted by a time.
type admission struct {
	at       time.Duration
	admitted int64
}

// maxHistory bounds the history; when it is full every second entry goes.
const maxHistory = 1024

// see takes an observation. It returns the time of the newest committed record,
// and false if nothing was committed since.
func (s *sojourn) see(o Observation) (time.Duration, bool) {
	if n := len(s.history); n == 0 || s.history[n-1].admitted < o.Admitted {
		s.history = append(s.history, admission{o.At, o.Admitted})
	}
	if len(s.history) > maxHistory {
		s.thin()
	}
	committed := o.Settled - o.Lag
	if committed <= s.committed {
		return 0, false
	}
	s.committed = committed
	for len(s.history) > 1 && s.history[1].admitted <= committed {
		s.history = s.history[1:]
	}
	return o.At - s.admittedAt(committed), true
}

// admittedAt is when the count reached n, evenly between two entries.
func (s *sojourn) admittedAt(n int64) time.Duration {
	first := s.history[0]
	if len(s.history) == 1 || n <= first.admitted {
		return first.at
	}
	next := s.history[1]
	part := float64(n-first.admitted) / float64(next.admitted-first.admitted)
	return first.at + time.Duration(part*float64(next.at-first.at))
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
