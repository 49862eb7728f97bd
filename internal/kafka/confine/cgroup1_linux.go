package confine

import (
	"errors"
	"time"
)

// v1 has a folder in the hierarchy of each controller. A folder is "" if the limits do not need its
// controller.
type v1 struct{ cpu, account, memory folder }

func openV1(here *here, name string, l Limits) (group, error) {
	g := &v1{}
	if err := g.make(here, name, l); err != nil {
		return nil, errors.Join(err, g.remove())
	}
	return g, nil
}

func (g *v1) make(here *here, name string, l Limits) (err error) {
	if l.CPU > 0 {
		if g.cpu, err = makeFolder(here.parents("cpu"), name, "cpu.cfs_quota_us"); err != nil {
			return err
		}
		if g.account = g.cpu; g.account.has([]string{"cpuacct.usage"}) != nil { // cpuacct is a separate mount
			if g.account, err = makeFolder(here.parents("cpuacct"), name, "cpuacct.usage"); err != nil {
				return err
			}
		}
		if err := errors.Join(g.cpu.write("cpu.cfs_period_us", period.Microseconds()), g.cpu.write("cpu.cfs_quota_us", quota(l))); err != nil {
			return err
		}
	}
	if l.MemoryBytes == 0 {
		return nil
	}
	if g.memory, err = makeFolder(here.parents("memory"), name, "memory.limit_in_bytes"); err != nil {
		return err
	}
	err = g.memory.write("memory.limit_in_bytes", l.MemoryBytes)
	_ = g.memory.write("memory.memsw.limit_in_bytes", l.MemoryBytes) // does not exist without swap
	return err
}

func (g *v1) folders() (all []folder) {
	for _, f := range []folder{g.cpu, g.account, g.memory} {
		if f != "" && (len(all) == 0 || all[len(all)-1] != f) {
			all = append(all, f)
		}
	}
	return all
}

func (g *v1) kind() string { return V1 }

func (g *v1) entrances() (files []string) {
	for _, f := range g.folders() {
		files = append(files, f.entrance())
	}
	return files
}

func (g *v1) usage() (Usage, error) {
	used, err := g.account.number("cpuacct.usage")
	if err != nil {
		return Usage{}, err
	}
	throttled, err := g.cpu.counter("cpu.stat", "throttled_time")
	return Usage{CPU: time.Duration(used), Throttled: time.Duration(throttled)}, err
}

func (g *v1) oomKills() (int64, error) { return g.memory.counter("memory.oom_control", "oom_kill") }

func (g *v1) remove() error {
	var failed error
	for _, f := range g.folders() {
		failed = errors.Join(failed, f.remove())
	}
	return failed
}
