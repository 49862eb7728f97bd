package probe

import (
	"errors"
	"time"
)

// Set reads what a run records about the machine. The zero value reads everything. What a Set does not know is nil
// or absent in the result.
type Set struct {
	unknown bool
	clock   func() int64 // nil: see Clock
}

// Unknown returns a Set that knows nothing, for virtual time: CPU seconds mean nothing there, and a loop that
// computes until the clock moves never ends.
func Unknown() Set { return Set{unknown: true} }

var errUnknown = errors.New("this run does not read the machine")

func read[T any](s Set, from func() (T, error)) (T, error) {
	if s.unknown {
		var none T
		return none, errUnknown
	}
	return from()
}

// Runtime returns ReadRuntime(), or a zero Runtime.
func (s Set) Runtime() Runtime {
	if s.unknown {
		return Runtime{}
	}
	return ReadRuntime()
}

// Self is the function Self.
func (s Set) Self() (Usage, error) { return read(s, Self) }

// Host is the function HostCPU.
func (s Set) Host() (Host, error) { return read(s, HostCPU) }

// Devices is ReadHost.
func (s Set) Devices() (HostCounts, error) { return read(s, ReadHost) }

// Threads is ReadThreads.
func (s Set) Threads(pid int) (Threads, error) {
	return read(s, func() (Threads, error) { return ReadThreads(pid) })
}

// DirtyBytes is the function DirtyBytes, or nil.
func (s Set) DirtyBytes() *int64 {
	if s.unknown {
		return nil
	}
	return DirtyBytes()
}

// Codecs calls the function Codecs, or returns nil if s is Unknown.
func (s Set) Codecs(batches [][]byte, name string, level int) ([]Codec, error) {
	if s.unknown {
		return nil, nil
	}
	return Codecs(batches, name, level)
}

// Clock returns the clock that all processes of the machine share, in nanoseconds, or nil for the
// kernel's clock. Unknown(), for virtual time, has Go's clock.
func (s Set) Clock() func() int64 {
	if s.clock == nil && s.unknown {
		return func() int64 { return time.Now().UnixNano() }
	}
	return s.clock
}

// WithClock returns a copy of s whose Clock method returns the function read.
func (s Set) WithClock(read func() int64) Set {
	s.clock = read
	return s
}
