package judge

import (
	"math"
	"slices"
	"time"

	"kafkabench.example/kafka-bench/internal/result"
)

// Look is how the receiving side stood at one moment. Its counts are running totals, so
// that any two looks show what was between them.
type Look struct {
	AtNs      int64
	Delivered int64 // first deliveries
	Timed     int64 // of these, the ones with an e2e service time
	ServiceNs int64 // its sum over them
}

const (
	// settlingSpan is the stretch of time over which a rate and a mean time are taken:
	// long enough that polls and commits, which come in steps, even out.
	settlingSpan = time.Second
	// settlingRate is how far what is delivered may be from the level that it reaches.
	settlingRate = 0.10
)

// settled adds to each change when the controller had the system where it held it
// from then on, until the next change or the end. A target of 0 is none.
func settled(changes []result.Change, seen []Look, end int64, target time.Duration) {
	for i := range changes {
		until := end
		if i+1 < len(changes) {
			until = min(until, changes[i+1].AtNs)
		}
		from, _ := slices.BinarySearchFunc(seen, changes[i].AtNs, lookAt)
		to, _ := slices.BinarySearchFunc(seen, until+1, lookAt)
		if at, ok := settledAt(seen[min(from, to):to], target); ok { // one in the drain has none
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

// settledAt is the earliest look from which on every span of a second has what is
// delivered near its level, and its mean time near the target. The level is the rate
// over the last quarter of the looks, and no less than one span. The spans look ahead
// from their look: a span that looked back would have what was before a change in it.
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
		if to > last { // what is left is no span any more
			continue
		}
		if !steady(seen[from], seen[to], level, target) {
			break
		}
		at, ok = seen[from].AtNs, true
	}
	return at, ok
}

// steady tells whether what was delivered between two looks was near the level and
// in time.
func steady(from, to Look, level float64, target time.Duration) bool {
	if math.Abs(rate(from, to)-level) > settlingRate*level {
		return false
	}
	if timed := to.Timed - from.Timed; target > 0 && timed > 0 {
		return float64(to.ServiceNs-from.ServiceNs)/float64(timed) <= result.HeldWithin*float64(target)
	}
	return true
}

// rate is what was delivered a second between two looks.
func rate(from, to Look) float64 {
	return float64(to.Delivered-from.Delivered) / time.Duration(to.AtNs-from.AtNs).Seconds()
}
