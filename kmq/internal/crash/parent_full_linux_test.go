//go:build full

package crash

import "syscall"

// The kernel kills the child when the thread that started it ends.
func endWithParent(attr *syscall.SysProcAttr) { attr.Pdeathsig = syscall.SIGKILL }
