//go:build !linux && !darwin

package load

import "time"

// MachineClock returns the wall clock in nanoseconds. All processes share it, but it may be set during a run.
func MachineClock() int64 { return time.Now().UnixNano() }
