package load

import (
	"math"
	"sync/atomic"
	"time"

	"kafkabench.example/kafka-bench/internal/measure/snapshot"
)

// Axis is the one clock of a run: monotonic nanoseconds since the start of the measured window, negative before it.
// All stamps of a run come from one Axis, so any two can be subtracted. Consumers open before the start of the window
// is known, so the zero is set later. Until then every time lies far before zero.
type Axis struct {
	epoch time.Time     // with Go's monotonic reading
	clock int64         // epoch on the machine's clock
	apart time.Duration // error bound of the pair epoch, clock
	wall  time.Time     // epoch without the monotonic reading, which slows the arithmetic
	zero  atomic.Int64  // in nanoseconds since epoch
	end   atomic.Int64  // of the measured window, on the axis
}

// unset is the zero of an axis before Set or Adopt.
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

// Set starts the measured window after from and gives it a length. Add shift to times that were read before.
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

// End returns the end of the measured window. Workers offer no record that is due at or after it.
func (a *Axis) End() int64 { return a.end.Load() }

// InWindow reports whether a time lies in the measured window.
func (a *Axis) InWindow(ns int64) bool { return ns >= 0 && ns < a.end.Load() }

// overlap returns how much of [from, to) lies in the measured window.
func (a *Axis) overlap(from, to int64) int64 {
	return max(0, min(to, a.end.Load())-max(from, 0))
}

// CountDeliveries adds records delivered at now to r. first of them are delivered for the first time; bytes also
// counts other runs' records.
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
	}
}

// Wall returns the wall-clock time of a time on the axis.
func (a *Axis) Wall(ns int64) time.Time {
	return a.wall.Add(time.Duration(a.zero.Load() + ns))
}
