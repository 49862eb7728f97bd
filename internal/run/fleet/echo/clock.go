package echo

import "kafkabench.example/kafka-bench/internal/load"

// Clock is a clock of an agent.
type Clock struct {
	NowNs func() int64 // monotonic, in nanoseconds since any zero
	// SlewNs is by how much NowNs differs from CLOCK_MONOTONIC_RAW, which NTP does not slew.
	SlewNs func() int64
}

// Machine returns the clock that the time axis of a run is read from. Only on Linux is it
// known how that clock is slewed; elsewhere SlewNs returns 0.
func Machine() Clock { return Clock{NowNs: load.MachineClock, SlewNs: machineSlew} }
