package load

import "golang.org/x/sys/unix"

// MachineClock reads the clock behind Go's monotonic time, which starts with the
// machine and is the same for every process: on macOS that is CLOCK_UPTIME_RAW
// (mach_absolute_time); its CLOCK_MONOTONIC counts the sleep of the machine too.
func MachineClock() int64 { return clockNs(unix.CLOCK_UPTIME_RAW) }
