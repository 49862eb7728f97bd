package load

import "golang.org/x/sys/unix"

// MachineClock reads CLOCK_MONOTONIC, the clock behind Go's monotonic time, in nanoseconds; all processes share it.
func MachineClock() int64 { return clockNs(unix.CLOCK_MONOTONIC) }
