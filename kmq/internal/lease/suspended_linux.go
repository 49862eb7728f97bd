package lease

import "golang.org/x/sys/unix"

// On Linux, CLOCK_BOOTTIME counts suspensions and CLOCK_MONOTONIC, the clock of Go, does not.
const withSuspensions, withoutSuspensions = unix.CLOCK_BOOTTIME, unix.CLOCK_MONOTONIC
