package remote

import "syscall"

// wakeAtDeath asks the kernel for it by prctl(2): a group whose new parent is a reaper of
// its own session (PR_SET_CHILD_SUBREAPER) is not an orphaned one, and nobody wakes it.
func wakeAtDeath(attr *syscall.SysProcAttr) { attr.Pdeathsig = syscall.SIGCONT }
