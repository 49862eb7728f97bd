//go:build !linux

package probe

import (
	"errors"
	"fmt"
	"time"

	"golang.org/x/sys/unix"
)

// errNoProc says that a figure comes from /proc, which only Linux has.
var errNoProc = errors.New("only Linux tells this, through /proc")

// Process reads what another process has used; only Linux tells.
func Process(int) (Usage, error) { return Usage{}, errNoProc }

// HostCPU reads the CPU time of the whole machine; only Linux tells.
func HostCPU() (Host, error) { return Host{}, errNoProc }

// Self reads what this process has used. The memory is the peak so far, which
// is what getrusage gives.
func Self() (Usage, error) {
	var r unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &r); err != nil {
		return Usage{}, fmt.Errorf("reading the resource usage of this process: %w", err)
	}
	return Usage{
		User: time.Duration(r.Utime.Nano()), System: time.Duration(r.Stime.Nano()),
		RSS: int64(r.Maxrss),
	}, nil
}
