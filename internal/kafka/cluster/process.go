package cluster

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// identity identifies a process even after the system has reused its number.
type identity struct {
	PID int `json:"pid"`
	// Started is when the process started, in a form that can only be compared.
	Started string `json:"started"`
}

// errNoProcess reports that a process does not exist or is a zombie.
var errNoProcess = errors.New("no such process")

func (id identity) running() bool {
	now, err := identify(id.PID)
	return err == nil && now == id
}

func (id identity) runsIn(dir string) bool {
	if !id.running() {
		return false
	}
	line, err := commandLine(id.PID)
	// The separator keeps cluster-1 from matching cluster-12.
	return err == nil && strings.Contains(line, dir+string(filepath.Separator))
}

// end stops a process that is not a child of this one: with SIGTERM, and with SIGKILL after grace (0: at once).
func (id identity) end(grace time.Duration) error {
	process, err := os.FindProcess(id.PID)
	if err != nil {
		return nil //nolint:nilerr // it is gone
	}
	defer process.Release()
	// On Linux, process now holds a pidfd and can't become another process.
	if !id.running() {
		return nil
	}
	if grace > 0 {
		_ = process.Signal(syscall.SIGTERM) // it may have ended already
		if id.waitGone(grace) {
			return nil
		}
	}
	if err := process.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("kill process %d: %w", id.PID, err)
	}
	if !id.waitGone(killTimeout) {
		return fmt.Errorf("process %d is still there %v after SIGKILL", id.PID, killTimeout)
	}
	return nil
}

// killTimeout is how long a killed process may take to end: the kernel must free its memory.
const killTimeout = 10 * time.Second

func (id identity) waitGone(limit time.Duration) bool {
	for deadline := time.Now().Add(limit); id.running(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			return false
		}
	}
	return true
}

type child struct {
	identity
	process *os.Process
	done    chan struct{}    // closed when the process has ended
	state   *os.ProcessState // valid after done
}

// bequeathNothing keeps children from inheriting files: a child that outlives this process would
// keep a lock of the calling script.
func bequeathNothing() {
	open, _ := os.ReadDir("/dev/fd") // without /dev/fd, children inherit open files
	for _, f := range open {
		if fd, err := strconv.Atoi(f.Name()); err == nil && fd > 2 {
			syscall.CloseOnExec(fd)
		}
	}
}

// The child has its own process group, so that Ctrl-C ends only the tool. An attached child dies with this process.
// A detached one has its own session, and inherits no open files.
func startChild(cmd *exec.Cmd, detached bool) (*child, error) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: !detached, Setsid: detached}
	if detached {
		bequeathNothing()
	} else {
		dieWithParent(cmd.SysProcAttr)
	}
	c := &child{done: make(chan struct{})}
	started := make(chan error)
	go func() {
		// Linux ties the parent-death signal to the thread that forks, so this thread must live until the child
		// ends.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := cmd.Start()
		started <- err
		if err != nil {
			return
		}
		_ = cmd.Wait() // the result is in ProcessState
		c.state = cmd.ProcessState
		close(c.done)
	}()
	if err := <-started; err != nil {
		return nil, err
	}
	c.process = cmd.Process
	id, err := identify(cmd.Process.Pid)
	if err != nil {
		id = identity{PID: cmd.Process.Pid}
	}
	c.identity = id
	return c, nil
}

func (c *child) exited() bool {
	select {
	case <-c.done:
		return true
	default:
		return false
	}
}

// If the child has ended, the error is os.ErrProcessDone.
func (c *child) signal(sig syscall.Signal) error {
	if c.exited() {
		return os.ErrProcessDone
	}
	return c.process.Signal(sig)
}

func (c *child) kill() {
	_ = c.signal(syscall.SIGKILL)
	<-c.done
}
