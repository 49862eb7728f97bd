package load

import "sync/atomic"

// Offsets holds, by producer number, what to add to a time in a record's stamp to get the same
// moment on the axis of this process, in nanoseconds. Nil, or a number beyond the end, is a
// producer on the clock of this process. The producers of one agent share a value, which may
// change at any time.
type Offsets []*atomic.Int64

// Of returns what to add to the times of a producer. It reports whether the producer has
// another clock.
func (o Offsets) Of(producer uint16) (ns int64, other bool) {
	if int(producer) >= len(o) || o[producer] == nil {
		return 0, false
	}
	return o[producer].Load(), true
}
