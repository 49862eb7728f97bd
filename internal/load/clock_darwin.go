package load

import "golang.org/x/sys/unix"

// MachineClock reads the clock behind Go's monotonic time, in nanoseconds; all processes share it. On macOS it is
// CLOCK_UPTIME_RAW (mach_absolute_time). CLOCK_MONOTONIC also counts the time that the machine sleeps there.
func MachineClock() int64 { return clockNs(unix.CLOCK_UPTIME_RAW) }
