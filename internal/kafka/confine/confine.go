// Package confine limits a child process to a number of processor cores and an amount of memory, as a container
// does.
//
// On Linux the limit is a control group (cgroup) that the process enters before its program starts. A process that
// has used its CPU time in a period of 100 ms waits for the next period (it is throttled). The kernel kills a
// process that needs more memory than its limit. Open makes the group below this process's own
// group, or next to that group if it offers no controllers. Open writes to no other group.
//
// Elsewhere environment variables limit the Go runtime of the process: GOMAXPROCS, in whole cores, and GOMEMLIMIT,
// which only makes the garbage collector work harder.
//
// A group outlives the process that made it. Open and Reap remove the groups of ended processes of the same pid
// namespace.
//
// Files to know: confine.go, cgroup2_linux.go, cgroup1_linux.go, here_linux.go.
package confine

import (
	"fmt"
	"math"
	"time"

	"kafkabench.example/kafka-bench/internal/plan/unit"
)

// Limits are the limits of a process; 0 is no limit.
type Limits struct {
	CPU         float64 // cores
	MemoryBytes int64
}

// None reports whether l limits nothing.
func (l Limits) None() bool { return l == Limits{} }

// The kinds of confinement, as reports name them.
const (
	V2      = "cgroup v2"
	V1      = "cgroup v1"
	Runtime = "runtime"
)

// Cell confines one process. Start the process with Command, and with Env in its environment.
type Cell struct {
	limits Limits
	group  group // nil: only the runtime's limits apply
	why    string
}

type group interface {
	kind() string
	entrances() []string
	usage() (Usage, error)
	oomKills() (int64, error)
	remove() error
}

// Usage is the CPU use of a Cell's processes since Open.
type Usage struct {
	CPU       time.Duration // over all cores; needs a limit of CPU
	Throttled time.Duration // time spent waiting for the next period
}

// Open makes a cell for one process. Without a control group, the cell has only the runtime's limits.
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

// By returns what enforces the limits: V2, V1 or Runtime.
func (c *Cell) By() string {
	if c.group == nil {
		return Runtime
	}
	return c.group.kind()
}

// Note returns what the limits still do if the operating system does not enforce them, else "".
func (c *Cell) Note() string {
	if c.group != nil || c.limits.None() {
		return ""
	}
	note := "the operating system does not enforce this (" + c.why + "):"
	if c.limits.CPU > 0 {
		note += fmt.Sprintf(" GOMAXPROCS=%d limits how many cores Go code uses at once, but not C code", c.procs())
	}
	if c.limits.MemoryBytes > 0 {
		if c.limits.CPU > 0 {
			note += ";"
		}
		note += " GOMEMLIMIT makes garbage collection more frequent, but does not limit memory"
	}
	return note
}

func (c *Cell) procs() int { return int(math.Ceil(c.limits.CPU)) }

// Env returns what the process needs in its environment.
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

// A shell writes its process number to n files and then replaces itself by the command. The
// arguments are n, the files and the command.
const enter = `n=$1; shift
while [ "$n" -gt 0 ]; do echo $$ > "$1" || exit 125; shift; n=$((n - 1)); done
exec "$@"`

// Command returns the command line that starts command in the cell. The process keeps its number.
func (c *Cell) Command(command []string) []string {
	if c.group == nil {
		return command
	}
	entrances := c.group.entrances()
	line := []string{"/bin/sh", "-c", enter, "sh", fmt.Sprint(len(entrances))}
	return append(append(line, entrances...), command...)
}

// Why returns ended, or an error that names the memory limit if that limit ended the process.
func (c *Cell) Why(ended error) error {
	if c.group == nil || c.limits.MemoryBytes == 0 {
		return ended
	}
	if kills, err := c.group.oomKills(); err != nil || kills == 0 {
		return ended
	}
	return fmt.Errorf("killed by the operating system at its memory limit of %s", inWords(c.limits.MemoryBytes))
}

func inWords(bytes int64) string {
	size := unit.Size(bytes).String()
	for i := range size {
		if size[i] > '9' {
			return size[:i] + " " + size[i:]
		}
	}
	return size
}

// Usage returns what the process has used so far. Call it before Close. known is false unless a
// control group limits the CPU.
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
