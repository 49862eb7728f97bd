package cluster

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"syscall"
)

// dieWithParent makes the kernel kill the child when the thread that starts it ends; see startChild.
func dieWithParent(attr *syscall.SysProcAttr) {
	attr.Pdeathsig = syscall.SIGKILL
}

// Positions in /proc/<pid>/stat after the command's closing parenthesis (proc_pid_stat(5)): state is field 3, starttime
// field 22.
const (
	statState     = 0
	statStartTime = 19
)

// identify returns errNoProcess if the process does not run.
func identify(pid int) (identity, error) {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return identity{}, errNoProcess
	}
	state, started, err := parseStat(string(stat))
	if err != nil {
		return identity{}, fmt.Errorf("/proc/%d/stat: %w", pid, err)
	}
	if state == "Z" || state == "X" {
		return identity{}, errNoProcess
	}
	return identity{PID: pid, Started: started}, nil
}

// The start time is in clock ticks since boot. The command's name may contain a ")" too.
func parseStat(stat string) (state, started string, err error) {
	_, rest, found := cutLast(stat, ")")
	fields := strings.Fields(rest)
	if !found || len(fields) <= statStartTime {
		return "", "", fmt.Errorf("unexpected form %q", stat)
	}
	return fields[statState], fields[statStartTime], nil
}

func cutLast(s, sep string) (before, after string, found bool) {
	if i := strings.LastIndex(s, sep); i >= 0 {
		return s[:i], s[i+len(sep):], true
	}
	return s, "", false
}

func commandLine(pid int) (string, error) {
	line, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
	if err != nil {
		return "", errNoProcess
	}
	return string(bytes.ReplaceAll(line, []byte{0}, []byte{' '})), nil
}
