package backpressure

import (
	"errors"
	"fmt"
	"time"
)

// AIMDConfig says what an [AIMD] controller holds.
type AIMDConfig struct {
	// Target is the time from admission to consumer above which the bound is cut.
	Target time.Duration
	// MaxLag is a limit of the lag in records; 0 is none.
	MaxLag int64
	// Step is by how many records the bound grows at a commit; 0 is 20.
	Step int64
}

const (
	defaultStep = 20
	// cut is what is left of the bound when times are too long.
	cut = 0.9
	// firstBound is where the controllers begin that find their bound step by step.
	firstBound = defaultStart
)

// AIMD finds a bound by additive increase and multiplicative decrease (Chiu and Jain
// 1989), as congestion control does (Jacobson 1988) and, with times for
// losses, the AIMD limit of Netflix's concurrency-limits.
//
// Law: at each commit that is seen, if records were refused since the one before,
// bound += step while the time of the newest record that is through is within
// the target; bound × 0.9 if it is above, at most once in that time. While most
// consumers wait for records the bound grows by a quarter instead, or doubles where
// commits are further apart than the target, once between two commits: the slow
// start of TCP. What is through, and the ceiling, are taken as [Latency] takes
// them, so commits each second do not count as waiting.
//
// Failure modes. Growth is slow by design where consumers always have something
// to do. It tells that a bound was too large only after the records that prove it have come
// through, a tenth each time, so it swings about the target and needs many times
// of a record's stay to come down after a fall of the capacity. Gates with shares do
// not find the same bound: each judges its own times, and one whose readings come a
// little later after the commits sees longer times, and is cut, ever again.
type AIMD struct {
	cfg     AIMDConfig
	group   group
	sojourn sojourn
	bound   float64
	refused int64
	cutAt   time.Duration
	last    time.Duration // the newest time
}

// NewAIMD returns a controller that keeps times about cfg.Target. An error names
// every fault.
func NewAIMD(cfg AIMDConfig) (*AIMD, error) {
	err := errors.Join(checkTarget(cfg.Target), checkMaxLag(cfg.MaxLag))
	if cfg.Step < 0 {
		err = errors.Join(err,
			fmt.Errorf("backpressure: the bound must grow by a positive number of records, not by %d; 0 is %d",
				cfg.Step, defaultStep))
	}
	if err != nil {
		return nil, err
	}
	if cfg.Step == 0 {
		cfg.Step = defaultStep
	}
	return &AIMD{cfg: cfg, group: newGroup(), bound: firstBound}, nil
}

// Limit implements [Limiter].
func (a *AIMD) Limit() int64 { return limitOf(a.cfg.MaxLag) }

// Decide implements [Controller].
func (a *AIMD) Decide(o Observation) Decision {
	s, stepped := a.group.see(o)
	why := "no commit since"
	if took, ok := a.sojourn.see(o, a.group.progress(o.At)); ok && stepped {
		a.last = took
		why = a.adapt(o, &s)
		a.refused = o.Refused
	}
	a.bound = min(max(a.bound, 1), float64(a.Limit()))
	a.group.hold(o, a.bound, a.cfg.MaxLag)
	d := Decision{Ceiling: a.Ceiling(o.At), Bound: records(a.group.bound)}
	d.Reason = fmt.Sprintf("%v from admission to consumer, target %v: %s; a bound of %d",
		a.last.Round(time.Millisecond), a.cfg.Target, why, d.Bound)
	return d
}

// Ceiling implements [Pacer].
func (a *AIMD) Ceiling(at time.Duration) int64 { return a.group.Ceiling(at) }

// adapt moves the bound and tells why.
func (a *AIMD) adapt(o Observation, s *standing) string {
	switch {
	case a.group.hungry(s, true):
		a.bound *= gain(s, a.cfg.Target)
		return "the consumers wait for records"
	case s.idle > mostIdle:
		return "the consumers keep up"
	case a.last > a.cfg.Target && o.At-a.cutAt >= a.last:
		a.bound *= cut
		a.cutAt = o.At
		return "less"
	case a.last > a.cfg.Target:
		return "less was told already"
	case o.Refused > a.refused:
		a.bound += float64(a.cfg.Step)
		return "more"
	}
	return "nothing was refused"
}
