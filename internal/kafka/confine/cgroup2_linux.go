package confine

import (
	"errors"
	"fmt"
	"time"
)

// The kernel's default, which containers use too.
const period = 100 * time.Millisecond

// quota returns the CPU time per period, in microseconds. The kernel's minimum is 1 ms.
func quota(l Limits) int64 { return max(1000, int64(l.CPU*float64(period.Microseconds()))) }

type v2 struct{ folder }

func openV2(here *here, name string, l Limits) (group, error) {
	var files []string
	if l.CPU > 0 {
		files = append(files, "cpu.max")
	}
	if l.MemoryBytes > 0 {
		files = append(files, "memory.max")
	}
	f, err := makeFolder(here.parents(""), name, files...)
	if err != nil {
		return nil, err
	}
	g := v2{f}
	if err := g.set(l); err != nil {
		return nil, errors.Join(err, g.remove())
	}
	return g, nil
}

func (g v2) set(l Limits) error {
	if l.CPU > 0 {
		if err := g.write("cpu.max", fmt.Sprintf("%d %d", quota(l), period.Microseconds())); err != nil {
			return err
		}
	}
	if l.MemoryBytes == 0 {
		return nil
	}
	_ = g.write("memory.swap.max", 0) // does not exist without swap
	return g.write("memory.max", l.MemoryBytes)
}

func (g v2) kind() string        { return V2 }
func (g v2) entrances() []string { return []string{g.entrance()} }

func (g v2) usage() (Usage, error) {
	used, err := g.counter("cpu.stat", "usage_usec")
	if err != nil {
		return Usage{}, err
	}
	throttled, err := g.counter("cpu.stat", "throttled_usec")
	return Usage{CPU: time.Duration(used) * time.Microsecond, Throttled: time.Duration(throttled) * time.Microsecond}, err
}

func (g v2) oomKills() (int64, error) { return g.counter("memory.events", "oom_kill") }
