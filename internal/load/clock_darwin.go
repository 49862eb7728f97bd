package load

import "golang.org/x/sys/unix"

// MachineClock reads the clock behind Go's monotonic time, in nanoseconds; all processes share it. It is
// CLOCK_UPTIME_RAW, because CLOCK_MONOTONIC also counts the time that macOS sleeps.
func MachineClock() int64 { return clockNs(unix.CLOCK_UPTIME_RAW) }
