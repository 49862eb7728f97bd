//go:build full

package cluster

import (
	"os"
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
