package judge

import (
	"math"
	"slices"
	"time"

	"kafkabench.example/kafka-bench/internal/result"
)

// Look has running totals of the receiving side at one moment.
type Look struct {
	AtNs      int64
	Delivered int64 // first deliveries
	Timed     int64 // first deliveries that have an e2e service time
	ServiceNs int64 // the sum of these times
}

const (
	// settlingSpan is the period over which a rate or a mean time is taken. It evens out polls and
	// commits.
	settlingSpan = time.Second
	// settlingRate is the greatest ratio by which a settled rate differs from its level (see
	// settledAt).
	settlingRate = 0.10
)

// settled adds to each change the time until the system settled for good. A target of 0 is none.
func settled(changes []result.Change, seen []Look, end int64, target time.Duration) {
	for i := range changes {
		until := end
		if i+1 < len(changes) {
			until = min(until, changes[i+1].AtNs)
		}
		from, _ := slices.BinarySearchFunc(seen, changes[i].AtNs, lookAt)
		to, _ := slices.BinarySearchFunc(seen, until+1, lookAt)
		if at, ok := settledAt(seen[min(from, to):to], target); ok { // no look follows a change in the drain
			seconds := time.Duration(max(0, at-changes[i].AtNs)).Seconds()
			changes[i].SettlingS = &seconds
		}
	}
}

func lookAt(l Look, at int64) int {
	if l.AtNs < at {
		return -1
	}
	return 1
}

// settledAt returns the earliest look from which every span of a second has a delivery rate near
// the level and a mean time near the target. The level is the rate over the last quarter of the
// looks, and over at least one span. Spans begin at their look, because a span that ended there
// would contain time before the change.
func settledAt(seen []Look, target time.Duration) (at int64, ok bool) {
	if len(seen) < 2 {
		return 0, false
	}
	last := len(seen) - 1
	length := seen[last].AtNs - seen[0].AtNs
	tail, _ := slices.BinarySearchFunc(seen, seen[last].AtNs-max(length/4, int64(settlingSpan)), lookAt)
	if length < 2*int64(settlingSpan) {
		return 0, false
	}
	level := rate(seen[tail], seen[last])
	for from := last; from >= 0; from-- {
		to, _ := slices.BinarySearchFunc(seen, seen[from].AtNs+int64(settlingSpan), lookAt)
		if to > last { // less than a span is left
			continue
		}
		if !steady(seen[from], seen[to], level, target) {
			break
		}
		at, ok = seen[from].AtNs, true
	}
	return at, ok
}

func steady(from, to Look, level float64, target time.Duration) bool {
	if math.Abs(rate(from, to)-level) > settlingRate*level {
		return false
	}
	if timed := to.Timed - from.Timed; target > 0 && timed > 0 {
		return float64(to.ServiceNs-from.ServiceNs)/float64(timed) <= result.HeldWithin*float64(target)
	}
	return true
}

func rate(from, to Look) float64 {
	return float64(to.Delivered-from.Delivered) / time.Duration(to.AtNs-from.AtNs).Seconds()
}
