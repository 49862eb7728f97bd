package backpressure

import (
	"errors"
	"fmt"
	"time"
)

// LatencyConfig says what a [Latency] controller holds.
type LatencyConfig struct {
	// Target is the time that a record may take from its admission until a
	// consumer takes it.
	Target time.Duration
	// MaxLag is a limit of the lag in records, kept as [Credit] keeps its bound;
	// 0 is none.
	MaxLag int64
	// Start is the bound in records until the first rate is known; 0 is 500.
	// Consumers that take r a second may be Start/r behind at first.
	Start int64
}

// defaultStart is half a second of a slow group, and enough for a fast one to show
// within a few commits what it can take.
const defaultStart = 500

// leastTrim is the part of the bound that is left however unevenly the partitions
// drain.
const leastTrim = 0.3

// mostIdle is the part of the capacity that must wait for records before more is
// tried than was measured. One partition that waits says nothing: they drift apart.
const mostIdle = 0.75

// Latency holds a time instead of a number of records: the bound follows what the
// consumers can take.
//
// Law, by Little (1961), L = μ·W: bound = μ × target × trim + one record for each
// partition that is worked on, and
//
//	ceiling(t) = Settled − Lag + progress(t) + bound
//
// where μ is the capacity and progress(t) is how far the consumers are past the
// committed offsets at t.
//
//   - Capacity. Each partition's is the slope between two of its steps, about a
//     second apart, and μ is their sum. A consumer that had worked off all
//     that was in the log a reading earlier may have waited, so what was measured is
//     the arrivals: that may raise its capacity and never lowers it.
//   - Progress. Between two steps a partition goes on at its capacity, no further
//     than one and a half of its intervals and than the end of its log. So commits
//     each second do not make the producers stop and go, and a stalled consumer
//     closes the gate by itself.
//   - Probing. If the gate refuses records while the consumers wait for some, the
//     capacities are too low. A bound that is filled again in each interval between
//     steps already lets through 1 + target/interval times what was measured; on
//     top of that the capacities are raised once in an interval, by a quarter, or
//     doubled as in TCP's slow start where the interval is above the target. The next
//     step that leaves something puts the measured rate in their place.
//   - Trim. Partitions drift apart, and what a user waits for is the slowest. So the
//     mean is held as far below the target as the slowest partition is above the
//     mean, but keeps three tenths of it.
//
// Failure modes. What is known arrives with the steps: a fall of the capacity
// shows after one interval, and until then records are admitted at the old rate,
// so after a fall by k some wait k × target and more. With commits an interval T
// apart a higher capacity is found by a factor of 2 to 4 each T, and overshot by
// as much at the last; above two seconds that takes long, and consumers that
// report what they took (Delivered) are the remedy. A target below about twice
// and a half the interval of the readings is not held, for a step cannot be told
// from its reading; nor is one that a reading takes a good part of. Where the
// work on one record does, there is no rate to measure. The more the work varies
// from record to record, or the arrivals from partition to partition (keys, sticky
// partitioning), the further partitions drift apart, and one gate in front of all
// cannot bring them together: then the slowest is held at the target and the
// others run dry at times.
//
// In a gate with a share the capacity is the whole group's, and the share
// divides the bound.
type Latency struct {
	cfg    LatencyConfig
	tracks map[place]*track
	order  []*track // as in the last reading

	at      time.Duration // of the last decision
	refused int64         // up to then
	limited bool          // whether records were refused before it
	pressed bool          // whether any were since capacities were looked at
	looked  time.Duration // when they were

	// The ceiling: what was committed, in admitted records; the bound; the part of
	// the progress that is of this gate's records; and the limit.
	committed, bound, part, limit float64
}

// NewLatency returns a controller that holds cfg.Target. An error names every fault.
func NewLatency(cfg LatencyConfig) (*Latency, error) {
	err := errors.Join(checkTarget(cfg.Target), checkMaxLag(cfg.MaxLag))
	if cfg.Start < 0 {
		err = errors.Join(err, fmt.Errorf("backpressure: the bound to start with must not be negative: %d records; 0 is %d", cfg.Start, defaultStart))
	}
	if err != nil {
		return nil, err
	}
	if cfg.Start == 0 {
		cfg.Start = defaultStart
	}
	return &Latency{cfg: cfg, tracks: make(map[place]*track)}, nil
}

// Limit implements [Limiter].
func (l *Latency) Limit() int64 { return limitOf(l.cfg.MaxLag) }

// Decide implements [Controller].
func (l *Latency) Decide(o Observation) Decision {
	share := o.Share
	if o.Partitions == nil {
		// The totals are this gate's own, so its share is in them.
		o.Partitions, share = []Partition{{Committed: o.Committed, End: o.Committed + o.Lag}}, 1
	}
	elapsed := o.At - l.at
	l.limited = o.Refused > l.refused
	l.pressed = l.pressed || l.limited
	l.at, l.refused = o.At, o.Refused

	stepped := l.see(o)
	s := l.stand()
	trim := l.trim(&s, elapsed)
	probed := stepped && l.probe(&s)
	l.setBound(o, s, share, trim)
	return l.decision(o, s, trim, probed)
}

