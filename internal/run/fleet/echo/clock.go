package echo

import "kafkabench.example/kafka-bench/internal/load"

// Clock is an agent's clock.
type Clock struct {
	NowNs func() int64 // monotonic, in nanoseconds since any zero
	// SlewNs returns NowNs minus CLOCK_MONOTONIC_RAW, which NTP does not slew.
	SlewNs func() int64
}

// Machine returns the clock of a run's time axis. Its SlewNs returns 0 except on Linux.
func Machine() Clock { return Clock{NowNs: load.MachineClock, SlewNs: machineSlew} }
