package backpressure

import "time"

// How a partition's capacity is taken from its steps.
const (
	// rateSpan is the time between the two steps whose slope is the rate, where
	// steps come more often than that. When a step happened is known to half of a
	// reading's interval; over a second that is an error of a twentieth at the
	// usual 100 ms.
	rateSpan = time.Second
	// leastSpan is the shortest that a known capacity is changed for.
	leastSpan = rateSpan / 4
	// silence is how many of its usual intervals a partition may go without a
	// step before its rate is no longer what it was: it stalled, or moved to
	// another member, or crawls.
	silence = 3
	// confirm is how many steps after a silence the capacity may rise again.
	confirm = 2
	// reach is how many intervals past a step a position is extrapolated.
	reach = 1.5
	// underway is what a record may take to a consumer that waits for it: linger,
	// produce, fetch. Only what was in the log for longer has been left behind.
	underway = 50 * time.Millisecond
)

// track follows the position of one partition: how far its consumer is. The
// position is seen in steps, for offsets are committed now and then; between two
// steps all that is known is that it grows.
type track struct {
	steps    []step        // those that the rate is taken over, oldest first
	interval time.Duration // between steps, smoothed; 0 before the second
	capacity float64       // records per second that the consumer can take; 0 before it is known
	busy     bool          // the last step left something that was there for longer than it takes to a consumer
	idle     time.Duration // when it was last seen to leave nothing
	quiet    bool          // the last step ended a silence
	capped   int           // by how many steps a capacity that a silence lowered is to be confirmed before it may rise
	spread   float64       // by how many seconds its backlog takes longer than all backlogs together, smoothed

	// The last reading.
	seen           time.Duration
	committed, end int64
	// The ends of the log in the readings of the last moments, oldest first.
	ends []step
}

// step is a position, and about when it was reached.
type step struct {
	at       time.Duration
	position int64
}

// see takes a reading. It tells whether there was a step.
func (t *track) see(at time.Duration, p Partition) bool {
	position := max(p.Committed, p.Delivered)
	before, since := t.endBefore(t.seen-underway), at-t.seen
	t.committed, t.end, t.seen = p.Committed, max(p.End, position), at
	t.ends = append(t.ends, step{at, t.end})
	if len(t.steps) == 0 {
		t.steps = append(t.steps, step{at, position})
		return false
	}
	last := t.steps[len(t.steps)-1]
	if position == last.position {
		if position == t.end {
			t.idle = at
		}
		return false
	}
	t.busy = position < before
	t.add(last, step{at - early(p, min(since, t.interval)), position})
	return true
}

// endBefore is the end of the log in the latest reading up to a time, or in the
// oldest that is kept. Older ones are forgotten.
func (t *track) endBefore(at time.Duration) int64 {
	if len(t.ends) == 0 {
		return 0
	}
	for len(t.ends) > 1 && t.ends[1].at <= at {
		t.ends = t.ends[1:]
	}
	return t.ends[0].position
}

// early is by how much a step is taken to be earlier than its reading. A
// commit came at some time since the reading before and, where commits come more often
// than readings, within one interval. A quarter of that is less than the truth
// more often than not, so that a position is rather taken too low than too high. What
// the application took is told as it is.
func early(p Partition, window time.Duration) time.Duration {
	if p.Delivered > 0 {
		return 0
	}
	return window / 4
}

// add adds a step. After a silence, or when consumers went back to read
// again, it is the first of a new span: nothing follows from the time before. The time in
// which there was nothing to take is no silence.
func (t *track) add(last, newest step) {
	gap := max(newest.at-max(last.at, t.idle), time.Millisecond)
	if !t.busy {
		t.idle = newest.at
	}
	silent := t.interval > 0 && gap > silence*t.interval
	if newest.position < last.position || silent && !t.quiet {
		t.steps, t.quiet = append(t.steps[:0], newest), true
		if newest.position > last.position && t.busy {
			t.limit(float64(newest.position-last.position) / gap.Seconds())
		}
		return
	}
	switch {
	case t.interval == 0, silent: // the second time: commits have become as slow
		t.interval = gap
	case gap < t.interval/silence:
		t.interval = (t.interval + gap) / 2
	default:
		t.interval += (gap - t.interval) / 4
	}
	t.quiet = false
	t.steps = append(t.steps, newest)
	t.measure(newest)
}

// limit lowers the capacity to what was taken during a silence in which there was
// work. Consumers that stalled are back at their rate two steps later; those that
// crawl must not be believed to take a step's time at the rate that they once had.
func (t *track) limit(rate float64) {
	t.capacity, t.capped = min(t.capacity, rate), confirm
}

// measure takes the rate over the span. If all that was in the log a moment
// before is worked off, the consumer may have waited for records: then the rate is
// that of the arrivals, and the capacity is at least that. Otherwise only what
// came since the consumer last may have waited tells its capacity.
func (t *track) measure(newest step) {
	for len(t.steps) > 2 && newest.at-t.steps[1].at >= max(rateSpan, t.interval) {
		t.steps = t.steps[1:]
	}
	oldest := t.steps[0]
	if t.busy && oldest.at < t.idle {
		for _, s := range t.steps {
			if oldest = s; s.at >= t.idle {
				break
			}
		}
	}
	confirmed := t.capped == 1
	t.capped = max(t.capped-1, 0)
	span := newest.at - oldest.at
	if span <= 0 || t.capacity > 0 && span < max(leastSpan, t.interval*3/4) && !confirmed {
		return
	}
	rate := float64(newest.position-oldest.position) / span.Seconds()
	if !t.busy {
		rate = max(rate, t.capacity)
	}
	if t.capped > 0 {
		rate = min(rate, t.capacity)
	}
	t.capacity = rate
}

// waits tells whether the consumer waits for records, as far as can be known: its last
// step left nothing, and it does not leave what came since.
func (t *track) waits(at time.Duration) bool {
	return !t.busy && at-t.idle <= silence*t.interval
}

// progress is by how many records the consumer is past the committed offset at a
// time, if it goes on as before: past what was in the log at the last reading only
// as far as it takes in the time beyond.
func (t *track) progress(at, beyond time.Duration) float64 {
	last := t.steps[len(t.steps)-1]
	ahead := min(max(at-last.at, 0), time.Duration(reach*float64(t.interval)))
	position := float64(last.position) + t.capacity*ahead.Seconds()
	return min(position, float64(t.end)+t.capacity*beyond.Seconds()) - float64(t.committed)
}

// backlog is how many records wait at a time, or are being worked on.
func (t *track) backlog(at time.Duration) float64 {
	return float64(t.end-t.committed) - t.progress(at, 0)
}
