package load

import (
	"math"
	"sync/atomic"
	"time"

	"kafkabench.example/kafka-bench/internal/measure/snapshot"
)

// Axis is the run's one clock and time axis: monotonic nanoseconds since the
// start of the measured window, negative before it. Every stamp of a run is read
// from one Axis, so that any two can be subtracted. The consumers are opened
// before anybody knows when the window will start, so the zero is set later;
// until then every time lies long before it.
type Axis struct {
	epoch time.Time     // carries Go's monotonic reading
	clock int64         // of the epoch, on the machine's clock
	apart time.Duration // the readings of both
	wall  time.Time     // the same without it, for it makes the arithmetic dearer
	zero  atomic.Int64  // of the axis, in nanoseconds since the epoch
	end   atomic.Int64  // of the measured window, on the axis
}

// unset is the zero of an axis before it is set.
const unset = math.MaxInt64 / 2

// NewAxis returns an axis whose zero is not set yet. machine reads the clock that
// processes share, in nanoseconds; nil is the kernel's monotonic clock.
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

// Set puts the measured window at a time from now, for a length. It returns what
// is to be added to a time that was read before.
func (a *Axis) Set(from, length time.Duration) (shift int64) {
	zero := int64(time.Since(a.epoch) + from)
	a.end.Store(int64(length))
	return a.zero.Swap(zero) - zero
}

// EndAt moves the end of the measured window to an earlier time.
func (a *Axis) EndAt(ns int64) {
	if ns < a.end.Load() {
		a.end.Store(ns)
	}
}

// Now is the present time.
func (a *Axis) Now() int64 { return int64(time.Since(a.epoch)) - a.zero.Load() }

// Placed reports whether a time was read when the zero was known.
func Placed(ns int64) bool { return ns > -unset/2 }

// End is the end of the measured window: no record due at or after it is
// offered.
func (a *Axis) End() int64 { return a.end.Load() }

// InWindow tells whether a time lies in the measured window.
func (a *Axis) InWindow(ns int64) bool { return ns >= 0 && ns < a.end.Load() }

// overlap is how much of [from, to) lies in the measured window.
func (a *Axis) overlap(from, to int64) int64 {
	return max(0, min(to, a.end.Load())-max(from, 0))
}

// CountDeliveries adds records that are delivered now to r; first of them are delivered for
// the first time. The bytes are of all that was handed over, records of others included.
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

// Wall is the wall-clock time of a point on the axis.
func (a *Axis) Wall(ns int64) time.Time {
	return a.wall.Add(time.Duration(a.zero.Load() + ns))
}
