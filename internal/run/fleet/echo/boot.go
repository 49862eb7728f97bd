package echo

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"strings"
)

// Boot identifies the CLOCK_MONOTONIC that a process reads, also across containers of one kernel.
type Boot struct {
	ID string // of the kernel's boot; empty if unknown
	// MonotonicNs is what the process's time namespace adds to CLOCK_MONOTONIC.
	MonotonicNs int64
}

// ReadBoot reads the boot of this process from /proc. Without /proc it returns a Boot that equals
// no other, and no error.
func ReadBoot() (Boot, error) { return readBoot(os.DirFS("/proc")) }

func readBoot(proc fs.FS) (Boot, error) {
	id, err := fs.ReadFile(proc, "sys/kernel/random/boot_id")
	if errors.Is(err, fs.ErrNotExist) {
		return Boot{}, nil
	} else if err != nil {
		return Boot{}, fmt.Errorf("the boot ID: %w", err)
	}
	boot := Boot{ID: strings.TrimSpace(string(id))}
	offsets, err := fs.ReadFile(proc, "self/timens_offsets")
	if errors.Is(err, fs.ErrNotExist) {
		return boot, nil // no time namespaces
	} else if err != nil {
		return Boot{}, fmt.Errorf("the time namespace: %w", err)
	}
	for line := range strings.Lines(string(offsets)) {
		words := strings.Fields(line)
		if len(words) != 3 || words[0] != "monotonic" {
			continue
		}
		seconds, err := strconv.ParseInt(words[1], 10, 34)
		nanoseconds, wrong := strconv.ParseInt(words[2], 10, 34)
		if err = errors.Join(err, wrong); err != nil {
			return Boot{}, fmt.Errorf("the time namespace: %w", err)
		}
		boot.MonotonicNs = seconds*1e9 + nanoseconds
		return boot, nil
	}
	return Boot{}, fmt.Errorf("the time namespace has no line for the monotonic clock in %q", offsets)
}

// Offset returns the exact offset (see [clock.Bound]) of the clock of a process whose boot is peer,
// if both processes share a clock.
func (b Boot) Offset(peer Boot) (ns int64, shared bool) {
	if b.ID == "" || b.ID != peer.ID {
		return 0, false
	}
	return peer.MonotonicNs - b.MonotonicNs, true
}
