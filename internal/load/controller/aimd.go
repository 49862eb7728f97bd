package controller

import (
	"errors"
	"fmt"
	"time"

	"kafkabench.example/kafka-bench/internal/lagcontrol"
)

// AIMDConfig configures an [AIMD] controller.
type AIMDConfig struct {
	// Target is the time from admission to consumer above which the bound is cut.
	Target time.Duration
	// MaxLag limits the lag in records; 0 is no limit.
	MaxLag int64
	// Step is by how many records the bound grows at a commit; 0 is 20.
	Step int64
}

const (
	defaultStep = 20
	cut         = 0.9
	firstBound  = lagcontrol.DefaultStart
)

// AIMD finds a bound by additive increase and multiplicative decrease (Chiu and Jain 1989; Jacobson
// 1988; with times instead of losses, Netflix's concurrency-limits).
//
// Law: at each commit, if records were refused since the last commit and the newest consumed record
// took at most the target, bound += step. If the record took longer, bound × 0.9, at most once in
// the time that the record took. While most consumers wait for records, the bound grows by a
// quarter instead, once between two commits, or doubles if commits are further apart than the
// target (TCP's slow start). Consumption and ceiling are estimated as in [lagcontrol.Latency].
//
// Failure modes. Growth is slow while consumers always have work. A bound that is too large shows
// only when its records are consumed, and shrinks by a tenth each time. So it swings about the
// target. After a fall of the capacity, the bound comes down slowly: this takes many times as long
// as a record takes from admission to consumer. Gates with shares do not find equal bounds: a gate
// that reads later after the commits sees longer times, and is cut again and again.
type AIMD struct {
	cfg     AIMDConfig
	group   lagcontrol.Group
	sojourn sojourn
	bound   float64
	refused int64
	cutAt   time.Duration
	last    time.Duration
}

// NewAIMD returns a controller that keeps times near cfg.Target. The error joins all mistakes.
func NewAIMD(cfg AIMDConfig) (*AIMD, error) {
	err := errors.Join(lagcontrol.CheckTarget(cfg.Target), lagcontrol.CheckMaxLag(cfg.MaxLag))
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
	return &AIMD{cfg: cfg, group: lagcontrol.NewGroup(), bound: firstBound}, nil
}

// Limit implements [lagcontrol.Limiter].
func (a *AIMD) Limit() int64 { return lagcontrol.LimitOf(a.cfg.MaxLag) }

// Decide implements [lagcontrol.Controller].
func (a *AIMD) Decide(o lagcontrol.Observation) lagcontrol.Decision {
	s, stepped := a.group.See(o)
	why := "no commit since"
	if took, ok := a.sojourn.see(o, a.group.Progress(o.At)); ok && stepped {
		a.last = took
		why = a.adapt(o, &s)
		a.refused = o.Refused
	}
	a.bound = min(max(a.bound, 1), float64(a.Limit()))
	a.group.Hold(o, a.bound, a.cfg.MaxLag)
	d := lagcontrol.Decision{Ceiling: a.Ceiling(o.At), Bound: lagcontrol.Records(a.group.Bound)}
	d.Reason = fmt.Sprintf("%v from admission to consumer, target %v: %s; a bound of %d",
		a.last.Round(time.Millisecond), a.cfg.Target, why, d.Bound)
	return d
}

// Ceiling implements [lagcontrol.Pacer].
func (a *AIMD) Ceiling(at time.Duration) int64 { return a.group.Ceiling(at) }

func (a *AIMD) adapt(o lagcontrol.Observation, s *lagcontrol.Standing) string {
	switch {
	case a.group.Hungry(s, true):
		a.bound *= s.Gain(a.cfg.Target)
		return "the consumers wait for records"
	case s.Idle > lagcontrol.MostIdle:
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
