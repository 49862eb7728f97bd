//go:build full

package confine

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

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
	for !ended(cmd.Process.Pid) {
		time.Sleep(time.Millisecond)
	}
	_ = cmd.Wait()
}

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
	for _, entrance := range c.group.entrances() {
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

func awaitIn(t *testing.T, entrance string, pid int) {
	t.Helper()
	for ; ; time.Sleep(time.Millisecond) {
		procs, err := os.ReadFile(entrance)
		if err != nil {
			t.Fatal(err)
		}
		if slices.Contains(strings.Fields(string(procs)), fmt.Sprint(pid)) {
			return
		}
	}
}
