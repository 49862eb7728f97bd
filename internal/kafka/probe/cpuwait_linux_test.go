package probe

import (
	"math"
	"os"
	"testing"
)

func TestThreadsOfNobody(t *testing.T) {
	if _, err := ReadThreads(math.MaxInt32); err == nil {
		t.Error("the threads of a process that is not there were read")
	}
	if own, err := ReadThreads(os.Getpid()); err != nil || len(own) < 2 {
		t.Errorf("this process has threads %v: %v", own, err)
	}
}
