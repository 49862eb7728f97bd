//go:build unix

package remote

import (
	"os/exec"
	"syscall"
)

// inOwnGroup has a command run in a process group of its own, and one that stands
// still be woken by its parent's death.
func inOwnGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	wakeAtDeath(cmd.SysProcAttr)
}

// stand has the process stand still where it is, until it is let go.
func (c *Child) stand() error { return c.cmd.Process.Signal(syscall.SIGSTOP) }

// goOn lets the process go on.
func (c *Child) goOn() error { return c.cmd.Process.Signal(syscall.SIGCONT) }
