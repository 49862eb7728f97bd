package cluster

import (
	"fmt"

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
