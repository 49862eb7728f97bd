//go:build unix

package remote

import (
	"os/exec"
	"syscall"
)

// InOwnGroup has a command run in a process group of its own, and one that stands
// still be woken by its parent's death.
func InOwnGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	wakeAtDeath(cmd.SysProcAttr)
}

func (c command) stand() error { return c.cmd.Process.Signal(syscall.SIGSTOP) }
func (c command) goOn() error  { return c.cmd.Process.Signal(syscall.SIGCONT) }
