package cluster

import (
	"fmt"
	"math"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

func needDisk(dir string, need int64) error {
	free, err := FreeDisk(dir)
	if err != nil {
		return err
	}
	return checkDisk(dir, free, need)
}

// FreeDisk returns how many bytes the file system of dir has free for users other than root.
func FreeDisk(dir string) (int64, error) {
	var stat unix.Statfs_t
	if err := unix.Statfs(dir, &stat); err != nil {
		return 0, fmt.Errorf("free space of %s: %w", dir, err)
	}
	return int64(stat.Bavail) * int64(stat.Bsize), nil //nolint:unconvert // the types differ between systems
}

// LeastFree returns the free bytes of the fullest disk of the brokers; ok is false if none runs.
func LeastFree(local Local) (free int64, ok bool, err error) {
	var dirs []string
	for _, p := range local.Processes() {
		dirs = append(dirs, p.DataDirs...)
	}
	if len(dirs) == 0 {
		return 0, false, nil
	}
	free, err = leastFree(dirs)
	return free, err == nil, err
}

// Free returns the free bytes of the fullest disk of a cluster that is started here; disks are its
// KafkaOptions.Disks.
func (h Home) Free(disks []string) (int64, error) {
	if len(disks) > 0 {
		return leastFree(disks)
	}
	dir := h.Clusters
	for { // the folder is made when a cluster is started
		if _, err := os.Stat(dir); err == nil || filepath.Dir(dir) == dir {
			return FreeDisk(dir)
		}
		dir = filepath.Dir(dir)
	}
}

func leastFree(dirs []string) (int64, error) {
	least := int64(math.MaxInt64)
	for _, dir := range dirs {
		free, err := FreeDisk(dir)
		if err != nil {
			return 0, err
		}
		least = min(least, free)
	}
	return least, nil
}

func checkDisk(dir string, free, need int64) error {
	if free >= need {
		return nil
	}
	return &Error{
		Kind: ErrUnavailable,
		What: fmt.Sprintf("the disk of %s has %d MiB free, and %d MiB are needed", dir, free>>20, need>>20),
		Remedy: fmt.Sprintf("free %d MiB, or set XDG_CACHE_HOME to a folder on another disk",
			(need-free+(1<<20)-1)>>20),
	}
}
