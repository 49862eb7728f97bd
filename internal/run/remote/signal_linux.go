package remote

import "syscall"

// wakeAtDeath makes the kernel resume the child when its parent dies (prctl(2)). POSIX does not
// resume a group whose new parent is a reaper of its own session (PR_SET_CHILD_SUBREAPER).
func wakeAtDeath(attr *syscall.SysProcAttr) { attr.Pdeathsig = syscall.SIGCONT }
