//go:build linux || darwin

package lease

import "golang.org/x/sys/unix"

// suspended reads two clocks whose difference grows only with suspensions. Between the two readings the thread may lose the
// processor, so it reads again until they are close together.
func suspended() int64 {
	for {
		before := read(withoutSuspensions)
		slept := read(withSuspensions) - before
		if read(withoutSuspensions)-before < noiseAtMost/2 {
			return slept
		}
	}
}

func read(clock int32) int64 {
	var t unix.Timespec
	if unix.ClockGettime(clock, &t) != nil {
		return 0
	}
	return t.Nano()
}
