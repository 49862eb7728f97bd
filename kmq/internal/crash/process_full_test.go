//go:build full

package crash

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"sync"
	"syscall"
	"testing"
	"time"
)

type process struct {
	name  string
	cmd   *exec.Cmd
	stdin io.WriteCloser
	gone  chan struct{}
	said  tail
}

func (v *world) process(spec childSpec) worker { return start(v.t, spec) }

func (p *process) String() string {
	return fmt.Sprintf("%s (%v): %s", p.name, p.cmd.ProcessState, &p.said)
}

// A child ends with the test at the latest: the test or the system (endWithParent) kills it, or its standard input is
// closed.
func start(t testing.TB, spec childSpec) *process {
	t.Helper()
	text, err := json.Marshal(spec)
	if err != nil {
		t.Fatal(err)
	}
	p := &process{name: spec.Name, cmd: exec.Command(os.Args[0]), gone: make(chan struct{})}
	p.cmd.Env = append(os.Environ(), childEnv+"="+string(text))
	p.cmd.Stdout, p.cmd.Stderr = &p.said, &p.said
	p.cmd.SysProcAttr = &syscall.SysProcAttr{}
	endWithParent(p.cmd.SysProcAttr)
	if p.stdin, err = p.cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	started := make(chan error)
	go func() {
		// The kernel sends the signal of endWithParent when this thread ends, so keep the thread.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := p.cmd.Start()
		started <- err
		if err == nil {
			_ = p.cmd.Wait() // the state has the result
			close(p.gone)
		}
	}()
	if err := <-started; err != nil {
		t.Fatalf("start a child: %v", err)
	}
	t.Cleanup(func() { p.kill() })
	return p
}

func (p *process) kill() {
	_ = p.cmd.Process.Signal(syscall.SIGKILL)
	<-p.gone
}

func (p *process) stop() error   { return p.cmd.Process.Signal(syscall.SIGSTOP) }
func (p *process) resume() error { return p.cmd.Process.Signal(syscall.SIGCONT) }

func (p *process) ended(within time.Duration) bool {
	select {
	case <-p.gone:
		return true
	case <-time.After(within):
		return false
	}
}

func (p *process) killed() bool {
	status, ok := p.cmd.ProcessState.Sys().(syscall.WaitStatus)
	return ok && status.Signaled() && status.Signal() == syscall.SIGKILL
}

func (p *process) close() error {
	if _, err := io.WriteString(p.stdin, orderClose); err != nil && !errors.Is(err, os.ErrClosed) {
		return fmt.Errorf("%s is gone (%v):\n%s", p.name, p.cmd.ProcessState, &p.said)
	}
	if !p.ended(closeTimeout + 20*time.Second) {
		_ = p.cmd.Process.Signal(syscall.SIGQUIT)
		p.ended(5 * time.Second)
		return fmt.Errorf("%s did not close:\n%s", p.name, &p.said)
	}
	if !p.cmd.ProcessState.Success() {
		return fmt.Errorf("%s closed with %v:\n%s", p.name, p.cmd.ProcessState, &p.said)
	}
	return nil
}

type tail struct {
	mu   sync.Mutex
	text []byte
}

const tailBytes = 64 << 10

func (s *tail) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.text = append(s.text, p...)
	if over := len(s.text) - tailBytes; over > 0 {
		s.text = append(s.text[:0], s.text[over:]...)
	}
	return len(p), nil
}

func (s *tail) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return string(bytes.ToValidUTF8(s.text, []byte("?")))
}
