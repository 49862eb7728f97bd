//go:build full

package cluster

import (
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"testing"
)

func TestIdentify(t *testing.T) {
	self, err := identify(os.Getpid())
	if err != nil || !self.running() {
		t.Errorf("identify(self) = %+v, %v", self, err)
	}
	if (identity{PID: self.PID, Started: self.Started + "0"}).running() {
		t.Error("another start time is the same process")
	}
	child := bystander(t)
	if !child.running() || child.Started == self.Started && child.PID == self.PID {
		t.Errorf("identity of a child: %+v", child)
	}
	if err := child.end(0); err != nil || child.running() {
		t.Errorf("end() = %v, running %v", err, child.running())
	}
	if err := child.end(0); err != nil {
		t.Errorf("ending what is gone: %v", err)
	}
}

func TestNothingIsBequeathed(t *testing.T) {
	inherited, err := syscall.Dup(int(os.Stdin.Fd()))
	if err != nil {
		t.Fatal(err)
	}
	defer syscall.Close(inherited)
	for _, detached := range []bool{false, true} {
		c, err := startChild(exec.Command("test", "-e", fmt.Sprintf("/dev/fd/%d", inherited)), detached)
		if err != nil {
			t.Fatal(err)
		}
		<-c.done
		if has := c.state.Success(); has == detached {
			t.Errorf("detached %t: the child has it %t", detached, has)
		}
	}
}
