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
//     closes the gate by itself. After a silence of three intervals with something
//     to take, the capacity is no more than what was taken in that time until two
//     further steps confirm more, and the interval stays that from before. So what is
//     admitted beyond what is committed never exceeds the bound and one and a half
//     of a usual step, even if consumers take a record now and then.
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
	cfg   LatencyConfig
	group group
}

// NewLatency returns a controller that holds cfg.Target. An error names every fault.
func NewLatency(cfg LatencyConfig) (*Latency, error) {
	err := errors.Join(checkTarget(cfg.Target), checkMaxLag(cfg.MaxLag))
	if cfg.Start < 0 {
		err = errors.Join(err,
			fmt.Errorf("backpressure: the bound to start with must not be negative: %d records; 0 is %d", cfg.Start,
				defaultStart))
	}
	if err != nil {
		return nil, err
	}
	if cfg.Start == 0 {
		cfg.Start = defaultStart
	}
	return &Latency{cfg: cfg, group: newGroup()}, nil
}

// Limit implements [Limiter].
func (l *Latency) Limit() int64 { return limitOf(l.cfg.MaxLag) }

// Decide implements [Controller].
func (l *Latency) Decide(o Observation) Decision {
	s, stepped := l.group.see(o)
	trim := l.trim(&s)
	probed := stepped && l.probe(&s)
	l.group.hold(o, l.bound(&s, trim), l.cfg.MaxLag)
	return l.decision(o, &s, trim, probed)
}

// Ceiling implements [Pacer].
func (l *Latency) Ceiling(at time.Duration) int64 { return l.group.Ceiling(at) }

// trim is the part of the target that the mean may have, for the slowest to have
// all of it. A partition's place is smoothed over a second or two steps, whichever
// is longer, and the record that is being worked on does not count as waiting.
func (l *Latency) trim(s *standing) float64 {
	if s.capacity == 0 {
		return 1
	}
	mean := s.backlog / s.capacity
	weight := min(1, float64(l.group.elapsed)/float64(max(time.Second, 2*s.interval)))
	for _, t := range l.group.order {
		if t.capacity == 0 {
			continue
		}
		t.spread += ((t.backlog(l.group.at)-1)/t.capacity - mean - t.spread) * weight
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
	if !l.group.hungry(s, s.backlog/s.capacity+s.slowest < l.cfg.Target.Seconds()/2) {
		return false
	}
	more := gain(s, l.cfg.Target)
	for _, t := range l.group.order {
		t.capacity *= more
	}
	s.capacity *= more
	return true
}

// bound is the law, for the whole group.
func (l *Latency) bound(s *standing, trim float64) float64 {
	if s.capacity == 0 {
		return float64(l.cfg.Start)
	}
	return s.capacity*l.cfg.Target.Seconds()*trim + float64(s.workers)
}

func (l *Latency) decision(o Observation, s *standing, trim float64, probed bool) Decision {
	d := Decision{Ceiling: l.Ceiling(o.At), Bound: records(l.group.bound)}
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
