package lease

import (
	"sync/atomic"
	"time"
)

// Locks end while a machine sleeps, and the monotonic clock of Go stands still then on Linux and macOS. So the time of
// locks is Go's monotonic time plus the time that the machine was suspended. Virtual time in tests stays virtual.

// epoch is what deadlines count from: its monotonic reading, which no step of the clock moves, stays with them.
var epoch = time.Now()

// slept returns how long the machine was suspended, in ns, up to a constant and some noise. Tests replace it.
var slept = suspended

// sleptUntil returns slept for a time since epoch. It reads it at most once a millisecond, since that is a system call.
func sleptUntil(now int64) int64 {
	if uint64(now-lastRead.Load()) < uint64(time.Millisecond) {
		return lastSlept.Load()
	}
	return readSlept(now)
}

func readSlept(now int64) int64 {
	lastRead.Store(now)
	read, last := slept(), lastSlept.Load()
	if noise := read - last; noise < -noiseAtMost || noise > noiseAtMost {
		lastSlept.Store(read)
		return read
	}
	return last
}

var lastRead, lastSlept atomic.Int64

// noiseAtMost is the most by which two readings of slept differ without a suspension.
const noiseAtMost = int64(time.Millisecond)

// sinceNow is the present in the form in which deadlines are kept.
func sinceNow() int64 {
	now := int64(time.Since(epoch))
	return now + sleptUntil(now)
}

// sinceEpoch is the form in which deadlines are kept.
func sinceEpoch(at time.Time) int64 {
	if at.IsZero() {
		return 0
	}
	ns := int64(at.Sub(epoch)) + sleptUntil(int64(time.Since(epoch)))
	if ns == 0 {
		return 1
	}
	return ns
}

// instantOf is the time of a deadline by Go's clock, unless the machine is suspended before.
func instantOf(ns int64) time.Time {
	return epoch.Add(time.Duration(ns - sleptUntil(int64(time.Since(epoch)))))
}
