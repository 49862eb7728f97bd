package confine

import (
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
)

func TestLocate(t *testing.T) {
	for name, c := range map[string]struct {
		groups, mounts string
		parents        map[string][]string
	}{
		"version 2 in a session": {
			"0::/user.slice/session-1.scope\n",
			"30 23 0:26 / /sys/fs/cgroup rw shared:4 - cgroup2 cgroup2 rw,nsdelegate\n",
			map[string][]string{"": {"/sys/fs/cgroup/user.slice/session-1.scope", "/sys/fs/cgroup/user.slice"}, "cpu": nil},
		},
		"version 2 in a container": {
			"0::/\n", "30 23 0:26 / /sys/fs/cgroup ro - cgroup2 cgroup rw\n",
			map[string][]string{"": {"/sys/fs/cgroup"}},
		},
		"version 1, two controllers in one": {
			"4:cpu,cpuacct:/docker/ab\n3:memory:/docker/ab/own\n1:name=systemd:/x\n",
			"31 23 0:27 /docker/ab /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct\n" +
				"32 23 0:28 /docker/ab /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n",
			map[string][]string{
				"cpu": {"/sys/fs/cgroup/cpu,cpuacct"}, "cpuacct": {"/sys/fs/cgroup/cpu,cpuacct"},
				"memory": {"/sys/fs/cgroup/memory/own", "/sys/fs/cgroup/memory"}, "": nil,
			},
		},
		"a mount that shows another part": {
			"0::/a\n", "30 23 0:26 /b /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n", map[string][]string{"": nil},
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

func gone(t *testing.T) int {
	t.Helper()
	cmd := exec.Command("/bin/sh", "-c", "exit")
	if err := cmd.Run(); err != nil {
		t.Fatal(err)
	}
	return cmd.Process.Pid
}

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
		fmt.Sprintf("kafka-bench-%d-%d-1", dead, dead), // from another namespace, in which the process may exist
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
