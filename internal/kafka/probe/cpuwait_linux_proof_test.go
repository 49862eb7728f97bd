//go:build proof

package probe

import (
	"os/exec"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

func TestProcessesThatShareACoreWait(t *testing.T) {
	var allowed, one unix.CPUSet
	if err := unix.SchedGetaffinity(0, &allowed); err != nil {
		t.Fatal(err)
	}
	for core := 0; one.Count() == 0; core++ {
		if allowed.IsSet(core) {
			one.Set(core)
		}
	}
	var pids []int
	for range 2 {
		busy := exec.Command("sh", "-c", "while :; do :; done")
		if err := busy.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = busy.Process.Kill(); _ = busy.Wait() })
		if err := unix.SchedSetaffinity(busy.Process.Pid, &one); err != nil {
			t.Fatal(err)
		}
		pids = append(pids, busy.Process.Pid)
	}
	for _, pid := range pids {
		before, err := ReadThreads(pid)
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(300 * time.Millisecond)
		after, err := ReadThreads(pid)
		if err != nil {
			t.Fatal(err)
		}
		// Other processes on the machine can only increase the wait.
		if got := after.WaitRatio(before); got == nil || *got < 0.3 || *got > 1 {
			t.Errorf("one of two processes on a core waited in %v of the time, want about half", got)
		}
	}
}
