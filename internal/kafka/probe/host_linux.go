package probe

import (
	"github.com/prometheus/procfs"
	"golang.org/x/sys/unix"
)

func describeHost(h *HostInfo) {
	var name unix.Utsname
	if unix.Uname(&name) == nil {
		h.Kernel = unix.ByteSliceToString(name.Release[:])
	}
	fs, err := procfs.NewDefaultFS()
	if err != nil {
		return
	}
	if cpus, err := fs.CPUInfo(); err == nil && len(cpus) > 0 {
		h.CPUModel = cpus[0].ModelName
	}
	if memory, err := fs.Meminfo(); err == nil && memory.MemTotalBytes != nil {
		h.MemoryBytes = int64(*memory.MemTotalBytes)
	}
}
