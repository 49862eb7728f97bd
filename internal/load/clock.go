package load

import "time"

// Go's monotonic readings count from the start of their process, so times of several processes are
// compared by MachineClock.

// Zero places an axis on the machine's clock, so that another process can adopt it.
type Zero struct {
	ClockNs  int64 // zero of the axis on the machine's monotonic clock
	LengthNs int64 // of the measured window
}

// Zero returns the place of the axis on the machine's clock.
func (a *Axis) Zero() Zero { return Zero{ClockNs: a.clock + a.zero.Load(), LengthNs: a.end.Load()} }

// Adopt sets the axis to the zero of another process's axis. The two then differ only by the cost of reading a clock,
// some tens of nanoseconds. Add shift to times that were read from the axis before.
func (a *Axis) Adopt(z Zero) (shift int64) {
	zero := z.ClockNs - a.clock
	a.end.Store(z.LengthNs)
	return a.zero.Swap(zero) - zero
}

// Apart returns an upper bound of the error between the axis and the machine's clock.
func (a *Axis) Apart() time.Duration { return a.apart }

// ClockNow returns the present time on the machine's clock.
func (a *Axis) ClockNow() int64 { return a.clock + int64(time.Since(a.epoch)) }

const pairings = 16

// bothClocks reads both clocks at nearly the same moment; closest bounds the difference.
func bothClocks(machine func() int64) (now time.Time, clock int64, closest time.Duration) {
	closest = 1<<63 - 1
	for range pairings {
		before := machine()
		read := time.Now()
		after := machine()
		if apart := time.Duration(after - before); apart < closest {
			closest, now, clock = apart, read, before+int64(apart)/2
		}
	}
	return now, clock, closest
}
