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

// giveWay lowers the priority of this process group, because the call for a process would lower
// only one thread's. A process without its own group changes nothing.
func giveWay() {
	if unix.Getpgrp() == os.Getpid() {
		_ = unix.Setpriority(unix.PRIO_PGRP, 0, nicer) // may be forbidden; it serves anyway
	}
}
