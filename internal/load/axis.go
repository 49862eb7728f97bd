package load

import (
	"math"
	"sync/atomic"
	"time"

	"kafkabench.example/kafka-bench/internal/measure/snapshot"
)

// Axis is the one clock of a run: monotonic nanoseconds since the start of the measured window, negative before
// it. The zero is set after the consumers have opened, because the start of the window is not known earlier.
type Axis struct {
	epoch time.Time
	clock int64
	apart time.Duration // error bound of the pair epoch, clock
	wall  time.Time     // without the monotonic reading, which slows the arithmetic
	zero  atomic.Int64
	end   atomic.Int64
}

const unset = math.MaxInt64 / 2

// NewAxis returns an axis whose zero is not set. machine reads a clock that all processes share, in nanoseconds; nil
// means MachineClock.
func NewAxis(machine func() int64) *Axis {
	if machine == nil {
		machine = MachineClock
	}
	now, clock, apart := bothClocks(machine)
	a := &Axis{epoch: now, clock: clock, apart: apart, wall: now.Round(0).UTC()}
	a.zero.Store(unset)
	a.end.Store(unset)
	return a
}

// Set lets the measured window start when from has passed, and sets the window's length. Add shift
// to times that were read from the axis before.
func (a *Axis) Set(from, length time.Duration) (shift int64) {
	zero := int64(time.Since(a.epoch) + from)
	a.end.Store(int64(length))
	return a.zero.Swap(zero) - zero
}

// EndAt moves the end of the measured window to ns if that is earlier.
func (a *Axis) EndAt(ns int64) {
	if ns < a.end.Load() {
		a.end.Store(ns)
	}
}

// Now returns the present time on the axis.
func (a *Axis) Now() int64 { return int64(time.Since(a.epoch)) - a.zero.Load() }

// Placed reports whether a time was read after the zero was set.
func Placed(ns int64) bool { return ns > -unset/2 }

// End returns the end of the measured window.
func (a *Axis) End() int64 { return a.end.Load() }

// InWindow reports whether a time lies in the measured window.
func (a *Axis) InWindow(ns int64) bool { return ns >= 0 && ns < a.end.Load() }

func (a *Axis) overlap(from, to int64) int64 {
	return max(0, min(to, a.end.Load())-max(from, 0))
}

// CountDeliveries adds to r the records that were delivered at now. first is the number of records
// delivered for the first time. bytes includes the records of other runs.
func (a *Axis) CountDeliveries(r *snapshot.Received, now, records, first, bytes int64) {
	if r.Delivered == 0 {
		r.FirstNs = now
	}
	r.Delivered += records
	r.Unique += first
	r.Handed += bytes
	switch {
	case a.InWindow(now):
		r.DeliveredInWindow += records
		r.UniqueInWindow += first
		r.Bytes += bytes
	case now >= a.End():
		r.UniqueAfter += first
	default:
		r.DeliveredBefore += records
		r.UniqueBefore += first
	}
}

// Wall returns the wall-clock time of a time on the axis.
func (a *Axis) Wall(ns int64) time.Time {
	return a.wall.Add(time.Duration(a.zero.Load() + ns))
}
