package controller

import (
	"errors"
	"fmt"

	"kafkabench.example/kafka-bench/internal/lagcontrol"
)

// Hysteresis is on/off control with two thresholds (a Schmitt trigger), the well-known baseline.
//
// Law: closed if lag > max; open if lag < resume; otherwise unchanged.
//
// Failure modes. The signal is old by up to the reading interval plus the consumers' commit
// interval, so the lag exceeds max by about rate × age. A healthy group shows up to rate × commit
// interval of lag; a max below that throttles it. With resume near zero, consumers run out of
// records before the gate opens.
type Hysteresis struct {
	max, resume int64
}

// NewHysteresis returns a controller that closes the gate above a lag of max and opens it below a
// lag of resume, in records. It returns an error unless 0 < resume < max.
func NewHysteresis(max, resume int64) (*Hysteresis, error) {
	switch {
	case max <= 0:
		return nil, fmt.Errorf("backpressure: the lag above which the gate closes must be positive, not %d records",
			max)
	case resume <= 0:
		return nil, errors.New("backpressure: the lag below which the gate opens again must be positive: a lag below zero is never seen, so the gate would never open")
	case resume >= max:
		return nil, fmt.Errorf("backpressure: the gate must open below the lag at which it closes: %d records is not below %d", resume, max)
	}
	return &Hysteresis{max: max, resume: resume}, nil
}

// Decide implements [lagcontrol.Controller].
func (h *Hysteresis) Decide(o lagcontrol.Observation) lagcontrol.Decision {
	d := lagcontrol.Decision{Ceiling: lagcontrol.Unlimited, Bound: lagcontrol.Unlimited}
	switch {
	case o.Lag > h.max:
		d.Ceiling, d.Reason = 0, fmt.Sprintf("lag %d is above %d", o.Lag, h.max)
	case o.Lag < h.resume:
		d.Reason = fmt.Sprintf("lag %d is below %d", o.Lag, h.resume)
	case o.Open:
		d.Reason = fmt.Sprintf("lag %d has not passed %d", o.Lag, h.max)
	default:
		d.Ceiling, d.Reason = 0, fmt.Sprintf("lag %d has not fallen below %d", o.Lag, h.resume)
	}
	return d
}
