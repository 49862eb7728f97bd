//go:build full

package crash

import "syscall"

// endWithParent makes the kernel kill the child when the thread that started it ends.
func endWithParent(attr *syscall.SysProcAttr) { attr.Pdeathsig = syscall.SIGKILL }
