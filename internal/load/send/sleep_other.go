//go:build !linux

package send

// PreciseAvailable reports whether the precise pacer differs from the frugal one on this operating system.
const PreciseAvailable = false

func newPrecise() sleeper { return frugal }

func roomFor(int) (undo func()) { return func() {} }
