//go:build !linux

package cluster

import (
	"os/exec"
	"strconv"
	"strings"
	"syscall"
)

// Only Linux has a parent-death signal. The next start reaps what a crash leaves running.
func dieWithParent(*syscall.SysProcAttr) {}

// The start time has ps's resolution of one second.
func identify(pid int) (identity, error) {
	out, err := exec.Command("ps", "-o", "stat=,lstart=", "-p", strconv.Itoa(pid)).Output()
	if err != nil {
		return identity{}, errNoProcess
	}
	state, started, found := strings.Cut(strings.TrimSpace(string(out)), " ")
	if !found || strings.HasPrefix(state, "Z") {
		return identity{}, errNoProcess
	}
	return identity{PID: pid, Started: strings.TrimSpace(started)}, nil
}

func commandLine(pid int) (string, error) {
	out, err := exec.Command("ps", "-ww", "-o", "command=", "-p", strconv.Itoa(pid)).Output()
	if err != nil {
		return "", errNoProcess
	}
	return strings.TrimSpace(string(out)), nil
}
