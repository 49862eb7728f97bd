package probe

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/prometheus/procfs"
)

// ReadTuning reads how the machine is set up.
func ReadTuning() Tuning { return readTuning(os.DirFS("/sys")) }

// AvailableMemory returns how many bytes this process could use without swapping: what the machine has
// available, and at most the limits of the process's control groups; nil if unknown.
func AvailableMemory() *int64 {
	fs, err := procfs.NewDefaultFS()
	if err != nil {
		return nil
	}
	memory, err := fs.Meminfo()
	if err != nil || memory.MemAvailableBytes == nil {
		return nil
	}
	available := int64(*memory.MemAvailableBytes)
	if self, err := fs.Self(); err == nil {
		groups, _ := self.Cgroups() // on an error there are none
		for _, g := range groups {
			for path := g.Path; ; path = filepath.Dir(path) {
				available = min(available, memoryLimit(g, path, available))
				if path == "/" || path == "." {
					break
				}
			}
		}
	}
	return &available
}

// memoryLimit returns otherwise if the group has no limit.
func memoryLimit(g procfs.Cgroup, path string, otherwise int64) int64 {
	var files []string
	switch {
	case g.HierarchyID == 0:
		files = []string{
			filepath.Join("/sys/fs/cgroup", path, "memory.max"), filepath.Join("/sys/fs/cgroup/unified", path, "memory.max"),
		}
	case slices.Contains(g.Controllers, "memory"):
		files = []string{filepath.Join("/sys/fs/cgroup/memory", path, "memory.limit_in_bytes")}
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			continue
		}
		if limit, err := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64); err == nil { // or it is "max"
			return limit
		}
	}
	return otherwise
}
