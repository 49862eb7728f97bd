package load

import "golang.org/x/sys/unix"

// MachineClock reads the clock behind Go's monotonic time, which starts with the
// machine and is the same for every process: CLOCK_MONOTONIC.
func MachineClock() int64 { return clockNs(unix.CLOCK_MONOTONIC) }
