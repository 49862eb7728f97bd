// Package confine limits a child process to a number of processor cores and an amount of
// memory, as a container does. So a consumer can be measured on a part of a machine.
//
// Where the operating system offers it, that is a control group (cgroup, Linux): a
// folder of the kernel's, made for this process alone, into which the process goes
// before its program begins. In version 2 the limits are cpu.max and memory.max; in
// version 1 cpu.cfs_quota_us and memory.limit_in_bytes. A quota of cores is time in
// each period of 100 ms: a process that has used its part waits for the next, which
// is told as throttled. A process that wants more memory than its limit is killed.
// What can be had is found by trying: a folder below this process' own group, or
// beside it where that one has no controllers to give. No group but our own is ever
// written to.
//
// Elsewhere the process is asked to hold itself to them, through its environment, by
// what the Go runtime knows: GOMAXPROCS, in whole cores, and GOMEMLIMIT, which makes
// the collector work harder and forbids nothing. A Cell says which of them it is.
//
// A group outlives who made it. Its name has that process' number in it, with the
// namespace of the number, and whoever opens a Cell, or calls Reap, removes the groups
// of processes of its own namespace that are gone.
//
// Files to know: confine.go, cgroup2_linux.go, cgroup1_linux.go, here_linux.go.
package confine

import (
	"fmt"
	"math"
	"time"

	"kafkabench.example/kafka-bench/internal/plan/unit"
)

// Limits are what a process is held to; a zero is no limit.
type Limits struct {
	CPU         float64 // cores
	MemoryBytes int64
}

// None tells that there is nothing to hold a process to.
func (l Limits) None() bool { return l == Limits{} }

// The kinds of confinement, as they are told.
const (
	V2      = "cgroup v2"
	V1      = "cgroup v1"
	Runtime = "runtime"
)

// Cell is what one process is confined in. The process is started by Command, with
// Env in its environment.
type Cell struct {
	limits Limits
	group  group  // nil: the runtime's own limits
	why    string // there is no group
}

// group is a control group of our own.
type group interface {
	// kind is V1 or V2.
	kind() string
	// entrances are the files that a process writes its number to.
	entrances() []string
	usage() (Usage, error)
	// oomKills is how many processes of the group were killed for their memory.
	oomKills() (int64, error)
	remove() error
}

// Usage is what the processes of a Cell have used since it was opened.
type Usage struct {
	CPU       time.Duration // of all cores; only where the Cell has a limit of CPU
	Throttled time.Duration // held back because the part of a period was used up
}

// Open makes a cell for one process. It never fails: in the worst case the cell has
// only the runtime's limits.
func Open(l Limits) *Cell {
	c := &Cell{limits: l}
	if l.None() {
		c.why = "nothing is limited"
		return c
	}
	var err error
	if c.group, err = openGroup(l); err != nil {
		c.group, c.why = nil, err.Error()
	}
	return c
}

// By says who holds the process to its limits: V2, V1 or Runtime.
func (c *Cell) By() string {
	if c.group == nil {
		return Runtime
	}
	return c.group.kind()
}

// Note says what the limits are worth where the operating system does not hold the
// process to them; empty where it does.
func (c *Cell) Note() string {
	if c.group != nil || c.limits.None() {
		return ""
	}
	note := "the operating system does not hold the processes to this (" + c.why + "):"
	if c.limits.CPU > 0 {
		note += fmt.Sprintf(" GOMAXPROCS=%d bounds how many cores they use at once, and what is in C is not bounded", c.procs())
	}
	if c.limits.MemoryBytes > 0 {
		if c.limits.CPU > 0 {
			note += ";"
		}
		note += " GOMEMLIMIT bounds when they collect garbage, and not how much they take"
	}
	return note
}

// procs is GOMAXPROCS for the limit: whole cores, the next above.
func (c *Cell) procs() int { return int(math.Ceil(c.limits.CPU)) }

// Env is what the process gets in its environment.
func (c *Cell) Env() (env []string) {
	if c.group != nil {
		return nil
	}
	if c.limits.CPU > 0 {
		env = append(env, fmt.Sprintf("GOMAXPROCS=%d", c.procs()))
	}
	if c.limits.MemoryBytes > 0 {
		env = append(env, fmt.Sprintf("GOMEMLIMIT=%d", c.limits.MemoryBytes))
	}
	return env
}

// enter has a shell write its number to so many files, the first of its arguments,
// and become the command that follows them: the command is in the groups from its
// first instruction on, with everything that it ever allocates.
const enter = `n=$1; shift
while [ "$n" -gt 0 ]; do echo $$ > "$1" || exit 125; shift; n=$((n - 1)); done
exec "$@"`

// Command is the command line that starts a command in the cell. The process has the
// number that the command would have.
func (c *Cell) Command(command []string) []string {
	if c.group == nil {
		return command
	}
	entrances := c.group.entrances()
	line := []string{"/bin/sh", "-c", enter, "sh", fmt.Sprint(len(entrances))}
	return append(append(line, entrances...), command...)
}

// Why says why the process has ended that was in the cell: because of its limit of
// memory, or as given.
func (c *Cell) Why(ended error) error {
	if c.group == nil || c.limits.MemoryBytes == 0 {
		return ended
	}
	if kills, err := c.group.oomKills(); err != nil || kills == 0 {
		return ended
	}
	return fmt.Errorf("killed by the operating system at its memory limit of %s", inWords(c.limits.MemoryBytes))
}

// inWords prints a size exactly, with a space before its unit: 64 MiB.
func inWords(bytes int64) string {
	size := unit.Size(bytes).String()
	for i := range size {
		if size[i] > '9' {
			return size[:i] + " " + size[i:]
		}
	}
	return size
}

// Usage tells what the process has used, where the operating system holds it; it may
// be asked after the process has ended, until the cell is closed.
func (c *Cell) Usage() (u Usage, known bool) {
	if c.group == nil || c.limits.CPU == 0 {
		return Usage{}, false
	}
	u, err := c.group.usage()
	return u, err == nil
}

// Close removes the cell. The process must have ended.
func (c *Cell) Close() error {
	if c.group == nil {
		return nil
	}
	return c.group.remove()
}
