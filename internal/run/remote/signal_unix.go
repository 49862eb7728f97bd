//go:build unix

package remote

import (
	"os/exec"
	"syscall"
)

// InOwnGroup makes a command run in its own process group, and be resumed when its parent dies.
func InOwnGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	wakeAtDeath(cmd.SysProcAttr)
}

func (c command) stand() error { return c.cmd.Process.Signal(syscall.SIGSTOP) }
func (c command) goOn() error  { return c.cmd.Process.Signal(syscall.SIGCONT) }
