package echo

import (
	"math"

	"golang.org/x/sys/unix"

	"kafkabench.example/kafka-bench/internal/load"
)

// Of this many pairs of readings, the closest pair counts.
const readings = 4

// machineSlew returns CLOCK_MONOTONIC minus CLOCK_MONOTONIC_RAW, in nanoseconds.
func machineSlew() (slew int64) {
	closest := int64(math.MaxInt64)
	for range readings {
		var raw unix.Timespec
		before := load.MachineClock()
		if unix.ClockGettime(unix.CLOCK_MONOTONIC_RAW, &raw) != nil {
			return 0
		}
		if apart := load.MachineClock() - before; apart < closest {
			closest, slew = apart, before+apart/2-raw.Nano()
		}
	}
	return slew
}
