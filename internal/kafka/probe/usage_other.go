//go:build !linux

package probe

import (
	"errors"
	"fmt"
	"time"

	"golang.org/x/sys/unix"
)

var errNoProc = errors.New("only Linux reports this, through /proc")

// Process always fails: only Linux reports what another process has used.
func Process(int) (Usage, error) { return Usage{}, errNoProc }

// HostCPU always fails: only Linux reports the CPU time of the whole machine.
func HostCPU() (Host, error) { return Host{}, errNoProc }

// Self reads what this process has used. RSS is the peak, which is all that getrusage reports.
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
