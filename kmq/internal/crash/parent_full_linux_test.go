//go:build full

package crash

import "syscall"

// endWithParent has the kernel kill the child when the thread that started it ends, also
// a child that is stopped.
func endWithParent(attr *syscall.SysProcAttr) { attr.Pdeathsig = syscall.SIGKILL }
