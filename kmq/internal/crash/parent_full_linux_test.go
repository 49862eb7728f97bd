//go:build full

package crash

import "syscall"

// endWithParent makes the kernel kill the child, even a stopped one, when the thread that started
// it ends.
func endWithParent(attr *syscall.SysProcAttr) { attr.Pdeathsig = syscall.SIGKILL }
