package confine

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// TestLocate: where a process stands, by what the kernel says on several systems.
func TestLocate(t *testing.T) {
	for name, c := range map[string]struct {
		groups, mounts string
		parents        map[string][]string
	}{
		"version 2 in a session": {
			"0::/user.slice/session-1.scope\n",
			"30 23 0:26 / /sys/fs/cgroup rw shared:4 - cgroup2 cgroup2 rw,nsdelegate\n", //nolint:dupword // the kernel writes it so
			map[string][]string{"": {"/sys/fs/cgroup/user.slice/session-1.scope", "/sys/fs/cgroup/user.slice"}, "cpu": nil},
		},
		"version 2 in a container": {
			"0::/\n", "30 23 0:26 / /sys/fs/cgroup ro - cgroup2 cgroup rw\n",
			map[string][]string{"": {"/sys/fs/cgroup"}},
		},
		"version 1, two controllers in one": {
			"4:cpu,cpuacct:/docker/ab\n3:memory:/docker/ab/own\n1:name=systemd:/x\n",
			"31 23 0:27 /docker/ab /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct\n" + //nolint:dupword // the kernel writes it so
				"32 23 0:28 /docker/ab /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n", //nolint:dupword // the kernel writes it so
			map[string][]string{
				"cpu": {"/sys/fs/cgroup/cpu,cpuacct"}, "cpuacct": {"/sys/fs/cgroup/cpu,cpuacct"},
				"memory": {"/sys/fs/cgroup/memory/own", "/sys/fs/cgroup/memory"}, "": nil,
			},
		},
		"a mount that shows another part": {
			"0::/a\n", "30 23 0:26 /b /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n", map[string][]string{"": nil}, //nolint:dupword // the kernel writes it so
		},
		"nothing": {"", "broken\n", map[string][]string{"": nil, "memory": nil}},
	} {
		t.Run(name, func(t *testing.T) {
			h := locate(c.groups, c.mounts)
			got := make(map[string][]string)
			for controller := range c.parents {
				got[controller] = h.parents(controller)
			}
			if !maps.EqualFunc(got, c.parents, slices.Equal) {
				t.Errorf("%v, want %v", got, c.parents)
			}
		})
	}
}

// A group is made where its limits can be had, and nothing is left where they can't.
func TestMakeFolder(t *testing.T) {
	parent := t.TempDir()
	if f, err := makeFolder([]string{parent}, "kafka-bench-1-1", "cpu.max"); err == nil {
		t.Errorf("%s has a limit of CPU", f)
	}
	if left, _ := os.ReadDir(parent); len(left) > 0 {
		t.Errorf("%v is left", left)
	}
	if _, err := makeFolder(nil, "kafka-bench-1-1"); err == nil || err.Error() != "it is not mounted" {
		t.Errorf("nowhere: %v", err)
	}
	f, err := makeFolder([]string{filepath.Join(parent, "none"), parent}, "kafka-bench-1-1")
	if err != nil || f != folder(filepath.Join(parent, "kafka-bench-1-1")) {
		t.Errorf("made %s, %v", f, err)
	}
}

// gone is the number of a process that has ended.
func gone(t *testing.T) int {
	t.Helper()
	cmd := exec.Command("/bin/sh", "-c", "exit")
	if err := cmd.Run(); err != nil {
		t.Fatal(err)
	}
	return cmd.Process.Pid
}

// A process that has ended is gone, though nobody has buried it.
func TestEnded(t *testing.T) {
	cmd := exec.Command("/bin/sh", "-c", "read forever")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if pid := cmd.Process.Pid; ended(pid) || !ended(gone(t)) {
		t.Errorf("ended: %v of one that runs, %v of one that is buried", ended(pid), ended(gone(t)))
	}
	_ = in.Close()
	for deadline := time.Now().Add(5 * time.Second); !ended(cmd.Process.Pid); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("one that is not buried counts as alive")
		}
	}
	_ = cmd.Wait()
}

