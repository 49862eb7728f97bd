package lease

import "golang.org/x/sys/unix"

// On macOS, CLOCK_MONOTONIC counts suspensions and CLOCK_UPTIME_RAW, the clock of Go, does not.
func suspended() int64 { return read(unix.CLOCK_MONOTONIC) - read(unix.CLOCK_UPTIME_RAW) }

func read(clock int32) int64 {
	var t unix.Timespec
	if unix.ClockGettime(clock, &t) != nil {
		return 0
	}
	return t.Nano()
}