// see gives the reading to the tracks. It tells whether any had a step.
func (l *Latency) see(o Observation) bool {
	stepped := false
	l.order = l.order[:0]
	for _, p := range o.Partitions {
		at := place{p.Topic, p.ID}
		t := l.tracks[at]
		if t == nil {
			t = &track{}
			l.tracks[at] = t
		}
		l.order = append(l.order, t)
		stepped = t.see(o.At-o.Age, p) || stepped
	}
	if len(l.tracks) > len(l.order) {
		for at, t := range l.tracks {
			if t.seen != o.At-o.Age {
				delete(l.tracks, at)
			}
		}
	}
	return stepped
}

// standing is where all partitions together are at the last decision.
type standing struct {
	capacity, backlog, lag float64
	interval               time.Duration // the longest between steps
	workers                int           // partitions whose capacity is known
	idle                   float64       // part of the capacity whose last step left nothing
	slowest                float64       // seconds by which the slowest busy partition is behind the mean
}

func (l *Latency) stand() standing {
	var s standing
	for _, t := range l.order {
		s.lag += float64(t.end - t.committed)
		s.backlog += t.backlog(l.at)
		s.capacity += t.capacity
		s.interval = max(s.interval, t.interval)
		if t.capacity > 0 {
			s.workers++
		}
		if !t.busy {
			s.idle += t.capacity
		}
	}
	if s.capacity > 0 {
		s.idle /= s.capacity
	}
	return s
}

// trim is the part of the target that the mean may have, for the slowest to have
// all of it. A partition's place is smoothed over a second or two steps, whichever
// is longer, and the record that is being worked on does not count as waiting.
func (l *Latency) trim(s *standing, elapsed time.Duration) float64 {
	if s.capacity == 0 {
		return 1
	}
	mean := s.backlog / s.capacity
	weight := min(1, float64(elapsed)/float64(max(time.Second, 2*s.interval)))
	for _, t := range l.order {
		if t.capacity == 0 {
			continue
		}
		t.spread += ((t.backlog(l.at)-1)/t.capacity - mean - t.spread) * weight
		if t.busy {
			s.slowest = max(s.slowest, t.spread)
		}
	}
	return max(leastTrim, 1-s.slowest/l.cfg.Target.Seconds())
}

// probe raises the capacities if records were refused while most consumers waited
// for some and even the slowest had less than half the target to do. It tells
// whether it did.
func (l *Latency) probe(s *standing) bool {
	if s.capacity == 0 || l.at-l.looked < s.interval*9/10 {
		return false
	}
	target := l.cfg.Target.Seconds()
	hungry := l.pressed && s.idle > mostIdle && s.backlog/s.capacity+s.slowest < target/2
	l.looked, l.pressed = l.at, false
	if !hungry {
		return false
	}
	gain := 1.25
	if s.interval > l.cfg.Target {
		gain = 2
	}
	for _, t := range l.order {
		t.capacity *= gain
	}
	s.capacity *= gain
	return true
}

// setBound puts the bound and what the ceiling is computed from into force.
func (l *Latency) setBound(o Observation, s standing, share, trim float64) {
	l.bound = float64(l.cfg.Start)
	if s.capacity > 0 {
		l.bound = s.capacity*l.cfg.Target.Seconds()*trim + float64(s.workers)
	}
	l.bound *= share
	l.part = share
	if s.lag > 0 {
		l.part = min(1, float64(o.Lag)/s.lag)
	}
	l.limit = float64(Unlimited)
	if l.cfg.MaxLag > 0 {
		most := part(o.Share, l.cfg.MaxLag)
		l.bound = min(l.bound, float64(most))
		l.limit = float64(window(o, most))
	}
	l.committed = float64(o.Settled - o.Lag)
}

// Ceiling implements [Pacer].
func (l *Latency) Ceiling(at time.Duration) int64 {
	var beyond time.Duration
	if l.limited {
		// Producers that wait for the ceiling follow it, and the log with them.
		beyond = at - l.at
	}
	var progress float64
	for _, t := range l.order {
		progress += t.progress(at, beyond)
	}
	return records(min(l.committed+l.part*progress+l.bound, l.limit))
}

func (l *Latency) decision(o Observation, s standing, trim float64, probed bool) Decision {
	d := Decision{Ceiling: l.Ceiling(o.At), Bound: records(l.bound)}
	switch {
	case s.capacity == 0:
		d.Reason = fmt.Sprintf("no commit seen yet: a bound of %d to start with", d.Bound)
	case probed:
		d.Reason = fmt.Sprintf("the consumers wait for records: trying %.0f/s, a bound of %d", s.capacity, d.Bound)
	default:
		d.Reason = fmt.Sprintf("%.0f/s × %v × %.2f: a bound of %d; backlog about %.0f, %d in flight",
			s.capacity, l.cfg.Target, trim, d.Bound, s.backlog, o.Admitted-o.Settled)
	}
	return d
}
