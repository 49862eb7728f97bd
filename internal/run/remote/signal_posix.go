//go:build unix && !linux

package remote

import "syscall"

// wakeAtDeath does nothing: POSIX resumes stopped processes of an orphaned process group.
func wakeAtDeath(*syscall.SysProcAttr) {}
