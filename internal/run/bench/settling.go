package bench

import (
	"math"
	"slices"
	"time"

	"kafkabench.example/kafka-bench/internal/result"
)

// look is how the receiving side stood at one moment: running totals, so that any
// two looks tell what was between them.
type look struct {
	at        int64
	delivered int64 // first deliveries
	timed     int64 // of these, the ones with an e2e service time
	serviceNs int64 // its sum over them
}

// lookEvery is how often it is looked while a controller settles.
const lookEvery = 100 * time.Millisecond

// maxLooks bounds what is kept; when it is full, every second look goes, and from
// then on the looks are twice as far apart.
const maxLooks = 1 << 14

// looks are taken over the measured window.
type looks struct {
	all  []look
	skip int // of every so many looks, one is kept; a power of two, 0 is 1
	seen int
}

func (l *looks) add(next look) {
	l.skip = max(1, l.skip)
	if l.seen++; l.seen%l.skip != 0 {
		return
	}
	if len(l.all) >= maxLooks {
		for i := range maxLooks / 2 {
			l.all[i] = l.all[2*i]
		}
		l.all, l.skip = l.all[:maxLooks/2], 2*l.skip
	}
	l.all = append(l.all, next)
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
func settled(changes []result.Change, seen []look, end int64, target time.Duration) {
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

func lookAt(l look, at int64) int {
	if l.at < at {
		return -1
	}
	return 1
}

// settledAt is the earliest look from which on every span of a second has what is
// delivered near its level, and its mean time near the target. The level is the rate
// over the last quarter of the looks, and no less than one span. The spans look ahead
// from their look: a span that looked back would have what was before a change in it.
func settledAt(seen []look, target time.Duration) (at int64, ok bool) {
	if len(seen) < 2 {
		return 0, false
	}
	last := len(seen) - 1
	length := seen[last].at - seen[0].at
	tail, _ := slices.BinarySearchFunc(seen, seen[last].at-max(length/4, int64(settlingSpan)), lookAt)
	if length < 2*int64(settlingSpan) {
		return 0, false
	}
	level := rate(seen[tail], seen[last])
	for from := last; from >= 0; from-- {
		to, _ := slices.BinarySearchFunc(seen, seen[from].at+int64(settlingSpan), lookAt)
		if to > last { // what is left is no span any more
			continue
		}
		if !steady(seen[from], seen[to], level, target) {
			break
		}
		at, ok = seen[from].at, true
	}
	return at, ok
}

// steady tells whether what was delivered between two looks was near the level and
// in time.
func steady(from, to look, level float64, target time.Duration) bool {
	if math.Abs(rate(from, to)-level) > settlingRate*level {
		return false
	}
	if timed := to.timed - from.timed; target > 0 && timed > 0 {
		return float64(to.serviceNs-from.serviceNs)/float64(timed) <= result.HeldWithin*float64(target)
	}
	return true
}

// rate is what was delivered a second between two looks.
func rate(from, to look) float64 {
	return float64(to.delivered-from.delivered) / time.Duration(to.at-from.at).Seconds()
}

// watchSettling looks at what is delivered until the measured window ends.
func (r *run) watchSettling() {
	for at := int64(0); at <= r.axis.End(); at += int64(lookEvery) {
		if r.waitForInterval(at) {
			return
		}
		now, received := r.axis.Now(), r.groups.received()
		r.looks.add(look{at: now, delivered: received.Unique, timed: received.Timed, serviceNs: received.ServiceNs})
	}
}
