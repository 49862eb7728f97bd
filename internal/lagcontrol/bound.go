package lagcontrol

import (
	"fmt"
	"time"
)

// See [Credit] for the proof of window.
func window(o Observation, bound int64) int64 {
	return o.Settled + max(0, bound-o.Lag)
}

// part rounds down, so that all parts never add up to more than the bound.
func part(share float64, bound int64) int64 {
	if share >= 1 {
		return bound
	}
	return int64(share * float64(bound))
}

// LimitOf is the Limit of a controller whose upper limit is maxLag; 0 is none.
func LimitOf(maxLag int64) int64 {
	if maxLag == 0 {
		return Unlimited
	}
	return maxLag
}

// Records rounds down; Unlimited stays.
func Records(n float64) int64 {
	if n >= float64(Unlimited) {
		return Unlimited
	}
	return int64(n)
}

// CheckTarget returns an error unless the target is positive.
func CheckTarget(target time.Duration) error {
	if target <= 0 {
		return fmt.Errorf("backpressure: the target must be a positive time, not %v", target)
	}
	return nil
}

// CheckMaxLag returns an error if the limit is negative.
func CheckMaxLag(maxLag int64) error {
	if maxLag < 0 {
		return fmt.Errorf("backpressure: the limit of the lag must not be negative: %d records; 0 is no limit", maxLag)
	}
	return nil
}
