package receive

import "sync/atomic"

// Offsets says by the numbers of producers whose clock their stamps are from. Nil is a
// producer on the clock of this process. Another one is what to add to a time of its stamps,
// in nanoseconds, so that it is the same moment on the axis of this process: the offset of
// its clock, counted negative, and what the zeros of both axes differ by. Producers of one
// agent share a value, which may be changed at any time.
type Offsets []*atomic.Int64

// of returns what to add to the times of a producer, and whether it has another clock.
func (o Offsets) of(producer uint16) (ns int64, other bool) {
	if int(producer) >= len(o) || o[producer] == nil {
		return 0, false
	}
	return o[producer].Load(), true
}
