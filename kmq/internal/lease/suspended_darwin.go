package lease

import "golang.org/x/sys/unix"

// On macOS, CLOCK_MONOTONIC counts suspensions and CLOCK_UPTIME_RAW, the clock of Go, does not.
const withSuspensions, withoutSuspensions = unix.CLOCK_MONOTONIC, unix.CLOCK_UPTIME_RAW
