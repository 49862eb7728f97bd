//go:build !linux && !darwin

package load

import "time"

// machineClock is the wall clock here: other processes see it too, though it may
// be set while they do.
func machineClock() int64 { return time.Now().UnixNano() }
