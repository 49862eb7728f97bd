//go:build full && !linux

package crash

import "syscall"

// The child sees the end of its standard input.
func endWithParent(*syscall.SysProcAttr) {}
