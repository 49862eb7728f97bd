package probe

import (
	"fmt"
	"os"
	"time"

	"github.com/prometheus/procfs"
)

func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }

// clockTicks is USER_HZ, which is 100 on every architecture that Go supports.
const clockTicks = 100

// Process reads what a process has used, from /proc.
func Process(pid int) (Usage, error) {
	fs, err := procfs.NewDefaultFS()
	if err != nil {
		return Usage{}, fmt.Errorf("reading /proc: %w", err)
	}
	p, err := fs.Proc(pid)
	if err != nil {
		return Usage{}, fmt.Errorf("reading /proc of process %d: %w", pid, err)
	}
	stat, err := p.Stat()
	if err != nil {
		return Usage{}, fmt.Errorf("reading /proc of process %d: %w", pid, err)
	}
	u := Usage{
		User:   time.Duration(stat.UTime) * time.Second / clockTicks,
		System: time.Duration(stat.STime) * time.Second / clockTicks,
		RSS:    int64(stat.ResidentMemory()),
	}
	if io, err := p.IO(); err == nil {
		read, written := int64(io.ReadBytes), int64(io.WriteBytes)
		u.DiskRead, u.DiskWritten = &read, &written
	}
	return u, nil
}

// Self reads what this process has used.
func Self() (Usage, error) { return Process(os.Getpid()) }

// HostCPU reads the CPU time of the whole machine.
func HostCPU() (Host, error) {
	fs, err := procfs.NewDefaultFS()
	if err != nil {
		return Host{}, fmt.Errorf("reading /proc: %w", err)
	}
	stat, err := fs.Stat()
	if err != nil {
		return Host{}, fmt.Errorf("reading /proc/stat: %w", err)
	}
	c := stat.CPUTotal
	// User time includes guest time.
	busy := c.User + c.Nice + c.System + c.IRQ + c.SoftIRQ
	return Host{
		Busy: seconds(busy), Stolen: seconds(c.Steal),
		Total: seconds(busy + c.Steal + c.Idle + c.Iowait),
	}, nil
}
