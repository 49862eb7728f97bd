package load

import "sync/atomic"

// Offsets holds, by producer number, the nanoseconds to add to that producer's stamps to get a time on this process's
// axis. Nil, or a number beyond the end, means this process's clock. Producers of one agent share a value, which may
// change at any time.
type Offsets []*atomic.Int64

// Of returns the nanoseconds to add to a producer's times, and whether it has another clock.
func (o Offsets) Of(producer uint16) (ns int64, other bool) {
	if int(producer) >= len(o) || o[producer] == nil {
		return 0, false
	}
	return o[producer].Load(), true
}
