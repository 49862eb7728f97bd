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

// identity names a process beyond its number, which the system gives again to
// another process sooner or later.
type identity struct {
	PID int `json:"pid"`
	// Started is when the process started, in a form that only serves to be
	// compared.
	Started string `json:"started"`
}

// errNoProcess says that there is no such process, or only a dead one that its
// parent has not waited for.
var errNoProcess = errors.New("no such process")

// running reports whether the process that id names still runs.
func (id identity) running() bool {
	now, err := identify(id.PID)
	return err == nil && now == id
}

// runsIn reports whether id still runs and has dir in its command line: whether
// it is one of the brokers that were started for the cluster in dir.
func (id identity) runsIn(dir string) bool {
	if !id.running() {
		return false
	}
	line, err := commandLine(id.PID)
	// The separator keeps cluster-1 from matching cluster-12.
	return err == nil && strings.Contains(line, dir+string(filepath.Separator))
}

// end stops a process that is not a child of this one: SIGTERM first, SIGKILL
// when grace is over. With no grace it is SIGKILL at once. It returns when the
// process is gone.
func (id identity) end(grace time.Duration) error {
	process, err := os.FindProcess(id.PID)
	if err != nil {
		return nil //nolint:nilerr // it is gone
	}
	defer process.Release()
	// From here on, process means one process on Linux (it holds a pidfd),
	// whatever happens to the number. Was it the right one?
	if !id.running() {
		return nil
	}
	if grace > 0 {
		_ = process.Signal(syscall.SIGTERM) // gone already is as good
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

// killTimeout is how long a killed process may take to go: the kernel has to
// give its memory back.
const killTimeout = 10 * time.Second

func (id identity) waitGone(limit time.Duration) bool {
	for deadline := time.Now().Add(limit); id.running(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			return false
		}
	}
	return true
}

// child is a process that this one has started and waits for.
type child struct {
	identity
	process *os.Process
	done    chan struct{}    // closed when the process is gone
	state   *os.ProcessState // valid after done
}

// bequeathNothing keeps open files of this process from the children that it starts from now on:
// one that outlives it would hold the lock of a script that called it.
func bequeathNothing() {
	open, _ := os.ReadDir("/dev/fd") // a system without it keeps what it had
	for _, f := range open {
		if fd, err := strconv.Atoi(f.Name()); err == nil && fd > 2 {
			syscall.CloseOnExec(fd)
		}
	}
}

// startChild starts cmd in a process group of its own, so that Ctrl-C in a
// terminal ends the tool and not the brokers behind its back. An attached child
// dies with this process; a detached one gets a session of its own and outlives
// it, without what this process inherited.
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
		// Linux ties the parent-death signal to the thread that forks, and
		// not to its process: the thread must live for as long as the child.
		// This one does; it waits for the child below.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := cmd.Start()
		started <- err
		if err != nil {
			return
		}
		_ = cmd.Wait() // what it says is in ProcessState
		c.state = cmd.ProcessState
		close(c.done)
	}()
	if err := <-started; err != nil {
		return nil, err
	}
	c.process = cmd.Process
	id, err := identify(cmd.Process.Pid)
	if err != nil {
		id = identity{PID: cmd.Process.Pid} // it is gone already
	}
	c.identity = id
	return c, nil
}

// exited reports whether the child is gone.
func (c *child) exited() bool {
	select {
	case <-c.done:
		return true
	default:
		return false
	}
}

// signal sends sig to the child; a child that is gone is os.ErrProcessDone.
func (c *child) signal(sig syscall.Signal) error {
	if c.exited() {
		return os.ErrProcessDone
	}
	return c.process.Signal(sig)
}

// kill ends the child at once and waits until it is gone.
func (c *child) kill() {
	_ = c.signal(syscall.SIGKILL) // gone already is as good
	<-c.done
}
