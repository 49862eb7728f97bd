//go:build !linux

package probe

import "errors"

// ReadThreads always fails on this operating system.
func ReadThreads(int) (Threads, error) {
	return nil, errors.New("for how long threads waited for a core is only read on Linux")
}
