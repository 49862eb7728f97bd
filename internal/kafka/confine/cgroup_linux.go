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

// namePrefix begins the names of our groups. The namespace of process numbers (pid
// namespace, by its inode) in which the owner has its number follows, then that
// number, and then one of the group's own: containers that share a hierarchy have the
// same numbers for different processes.
const namePrefix = "kafka-bench-"

// ownPrefix begins the names of the groups whose owners can be told by their numbers
// here.
func ownPrefix() (string, error) {
	namespace, err := os.Stat("/proc/self/ns/pid")
	if err != nil {
		return "", fmt.Errorf("telling the own control groups from others': %w", err)
	}
	return fmt.Sprintf("%s%d-", namePrefix, namespace.Sys().(*syscall.Stat_t).Ino), nil
}

// opened counts the groups of this process, for their names.
var opened atomic.Int64

// openGroup makes a group: of version 2 where that can be had, and else of version 1.
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

// folder is the part of a group that is in one hierarchy.
type folder string

// makeFolder makes a group's folder in the first of some parents that has the given
// files to give.
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

// has is an error if one of the files is not there.
func (f folder) has(files []string) error {
	for _, name := range files {
		if _, err := os.Stat(filepath.Join(string(f), name)); err != nil {
			return fmt.Errorf("there is no %s to be had", name)
		}
	}
	return nil
}

func (f folder) write(name string, value any) error {
	// Not made if it is not there: it is the kernel's.
	file, err := os.OpenFile(filepath.Join(string(f), name), os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(file, value)
	return errors.Join(err, file.Close())
}

func (f folder) entrance() string { return filepath.Join(string(f), "cgroup.procs") }

// number reads a file that is one number.
func (f folder) number(name string) (int64, error) {
	text, err := os.ReadFile(filepath.Join(string(f), name))
	if err != nil {
		return 0, err
	}
	return strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64)
}

// counter reads a number from a file of lines that are a name and a number.
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

// A process is in its group until it is buried, which may be a moment after its
// parent has heard of its end.
const (
	burial     = time.Second
	burialPoll = 10 * time.Millisecond
)

// remove removes the folder. The files in it are the kernel's and go with it.
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

// Reap removes the groups whose owners are gone from where this process would make its
// own, and returns their names.
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
	slices.Sort(removed) // in version 1 each has a folder in several hierarchies
	return slices.Compact(removed)
}

// reap removes the groups in a folder whose owners are gone, and returns their names. One in which a process
// still is can't be removed, and stays; so do those of other namespaces, of whose
// owners nothing can be told from here: between its making and its first process, a
// group of another container is as empty as one that was left behind.
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

// ended tells whether there is no process of a number any more; one that has ended and
// that its parent has not buried yet, or never does, is none.
func ended(pid int) bool {
	if errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) {
		return true
	}
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return errors.Is(err, os.ErrNotExist)
	}
	// The name may have anything in it; the state follows its last bracket (proc(5)).
	_, after, _ := strings.Cut(string(stat[max(0, strings.LastIndexByte(string(stat), ')')):]), " ")
	return strings.HasPrefix(after, "Z")
}
