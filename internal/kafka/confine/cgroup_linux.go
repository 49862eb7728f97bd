package confine

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"time"
)

// In a group's name, this prefix is followed by the inode of the owner's pid namespace, the owner's
// process number in it, and the group's number. Containers that share a hierarchy use the same
// process numbers for different processes.
const namePrefix = "kafka-bench-"

func ownPrefix() (string, error) {
	namespace, err := os.Stat("/proc/self/ns/pid")
	if err != nil {
		return "", fmt.Errorf("identifying this process's pid namespace: %w", err)
	}
	return fmt.Sprintf("%s%d-", namePrefix, namespace.Sys().(*syscall.Stat_t).Ino), nil
}

var opened atomic.Int64

func openGroup(l Limits) (group, error) {
	here, err := readHere()
	if err != nil {
		return nil, err
	}
	prefix, err := ownPrefix()
	if err != nil {
		return nil, err
	}
	name := fmt.Sprintf("%s%d-%d", prefix, os.Getpid(), opened.Add(1))
	two, errTwo := openV2(here, name, l)
	if errTwo == nil {
		return two, nil
	}
	one, errOne := openV1(here, name, l)
	if errOne == nil {
		return one, nil
	}
	return nil, fmt.Errorf("version 2: %w; version 1: %w", errTwo, errOne)
}

type folder string

func makeFolder(parents []string, name string, files ...string) (folder, error) {
	err := errors.New("it is not mounted")
	for _, parent := range parents {
		reap(parent)
		f := folder(filepath.Join(parent, name))
		if err = os.Mkdir(string(f), 0o755); err != nil {
			continue
		}
		if err = f.has(files); err == nil {
			return f, nil
		}
		_ = f.remove()
	}
	return "", err
}

func (f folder) has(files []string) error {
	for _, name := range files {
		if _, err := os.Stat(filepath.Join(string(f), name)); err != nil {
			return fmt.Errorf("%s is not available", name)
		}
	}
	return nil
}

func (f folder) write(name string, value any) error {
	// Without O_CREATE: the kernel makes these files.
	file, err := os.OpenFile(filepath.Join(string(f), name), os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(file, value)
	return errors.Join(err, file.Close())
}

func (f folder) entrance() string { return filepath.Join(string(f), "cgroup.procs") }

func (f folder) number(name string) (int64, error) {
	text, err := os.ReadFile(filepath.Join(string(f), name))
	if err != nil {
		return 0, err
	}
	return strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64)
}

func (f folder) counter(file, name string) (int64, error) {
	text, err := os.ReadFile(filepath.Join(string(f), file))
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(text)) {
		if key, value, _ := strings.Cut(strings.TrimSpace(line), " "); key == name {
			return strconv.ParseInt(value, 10, 64)
		}
	}
	return 0, fmt.Errorf("%s has no %s", file, name)
}

// An ended process stays in its group until it is reaped. remove waits for that, at most burial.
const (
	burial     = time.Second
	burialPoll = 10 * time.Millisecond
)

// The kernel removes the files in the folder.
func (f folder) remove() error {
	for deadline := time.Now().Add(burial); ; time.Sleep(burialPoll) {
		err := syscall.Rmdir(string(f))
		if err == nil || errors.Is(err, syscall.ENOENT) {
			return nil
		}
		if !errors.Is(err, syscall.EBUSY) || time.Now().After(deadline) {
			return fmt.Errorf("removing the control group %s: %w", string(f), err)
		}
	}
}

// Reap removes the groups of ended processes from the folders of this process's own groups, and returns their
// names.
func Reap() (removed []string) {
	here, err := readHere()
	if err != nil {
		return nil
	}
	for _, controller := range []string{"", "cpu", "cpuacct", "memory"} {
		for _, parent := range here.parents(controller) {
			removed = append(removed, reap(parent)...)
		}
	}
	slices.Sort(removed) // in version 1 a group has a folder in several hierarchies
	return slices.Compact(removed)
}

// The kernel keeps a group that still has a process. Groups of other pid namespaces stay: their owners can't be
// looked up.
func reap(parent string) (removed []string) {
	prefix, err := ownPrefix()
	if err != nil {
		return nil
	}
	ours, err := filepath.Glob(filepath.Join(parent, prefix+"*"))
	if err != nil {
		return nil
	}
	for _, path := range ours {
		owner, _, _ := strings.Cut(strings.TrimPrefix(filepath.Base(path), prefix), "-")
		pid, err := strconv.Atoi(owner)
		if err == nil && ended(pid) && syscall.Rmdir(path) == nil {
			removed = append(removed, filepath.Base(path))
		}
	}
	return removed
}

// A zombie counts as ended.
func ended(pid int) bool {
	if errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) {
		return true
	}
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return errors.Is(err, os.ErrNotExist)
	}
	// The name may contain any byte; the state follows its last bracket (proc(5)).
	_, after, _ := strings.Cut(string(stat[max(0, strings.LastIndexByte(string(stat), ')')):]), " ")
	return strings.HasPrefix(after, "Z")
}