// The groups of processes that are gone are removed, and nobody else's: a number that
// nobody has here may be somebody's in another container.
func TestReap(t *testing.T) {
	parent := t.TempDir()
	prefix, err := ownPrefix()
	if err != nil {
		t.Fatal(err)
	}
	dead := gone(t)
	stale := fmt.Sprintf("%s%d-1", prefix, dead)
	kept := []string{
		fmt.Sprintf("%s%d-7", prefix, os.Getpid()), "kafka-bench-of-somebody", "system.slice",
		fmt.Sprintf("kafka-bench-%d-%d-1", dead, dead), // of another namespace, where there may be such a process
	}
	for _, name := range append(kept, stale) {
		if err := os.Mkdir(filepath.Join(parent, name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if removed := reap(parent); !slices.Equal(removed, []string{stale}) {
		t.Errorf("removed %q, want %q", removed, stale)
	}
	entries, err := os.ReadDir(parent)
	if err != nil {
		t.Fatal(err)
	}
	var left []string
	for _, e := range entries {
		left = append(left, e.Name())
	}
	slices.Sort(kept)
	if !slices.Equal(left, kept) {
		t.Errorf("left are %v, want %v", left, kept)
	}
}

// What a process left that died is removed by whoever comes next, be it for a run
// without a limit, and told of once.
func TestReapWhereGroupsAreMade(t *testing.T) {
	c := Open(Limits{CPU: 1, MemoryBytes: memoryLimit})
	if c.By() == Runtime {
		wantFallback(t, c)
		return
	}
	defer func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	}()
	prefix, err := ownPrefix()
	if err != nil {
		t.Fatal(err)
	}
	stale := fmt.Sprintf("%s%d-1", prefix, gone(t))
	for _, entrance := range c.group.entrances() { // beside a living one, in each hierarchy
		if err := os.Mkdir(filepath.Join(filepath.Dir(filepath.Dir(entrance)), stale), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if removed := Reap(); !slices.Contains(removed, stale) || len(slices.Compact(slices.Clone(removed))) != len(removed) {
		t.Errorf("removed %q, want %q among them", removed, stale)
	}
	if again := Reap(); slices.Contains(again, stale) {
		t.Errorf("%q is removed again", again)
	}
}

// Nothing is left of a cell that was closed, though its process has just ended.
func TestNothingIsLeft(t *testing.T) {
	c := Open(Limits{CPU: 1, MemoryBytes: memoryLimit})
	if c.By() == Runtime {
		wantFallback(t, c)
		return
	}
	line := c.Command([]string{"/bin/sh", "-c", "read forever"})
	cmd := exec.Command(line[0], line[1:]...)
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var folders []string
	for _, entrance := range c.group.entrances() {
		folders = append(folders, filepath.Dir(entrance))
		awaitIn(t, entrance, cmd.Process.Pid)
	}
	if err := folder(folders[0]).remove(); err == nil || !strings.Contains(err.Error(), "busy") {
		t.Errorf("with a process in it the group was removed: %v", err)
	}
	_ = in.Close()
	_ = cmd.Wait()
	if err := c.Close(); err != nil {
		t.Error(err)
	}
	for _, path := range folders {
		if _, err := os.Stat(path); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s is left: %v", path, err)
		}
	}
	if err := c.Close(); err != nil {
		t.Errorf("closed again: %v", err)
	}
}

// awaitIn waits until a process is in a group.
func awaitIn(t *testing.T, entrance string, pid int) {
	t.Helper()
	for deadline := time.Now().Add(2 * time.Second); time.Now().Before(deadline); time.Sleep(time.Millisecond) {
		procs, err := os.ReadFile(entrance)
		if err != nil {
			t.Fatal(err)
		}
		if slices.Contains(strings.Fields(string(procs)), fmt.Sprint(pid)) {
			return
		}
	}
	t.Fatalf("process %d is not in %s", pid, entrance)
}
