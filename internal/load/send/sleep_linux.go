package send

import (
	"runtime"
	"time"

	"golang.org/x/sys/unix"
)

// PreciseAvailable tells whether the precise pacer differs from the frugal one
// on this operating system.
const PreciseAvailable = true

// precise sleeps by clock_nanosleep on a thread of its own, whose timer slack
// (50 µs by default) is set to a nanosecond, and which comes before all threads
// of ordinary priority when it wakes, where the process may ask for that
// (CAP_SYS_NICE, or RLIMIT_RTPRIO): else a busy processor lets it wait for the
// end of a time slice. It must be made on a goroutine that ends with its use, and
// whose end is the thread's, too.
type precise struct{}

func newPrecise() sleeper {
	runtime.LockOSThread()
	// Without permission the defaults stay, and the lateness says so.
	_ = unix.Prctl(unix.PR_SET_TIMERSLACK, 1, 0, 0, 0)
	_ = unix.SchedSetAttr(0, &unix.SchedAttr{
		Policy: unix.SCHED_FIFO, Priority: 1, Flags: unix.SCHED_FLAG_RESET_ON_FORK,
	}, 0)
	return precise{}
}

func (precise) sleep(d time.Duration) {
	left := unix.NsecToTimespec(int64(max(d, minSleep)))
	for unix.ClockNanosleep(unix.CLOCK_MONOTONIC, 0, &left, &left) == unix.EINTR {
	}
}

// close leaves the goroutine locked to its thread, which ends with it.
func (precise) close() {}

// roomFor lets n threads run Go code beside those that do already, until it is
// undone: a thread that wakes need not wait for one of the runtime's processors,
// which a busy goroutine gives up only after ten milliseconds.
func roomFor(n int) (undo func()) {
	before := runtime.GOMAXPROCS(0)
	runtime.GOMAXPROCS(before + n)
	return func() { runtime.GOMAXPROCS(before) }
}
