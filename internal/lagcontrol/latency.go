package lagcontrol

import (
	"errors"
	"fmt"
	"time"
)

// LatencyConfig configures a [Latency] controller.
type LatencyConfig struct {
	// Target is the time that a record may take from its admission until a consumer takes it.
	Target time.Duration
	// MaxLag limits the lag in records, as [Credit] does; 0 is no limit.
	MaxLag int64
	// Start is the bound in records until the first rate is known; 0 is 500. Consumers that take r
	// records a second may be Start/r seconds behind at first.
	Start int64
}

// DefaultStart is what a slow group takes in half a second, and enough to show a fast group's
// capacity.
const DefaultStart = 500

const leastTrim = 0.3

// Latency holds a time instead of a number of records: the bound follows the consumers' capacity.
//
// Law, by Little (1961), L = μ·W: bound = μ × target × trim + one record for each partition whose
// capacity is known, and
//
//	ceiling(t) = Settled − Lag + progress(t) + bound
//
// where μ is the capacity and progress(t) estimates how far the consumers are past the committed
// offsets at t.
//
//   - Capacity. A step is a reading in which a partition's position moved. A partition's
//     capacity is the slope between two of its steps, about a second apart, and μ is the
//     sum. A consumer that has processed all records of the previous reading may have
//     waited for records. Such a measurement may only raise the capacity.
//   - Progress. Between two steps a position moves at the capacity, for at most one and
//     a half intervals, and at most to the end of the log. So a stalled consumer closes
//     the gate.
//     After a silence of three intervals with records to take, the capacity is at most
//     the rate during the silence, until two further steps confirm more. So the admitted
//     and uncommitted records never exceed the bound plus 1.5 usual steps.
//   - Probing. If the gate refuses records while most consumers wait for records, the
//     controller raises its estimates of the capacities once in an interval: by a quarter,
//     or to twice as much, as in TCP's slow start, if the interval is above the target. (A
//     bound that is filled again in each interval already admits 1 + target/interval times
//     the measured rate.) The next step that leaves records behind measures the capacities
//     again.
//   - Trim. Users wait for the slowest partition. So the mean time of all partitions is held
//     as far below the target as the slowest partition's time is above the mean, but at
//     least at 0.3 × target.
//
// Failure modes. A fall of the capacity shows after one interval. Until then records are admitted
// at the old rate, so after a fall to 1/k of the capacity some records wait k × target and more. If
// the capacity rises and commits are an interval T apart, the estimate grows 2 to 4 times in each
// T, and may end too high by this factor. If T is above 2 s, this growth takes long: then let the
// consumers report Delivered. The controller cannot hold a target below about 2.5 times the
// interval of the readings, nor a target hardly longer than a reading takes. It measures no rate if
// the work on one record takes a good part of the target. Partitions drift further apart with
// uneven work or uneven arrivals (keys, sticky partitioning). Then the slowest is held at the
// target, and the others run out of records at times.
//
// In a gate with a share the capacity is the whole group's, and the share divides the bound.
type Latency struct {
	cfg   LatencyConfig
	group Group
}

// NewLatency returns a controller that holds cfg.Target. The error joins all mistakes.
func NewLatency(cfg LatencyConfig) (*Latency, error) {
	err := errors.Join(CheckTarget(cfg.Target), CheckMaxLag(cfg.MaxLag))
	if cfg.Start < 0 {
		err = errors.Join(err,
			fmt.Errorf("backpressure: the bound to start with must not be negative: %d records; 0 is %d", cfg.Start,
				DefaultStart))
	}
	if err != nil {
		return nil, err
	}
	if cfg.Start == 0 {
		cfg.Start = DefaultStart
	}
	return &Latency{cfg: cfg, group: NewGroup()}, nil
}

// Limit implements [Limiter].
func (l *Latency) Limit() int64 { return LimitOf(l.cfg.MaxLag) }

// Decide implements [Controller].
func (l *Latency) Decide(o Observation) Decision {
	s, stepped := l.group.See(o)
	trim := l.trim(&s)
	probed := stepped && l.probe(&s)
	l.group.Hold(o, l.bound(&s, trim), l.cfg.MaxLag)
	return l.decision(o, &s, trim, probed)
}

// Ceiling implements [Pacer].
func (l *Latency) Ceiling(at time.Duration) int64 { return l.group.Ceiling(at) }

// trim returns the part of the target at which the mean time of all partitions is held, so that the
// slowest partition is at the whole target. It smooths over one second or two intervals between
// steps, whichever is longer. The record that a consumer works on does not count as waiting.
func (l *Latency) trim(s *Standing) float64 {
	if s.capacity == 0 {
		return 1
	}
	mean := s.backlog / s.capacity
	weight := min(1, float64(l.group.Elapsed)/float64(max(time.Second, 2*s.interval)))
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

// probe raises the capacities if records were refused while most consumers waited, and even the
// slowest had work for less than half the target.
func (l *Latency) probe(s *Standing) bool {
	if !l.group.Hungry(s, s.backlog/s.capacity+s.slowest < l.cfg.Target.Seconds()/2) {
		return false
	}
	more := s.Gain(l.cfg.Target)
	for _, t := range l.group.order {
		t.capacity *= more
	}
	s.capacity *= more
	return true
}

func (l *Latency) bound(s *Standing, trim float64) float64 {
	if s.capacity == 0 {
		return float64(l.cfg.Start)
	}
	return s.capacity*l.cfg.Target.Seconds()*trim + float64(s.workers)
}

func (l *Latency) decision(o Observation, s *Standing, trim float64, probed bool) Decision {
	d := Decision{Ceiling: l.Ceiling(o.At), Bound: Records(l.group.Bound)}
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
