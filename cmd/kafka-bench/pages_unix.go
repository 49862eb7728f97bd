//go:build unix

package main

import (
	"os"
	"os/exec"
	"syscall"

	"golang.org/x/sys/unix"
)

// nicer is how much a process that serves pages gives way to others.
const nicer = 10

// apart has a command run in a process group of its own: an interrupt at the terminal is for
// the run.
func apart(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

// giveWay lowers the priority of this process group. A process alone would be lowered by one of
// its threads only. What is not in a group of its own leaves the others as they are.
func giveWay() {
	if unix.Getpgrp() == os.Getpid() {
		_ = unix.Setpriority(unix.PRIO_PGRP, 0, nicer) // not everybody may: it serves all the same
	}
}
