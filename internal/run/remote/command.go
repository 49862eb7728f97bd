package remote

import (
	"os/exec"
	"runtime"

	"kafkabench.example/kafka-bench/internal/kafka/childenv"
)

type command struct{ cmd *exec.Cmd }

func (c command) pid() int    { return c.cmd.Process.Pid }
func (c command) kill()       { _ = c.cmd.Process.Kill() }
func (c command) wait() error { return c.cmd.Wait() }

func (c *Child) startCommand(s Start) error {
	cmd := exec.Command(s.Command[0], s.Command[1:]...)
	cmd.Stderr = c.said
	cmd.Env = append(childenv.Program(s.Access.Reads()...), s.Env...)
	InOwnGroup(cmd)
	in, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	c.worker, c.stdin = command{cmd}, in
	c.connect(out, in)
	return StartTied(cmd, c.await)
}

// StartTied starts a command that [InOwnGroup] has prepared, and calls wait, which waits for the
// command's end. Linux ties the parent-death signal to the thread that started the child, so that
// thread lives until wait returns.
func StartTied(cmd *exec.Cmd, wait func()) error {
	started := make(chan error)
	go func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := cmd.Start()
		started <- err
		if err == nil {
			wait()
		}
	}()
	return <-started
}
