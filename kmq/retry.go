package kmq

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"time"
)

// Retry returns how long a record waits for its next attempt; it is held between 0 and [MaxDelay]. attempt is the number
// of the one that failed, from 1. err is its error, or nil if it is not known, because another process had the record.
// Several goroutines may call it.
type Retry func(attempt int, err error) time.Duration

// Exponential returns a Retry with full jitter: a random delay below a bound, which is min after the first attempt, doubles
// after each further one, and stays at max. What failed together is not tried again together.
func Exponential(min, max time.Duration) Retry {
	return func(attempt int, _ error) time.Duration {
		bound := exponentialBound(min, max, attempt)
		if bound <= 0 {
			return 0
		}
		return rand.N(bound)
	}
}

func exponentialBound(least, most time.Duration, attempt int) time.Duration {
	bound := least
	for i := 1; i < attempt && bound > 0 && bound < most; i++ {
		if bound > most/2 {
			return most
		}
		bound *= 2
	}
	return bound
}

// delayAfter is Config.Retry within its range.
func (q *Queue) delayAfter(attempt int, err error) time.Duration {
	return min(max(q.retry(attempt, err), 0), MaxDelay)
}

// After is an error with which a handler of [Queue.Run] asks for the record again after a time from 0 to [MaxDelay], as
// in "return kmq.After(time.Minute)". It may be wrapped. The attempt has not failed and does not count: the next one has
// the same number. With Share it counts, because the broker counts it.
type After time.Duration

// Error returns the time.
func (a After) Error() string { return fmt.Sprintf("again after %v", time.Duration(a)) }

// Reject is an error with which a handler of [Queue.Run] gives a record up without another attempt.
// It may be wrapped, and may be a pointer.
type Reject struct{ Reason string }

// Error returns the reason.
func (r Reject) Error() string { return fmt.Sprintf("rejected: %s", r.Reason) }

func rejection(err error) (Reject, bool) {
	if r, ok := errors.AsType[Reject](err); ok {
		return r, true
	}
	r, ok := errors.AsType[*Reject](err)
	if !ok || r == nil {
		return Reject{}, ok
	}
	return *r, true
}
