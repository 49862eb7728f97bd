package send

import (
	"runtime"
	"time"

	"golang.org/x/sys/unix"
)

// PreciseAvailable reports whether the precise pacer differs from the frugal one on this operating system.
const PreciseAvailable = true

// precise sleeps by clock_nanosleep on its own thread, with a timer slack of 1 ns (default 50 µs).
// If the process may (CAP_SYS_NICE or RLIMIT_RTPRIO), the thread gets real-time priority, so that
// it need not wait for another thread's time slice. A goroutine that used precise must end
// afterwards, so that its thread ends too.
type precise struct{}

func newPrecise() sleeper {
	runtime.LockOSThread()
	// Without permission, only the measured lateness grows.
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

func (precise) close() {}

// roomFor adds n to GOMAXPROCS until undo is called. Otherwise a waking thread could wait 10 ms for a busy
// goroutine's processor.
func roomFor(n int) (undo func()) {
	before := runtime.GOMAXPROCS(0)
	runtime.GOMAXPROCS(before + n)
	return func() { runtime.GOMAXPROCS(before) }
}
