//go:build !linux

package probe

import "errors"

// ReadThreads always fails on this operating system.
func ReadThreads(int) (Threads, error) {
	return nil, errors.New("the time that threads waited for a core is only read on Linux")
}
