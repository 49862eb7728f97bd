package load

import "time"

// The zero of an axis as another process of this machine understands it. Go's own
// monotonic readings count from the start of their process, so they are laid
// beside a clock that is the same for all processes (MachineClock).

// Zero is an axis that was set, in a form that another process can be told.
type Zero struct {
	ClockNs  int64 // of the axis' zero, on the machine's monotonic clock
	LengthNs int64 // of the measured window
}

// Zero tells where the axis was set to.
func (a *Axis) Zero() Zero { return Zero{ClockNs: a.clock + a.zero.Load(), LengthNs: a.end.Load()} }

// Adopt sets the axis to the zero of another process' axis: from then on the two
// tell the same time, but for the cost of reading a clock (some tens of
// nanoseconds). It returns what is to be added to a time that was read before.
func (a *Axis) Adopt(z Zero) (shift int64) {
	zero := z.ClockNs - a.clock
	a.end.Store(z.LengthNs)
	return a.zero.Swap(zero) - zero
}

// Apart is by how much at most the axis may differ from the machine's clock: what came
// between the readings of both.
func (a *Axis) Apart() time.Duration { return a.apart }

// ClockNow is the present time on the machine's clock.
func (a *Axis) ClockNow() int64 { return a.clock + int64(time.Since(a.epoch)) }

// pairings is how often both clocks are read to find a pair of readings that
// nothing came between.
const pairings = 16

// bothClocks reads Go's clock and the machine's at the same moment: the closest of
// some pairs, whose readings were so far apart.
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
