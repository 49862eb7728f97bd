//go:build !linux

package probe

import "golang.org/x/sys/unix"

func describeHost(h *HostInfo) {
	var name unix.Utsname
	if unix.Uname(&name) == nil {
		h.Kernel = unix.ByteSliceToString(name.Release[:])
	}
}
