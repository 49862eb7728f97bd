//go:build unix

package main

import (
	"os"
	"os/exec"
	"syscall"

	"golang.org/x/sys/unix"
)

const nicer = 10

// Without apart, the terminal would also interrupt the process that serves pages.
func apart(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

// giveWay lowers the priority of this process group, because for a process it would lower only one
// thread. Without its own group, the process changes nothing.
func giveWay() {
	if unix.Getpgrp() == os.Getpid() {
		_ = unix.Setpriority(unix.PRIO_PGRP, 0, nicer) // may be forbidden; it serves anyway
	}
}
