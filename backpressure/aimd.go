package backpressure

import (
	"errors"
	"fmt"
	"time"
)

// AIMDConfig says what an [AIMD] controller holds.
type AIMDConfig struct {
	// Target is the time from admission to commit above which the bound is cut.
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
	firstBound = 100
)

// AIMD finds a bound by additive increase and multiplicative decrease (Chiu and Jain
// 1989), as congestion control does (Jacobson 1988) and, with times for
// losses, the AIMD limit of Netflix's concurrency-limits.
//
// Law: at each commit that is seen, bound += step if the time of the newest
// committed record is within the target and records were refused; bound × 0.9 if
// it is above, at most once in that time.
//
// Failure modes. The time includes the wait for the commit, so the target must be
// above the commit interval, or the bound shrinks to nothing though the
// consumers wait. Growth is slow by design: capacity that is four times as high is
// found after hundreds of commits. It tells that a bound was too large only
// after the records that prove it have come through, so it swings about the target.
type AIMD struct {
	cfg     AIMDConfig
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
		err = errors.Join(err, fmt.Errorf("backpressure: the bound must grow by a positive number of records, not by %d; 0 is %d", cfg.Step, defaultStep))
	}
	if err != nil {
		return nil, err
	}
	if cfg.Step == 0 {
		cfg.Step = defaultStep
	}
	return &AIMD{cfg: cfg, bound: firstBound}, nil
}

// Limit implements [Limiter].
func (a *AIMD) Limit() int64 { return limitOf(a.cfg.MaxLag) }

// Decide implements [Controller].
func (a *AIMD) Decide(o Observation) Decision {
	why := "no commit since"
	if took, ok := a.sojourn.see(o); ok {
		a.last = took
		why = a.adapt(o, took)
		a.refused = o.Refused
	}
	a.bound = min(max(a.bound, 1), float64(a.Limit()))
	bound := part(o.Share, records(a.bound))
	return Decision{
		Ceiling: window(o, bound), Bound: bound,
		Reason: fmt.Sprintf("%v from admission to commit, target %v: %s; a bound of %d", a.last.Round(time.Millisecond), a.cfg.Target, why, bound),
	}
}

// adapt moves the bound and tells why.
func (a *AIMD) adapt(o Observation, took time.Duration) string {
	switch {
	case took > a.cfg.Target && o.At-a.cutAt >= took:
		a.bound *= cut
		a.cutAt = o.At
		return "less"
	case took > a.cfg.Target:
		return "less was told already"
	case o.Refused > a.refused:
		a.bound += float64(a.cfg.Step)
		return "more"
	}
	return "nothing was refused"
}
