package doctor

import (
	"fmt"
	"slices"
	"strings"

	"kafkabench.example/kafka-bench/internal/plan/unit"
	"kafkabench.example/kafka-bench/internal/run/calibrate"
	"kafkabench.example/kafka-bench/internal/run/judge"
)

const (
	fewFiles    = 4096 // a local broker alone opens three files for each partition
	fewCores    = 4
	fewBytes    = 2 << 30 // the heap of a local broker, and as much for the page cache
	littleSpace = 1 << 30
)

func loopback(r Readings) Finding {
	const check = "loopback"
	if r.NoLoopback != nil {
		return problem(check, EveryRun, "a port of 127.0.0.1 cannot be opened: "+r.NoLoopback.Error(),
			"allow it: brokers, agents and pages of this machine listen there")
	}
	return ok(check, "ports of 127.0.0.1 can be opened")
}

func openFiles(limit *uint64) Finding {
	const check = "open files"
	switch {
	case limit == nil:
		return unknown(check)
	case *limit < fewFiles:
		return note(check, fmt.Sprintf("at most %s", unit.Count(int64(*limit))),
			"runs with many partitions or clients end with \"too many open files\"", "ulimit -n 65536, before the run")
	case *limit > 1<<62:
		return ok(check, "no limit")
	}
	return ok(check, fmt.Sprintf("at most %s", unit.Count(int64(*limit))))
}

// Folder is a folder that runs write to.
type Folder struct {
	Path      string
	Fault     error  // why files cannot be made in it
	FreeBytes *int64 // nil if unknown
}

func free(f Folder) string {
	if f.FreeBytes == nil {
		return f.Path
	}
	return fmt.Sprintf("%s free for %s", unit.Bytes(*f.FreeBytes), f.Path)
}

func output(f Folder) Finding {
	const check = "output folder"
	switch {
	case f.Fault != nil:
		return problem(check, EveryRun, f.Fault.Error(), "name another folder with --out")
	case f.FreeBytes == nil:
		return unknown(check)
	case *f.FreeBytes < littleSpace:
		return note(check, free(f), "a long run may end without its result", "free 1 GiB, or name another folder with --out")
	}
	return ok(check, free(f))
}

func temp(f Folder) Finding {
	const check = "temporary files"
	switch {
	case f.Fault != nil:
		return problem(check, LocalKafka, f.Fault.Error(), "name a folder that you may write to in TMPDIR")
	case f.FreeBytes == nil:
		return unknown(check)
	case *f.FreeBytes < littleSpace:
		return note(check, free(f), "agents keep what they measured there until the end of a run, and may fill it",
			"free 1 GiB, or name another folder in TMPDIR")
	}
	return ok(check, free(f))
}

func cores(r Readings) Finding {
	const check = "cores"
	if r.CPUs <= 0 {
		return unknown(check)
	}
	found := unit.Things(int64(r.CPUs), "core")
	if r.CPUModel != "" {
		found += ", " + r.CPUModel
	}
	switch {
	case r.Cores != nil && *r.Cores < float64(r.CPUs):
		return note(check, fmt.Sprintf("%s; a limit leaves this process %s of them", found, unit.Decimals(*r.Cores, 2)),
			"the kernel stops the process for up to 100 ms each time the limit is reached; the times contain that",
			"lift the limit of the container or control group (cpu.max)")
	case r.CPUs < fewCores:
		return note(check, found, "a local Kafka and the load share them: near saturation the figures describe this machine",
			"measure a cluster of other machines with --brokers, or keep the rate low")
	case r.Cores == nil:
		found += "; limits of a container are not known"
	}
	return ok(check, found)
}

func memory(available *int64) Finding {
	const check = "memory"
	switch {
	case available == nil:
		return unknown(check)
	case *available < fewBytes:
		return note(check, unit.Bytes(*available)+" available",
			"a local broker has a heap of 1 GiB and needs a page cache: it may swap, or be killed",
			"end other processes, set cluster.heap lower, or use --brokers")
	}
	return ok(check, unit.Bytes(*available)+" available")
}

// CPU is what the cores did during a short sample, as parts of their time.
type CPU struct{ Busy, Stolen float64 }

func otherLoad(c *CPU) Finding {
	const check = "other load"
	switch {
	case c == nil:
		return unknown(check)
	case c.Busy > calibrate.MaxOthers:
		return note(check, unit.WholePercent(c.Busy)+" of the CPU time is used by other processes",
			"the load and a local Kafka wait for cores: times are longer and differ between runs", "end them before a run")
	}
	return ok(check, unit.WholePercent(c.Busy)+" of the CPU time")
}

func stolen(c *CPU) Finding {
	const check = "stolen CPU"
	switch {
	case c == nil:
		return unknown(check)
	case c.Stolen > judge.WarnStolen:
		return note(check, "the hypervisor took "+unit.Percent(c.Stolen)+" of the CPU time away",
			"everything stands still meanwhile: the times contain it, and runs get a warning",
			"use a machine with cores of its own, or another time")
	}
	return ok(check, unit.Percent(c.Stolen)+" of the CPU time")
}

// The kernel gives the time of these to a process without a system call.
var fastClocks = []string{
	"tsc", "kvm-clock", "arch_sys_counter", "hyperv_clocksource_tsc_page", "timebase", "tod", "riscv_clocksource",
}

func clockSource(name string) Finding {
	const check = "clock source"
	switch {
	case name == "":
		return unknown(check)
	case slices.Contains(fastClocks, name):
		return ok(check, name)
	}
	return note(check, name,
		"each reading of the clock is a system call, and every record needs several: the highest rate falls",
		"boot with clocksource=tsc, if the kernel finds it reliable here")
}

func governor(names []string) Finding {
	const check = "CPU governor"
	switch {
	case len(names) == 0:
		return unknown(check)
	case slices.Equal(names, []string{"performance"}):
		return ok(check, "performance")
	}
	return note(check, strings.Join(names, ", "),
		"cores speed up only under load: at low rates times are longer, and they vary",
		"cpupower frequency-set --governor performance, as root")
}

func hugePages(mode string) Finding {
	const check = "huge pages"
	switch mode {
	case "":
		return unknown(check)
	case "always":
		return note(check, "transparent huge pages are always used",
			"the kernel moves memory to make them: pauses of brokers and load",
			"echo madvise > /sys/kernel/mm/transparent_hugepage/enabled, as root")
	}
	return ok(check, "transparent huge pages: "+mode)
}
