package lagcontrol

import "time"

const (
	// rateSpan is the time between the two steps whose slope is the rate, unless steps are further
	// apart. The time of a step is known only to half the interval of readings. At the usual 100
	// ms, that is an error of a twentieth over 1 s.
	rateSpan = time.Second
	// leastSpan is the shortest span whose rate changes a known capacity.
	leastSpan = rateSpan / 4
	// silence is how many usual intervals may pass without a step before the old rate no longer
	// counts.
	silence = 3
	// confirm is the number of steps after a silence until the capacity may rise again.
	confirm = 2
	// reach is by how many intervals a position is extrapolated.
	reach = 1.5
	// underway is the longest usual time from the log to a consumer that waits for records. Only
	// records that were in the log for longer count as left behind by the consumer.
	underway = 50 * time.Millisecond
)

// track follows the consumer's position in one partition, which moves at commits.
type track struct {
	steps    []step        // for measuring the rate, oldest first
	interval time.Duration // between steps, smoothed; 0 before the second step
	capacity float64       // records per second that the consumer can take; 0 if not known
	busy     bool          // the last step left records that were in the log for longer than underway
	idle     time.Duration // when a step or reading last left no records behind
	quiet    bool          // the last step ended a silence
	capped   int           // steps until a capacity that a silence lowered may rise
	spread   float64       // by how many seconds its backlog takes longer than the mean, smoothed

	seen           time.Duration // time of the last reading, which also gave committed and end
	committed, end int64
	ends           []step // ends of the log in the latest readings, oldest first
}

// step is a position and its approximate time.
type step struct {
	at       time.Duration
	position int64
}

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

// endBefore returns the log's end in the latest reading up to a time, or in the oldest kept
// reading. It forgets the readings before that.
func (t *track) endBefore(at time.Duration) int64 {
	if len(t.ends) == 0 {
		return 0
	}
	for len(t.ends) > 1 && t.ends[1].at <= at {
		t.ends = t.ends[1:]
	}
	return t.ends[0].position
}

// early returns by how much a step is assumed to be earlier than its reading. It assumes little,
// because too low a position is safer. Delivered needs no correction.
func early(p Partition, window time.Duration) time.Duration {
	if p.Delivered > 0 {
		return 0
	}
	return window / 4
}

// add adds a step. It begins a new span after a silence, or if consumers went back. Time without
// records to take is no silence.
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
	case t.interval == 0, silent: // a second silence in a row: commits are slower now
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

// limit lowers the capacity to the rate during a silence in which there was work. The capacity may
// rise again two steps later.
func (t *track) limit(rate float64) {
	t.capacity, t.capped = min(t.capacity, rate), confirm
}

// measure takes the rate over the span. If the consumer has read all that was in the log a moment
// before, it may have waited for records. Then its capacity is at least the rate. Otherwise the
// span begins after the last time at which the consumer may have waited.
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

func (t *track) waits(at time.Duration) bool {
	return !t.busy && at-t.idle <= silence*t.interval
}

// progress estimates how many records the consumer has read beyond the committed offset, at the
// known capacity. The estimated position passes the log's end of the last reading by at most what
// the consumer takes in the time beyond.
func (t *track) progress(at, beyond time.Duration) float64 {
	last := t.steps[len(t.steps)-1]
	ahead := min(max(at-last.at, 0), time.Duration(reach*float64(t.interval)))
	position := float64(last.position) + t.capacity*ahead.Seconds()
	return min(position, float64(t.end)+t.capacity*beyond.Seconds()) - float64(t.committed)
}

func (t *track) backlog(at time.Duration) float64 {
	return float64(t.end-t.committed) - t.progress(at, 0)
}
