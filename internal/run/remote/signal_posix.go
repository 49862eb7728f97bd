//go:build unix && !linux

package remote

import "syscall"

// wakeAtDeath leaves it to POSIX: what stands still in an orphaned process group is woken.
func wakeAtDeath(*syscall.SysProcAttr) {}
