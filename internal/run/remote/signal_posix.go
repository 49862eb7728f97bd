//go:build unix && !linux

package remote

import "syscall"

// POSIX resumes stopped processes of an orphaned process group.
func wakeAtDeath(*syscall.SysProcAttr) {}
