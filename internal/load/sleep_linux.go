package load

import (
	"runtime"
	"time"

	"golang.org/x/sys/unix"
)

// PreciseAvailable tells whether the precise pacer differs from the frugal one
// on this operating system.
const PreciseAvailable = true

// precise sleeps by clock_nanosleep on a thread of its own whose timer slack
// (50 µs by default) is set to a nanosecond. It must be made on the goroutine
// that uses it.
type precise struct{}

func newPrecise() sleeper {
	runtime.LockOSThread()
	// Without permission the default slack stays, and the lateness says so.
	_ = unix.Prctl(unix.PR_SET_TIMERSLACK, 1, 0, 0, 0)
	return precise{}
}

func (precise) sleep(d time.Duration) {
	left := unix.NsecToTimespec(int64(max(d, minSleep)))
	for unix.ClockNanosleep(unix.CLOCK_MONOTONIC, 0, &left, &left) == unix.EINTR {
	}
}

func (precise) close() {
	_ = unix.Prctl(unix.PR_SET_TIMERSLACK, 0, 0, 0, 0) // back to the default
	runtime.UnlockOSThread()
}
