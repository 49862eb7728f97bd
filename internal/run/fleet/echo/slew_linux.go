package echo

import (
	"math"

	"golang.org/x/sys/unix"

	"kafkabench.example/kafka-bench/internal/load"
)

// readings is how often both clocks are read to find two readings with little between them.
const readings = 4

// machineSlew is CLOCK_MONOTONIC less CLOCK_MONOTONIC_RAW, in nanoseconds.
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
