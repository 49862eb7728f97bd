//go:build full && !linux

package crash

import "syscall"

// endWithParent does nothing: the child sees the end of its standard input.
func endWithParent(*syscall.SysProcAttr) {}
