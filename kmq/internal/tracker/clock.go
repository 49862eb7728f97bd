package tracker

import (
	"container/heap"
	"time"
)

// untendedFor is how long a partition may have no tracker. It covers the time until the group
// notices a killed tracker (45 s by default) and a retry of a failed delivery (within a minute).
const untendedFor = 120_000 // ms

// pass moves the time to that of the next marker.
//
// A tracker writes ticks as soon as a record is due. If the log's time jumps far past a deadline,
// either no tracker ran or a clock was set. To be never early, the state then trusts the reader's
// clock. It cannot recognise a jump that passes no deadline, or passes one by less than untendedFor.
func (s *State) pass(offset int64, appended time.Time, seen Seen) {
	s.next = offset + 1
	log := appended.UnixMilli()
	if len(s.due) > 0 && s.clock.gap(log)-max(0, s.due[0].deadline-s.clock.now) > untendedFor {
		s.bound()
		s.clock.skip(log, seen.At)
	}
	s.clock.read(log, seen.At)
}

// bound makes records whose markers were not read live wait for the rest of their time on the
// reader's clock.
func (s *State) bound() {
	for _, r := range s.due {
		if r.notBefore == 0 {
			r.notBefore = s.clock.local + time.Duration(r.deadline-s.clock.now)*time.Millisecond
		}
	}
	heap.Init(&s.due)
}

// The log's time may fall back by jitter and still count as the same clock. The tracker's time then stops until the
// log catches up; after a larger step it follows the new time.
const jitter = 2000 // ms

// clock adds up the time between markers.
type clock struct {
	began  bool
	now    int64         // ms since the first marker
	log    int64         // the log's time at now, ms
	behind int64         // ms from the newest marker's time to log
	local  time.Duration // the reader's time at the newest marker
}

func (c *clock) gap(log int64) int64 {
	if !c.began {
		return 0
	}
	return max(0, log-c.log)
}

// skip counts only the time that passed on the reader's clock.
func (c *clock) skip(log int64, local time.Duration) {
	c.now += min(log-c.log, (local - c.local).Milliseconds())
	c.log = log
}

func (c *clock) read(log int64, local time.Duration) {
	c.local = local
	switch {
	case !c.began || c.log-log > jitter:
		c.began, c.log = true, log
	case log > c.log:
		c.now += log - c.log
		c.log = log
	}
	c.behind = c.log - log
}

// passed returns the time in ms from now to a reading of the reader's clock.
func (c *clock) passed(local time.Duration) int64 {
	return max(0, (local-c.local).Milliseconds()-c.behind)
}
