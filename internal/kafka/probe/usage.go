package probe

import (
	"fmt"
	"io/fs"
	"path/filepath"
	"syscall"
	"time"
)

// Usage is what a process has used since it started.
type Usage struct {
	User, System time.Duration // CPU time
	RSS          int64         // bytes, now
	// Disk traffic in bytes; nil if unknown.
	DiskRead, DiskWritten *int64
}

// CPU returns user and system time together.
func (u Usage) CPU() time.Duration { return u.User + u.System }

// Host is the CPU time of the whole machine since it booted, over all cores.
type Host struct {
	Busy, Stolen, Total time.Duration
}

// Since returns the busy and the stolen part of the time since an earlier reading; known is false if no time passed.
func (h Host) Since(before Host) (busy, stolen float64, known bool) {
	total := (h.Total - before.Total).Seconds()
	if total <= 0 {
		return 0, 0, false
	}
	// With ticks of 10 ms, a part may appear greater than the whole.
	return min(1, (h.Busy-before.Busy).Seconds()/total), min(1, (h.Stolen-before.Stolen).Seconds()/total), true
}

// FolderSize returns the disk space of the files below a folder, in bytes, without files that vanish meanwhile.
func FolderSize(dir string) (int64, error) {
	var size int64
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			if path == dir {
				return err
			}
			return nil
		}
		if info, err := entry.Info(); err == nil && info.Mode().IsRegular() {
			size += allocated(info)
		}
		return nil
	})
	if err != nil {
		return 0, fmt.Errorf("sizing %s: %w", dir, err)
	}
	return size, nil
}

// Kafka's index files are sparse.
func allocated(info fs.FileInfo) int64 {
	if stat, ok := info.Sys().(*syscall.Stat_t); ok {
		return stat.Blocks * 512
	}
	return info.Size()
}
