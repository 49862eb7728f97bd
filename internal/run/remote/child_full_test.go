//go:build full

package remote

import (
	"errors"
	"net/rpc"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"kafkabench.example/kafka-bench/internal/load"
)

func start(t *testing.T, n int) Children {
	t.Helper()
	cs, err := StartChildren(n, func(int) Start { return Start{Command: childCommand} })
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(cs.End)
	return cs
}

func gone(pid int) bool { return errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) }

func TestChildEndsWhenTold(t *testing.T) {
	c := start(t, 1)[0]
	var now int64
	if err := c.Call("Clock.Now", None(0), &now); err != nil {
		t.Fatal(err)
	}
	waiting := make(chan error)
	go func() { waiting <- c.Await("Trouble.Hang", None(0), new(None)) }()
	c.End()
	if err := <-waiting; err == nil {
		t.Error("what was under way had an answer")
	}
	if err := c.Err(); err != nil {
		t.Errorf("a child that was told to end is said to have failed: %v", err)
	}
	if !gone(c.PID()) {
		t.Error("the process is still there")
	}
	c.End()
}

func TestChildThatDies(t *testing.T) {
	for name, test := range map[string]struct {
		die  func(*Child)
		says []string
	}{
		"killed": {func(c *Child) { _ = syscall.Kill(c.PID(), syscall.SIGKILL) }, []string{"process 1 (pid ", "killed"}},
		"exits": {func(c *Child) {
			_ = c.Call("Trouble.Exit", "the reason\n"+strings.Repeat("noise ", 1000)+"the end", new(None))
		},
			[]string{"process 1 (pid ", "exit status 3; it said: the reason noise", " … ", "noise the end"}},
	} {
		t.Run(name, func(t *testing.T) {
			c := start(t, 2)[1]
			waiting := make(chan error)
			go func() { waiting <- c.Await("Trouble.Hang", None(0), new(None)) }()
			test.die(c)
			err := <-waiting
			if err == nil || c.Err() == nil || c.Call("Clock.Now", None(0), new(int64)) == nil {
				t.Fatalf("a dead child answers, or has no error: %v", c.Err())
			}
			for _, want := range test.says {
				if !strings.Contains(c.Err().Error(), want) {
					t.Errorf("%q does not say %q", c.Err(), want)
				}
			}
			if len(c.Err().Error()) > headBytes+tailBytes+200 {
				t.Errorf("the reason is %d bytes long", len(c.Err().Error()))
			}
		})
	}
}

func TestChildThatDoesNotAnswer(t *testing.T) {
	c := start(t, 1)[0]
	if err := c.Call("Clock.Now", None(0), new(int64)); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(c.PID(), syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	// More than a pipe holds, so that writing would block too.
	err := c.call("Trouble.Refuse", strings.Repeat("x", 1<<20), new(None), 50*time.Millisecond)
	if err == nil || !strings.Contains(err.Error(), "did not answer for 50ms") || !gone(c.PID()) {
		t.Errorf("a child that is stopped: %v; gone: %v", err, gone(c.PID()))
	}
}

func TestRefusalIsNoEnd(t *testing.T) {
	c := start(t, 1)[0]
	err := c.Call("Trouble.Refuse", "not now", new(None))
	var refused rpc.ServerError
	if !errors.As(err, &refused) || err.Error() != "not now" {
		t.Errorf("refused by %v", err)
	}
	if err := c.Call("Clock.Now", None(0), new(int64)); err != nil || c.Err() != nil {
		t.Errorf("after a refusal the child is of no more use: %v, %v", err, c.Err())
	}
}

func TestChildIgnoresAnInterrupt(t *testing.T) {
	c := start(t, 1)[0]
	if err := c.Call("Clock.Now", None(0), new(int64)); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(c.PID(), syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	for range 100 { // it would handle the signal before the next read
		if err := c.Call("Clock.Now", None(0), new(int64)); err != nil {
			t.Fatalf("an interrupt ended the child: %v", err)
		}
	}
}

func TestNoSuchProgram(t *testing.T) {
	if _, err := StartChildren(2, func(int) Start { return Start{Command: []string{t.TempDir() + "/nothing"}} }); err == nil {
		t.Error("nothing was started")
	}
}

func TestProgramThatIsNoChild(t *testing.T) {
	echo, err := exec.LookPath("echo")
	if err != nil {
		t.Fatal(err)
	}
	c, err := StartChild(0, []string{echo, "hello"})
	if err != nil {
		t.Fatal(err)
	}
	defer c.End()
	if err := c.Call("Clock.Now", None(0), new(int64)); err == nil || c.Err() == nil {
		t.Errorf("echo answered: %v, %v", err, c.Err())
	}
}

// Each answer lies between request and reply, up to the error of the two clock readings.
func TestOneTimeForAll(t *testing.T) {
	axis := load.NewAxis(nil)
	axis.Set(time.Second, time.Minute)
	children := start(t, 2)
	open(t, children, axis, Version, "")
	for _, c := range children {
		if err := c.Start(axis.Zero()); err != nil {
			t.Fatal(err)
		}
	}
	for i, c := range children {
		var apart int64
		if err := c.Call("Clock.Apart", None(0), &apart); err != nil {
			t.Fatal(err)
		}
		apart += int64(axis.Apart())
		for range 500 {
			var there int64
			before := axis.Now()
			if err := c.Call("Clock.Now", None(0), &there); err != nil {
				t.Fatal(err)
			}
			if after := axis.Now(); there < before-apart || there > after+apart {
				t.Fatalf("process %d has %d between %d and %d, its clocks paired to %d", i, there, before, after, apart)
			}
		}
	}
}

func TestChildOfADeadParent(t *testing.T) {
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(childCommand[0], childCommand[1:]...)
	cmd.Stdin = read
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	_ = read.Close()
	_ = write.Close()
	_ = cmd.Wait() // hangs if the child outlives its parent
}
