package probe

import "golang.org/x/sys/unix"

// OpenFiles returns how many files and connections this process may have open; nil if unknown.
func OpenFiles() *uint64 {
	var limit unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_NOFILE, &limit) != nil {
		return nil
	}
	cur := limit.Cur
	return &cur
}
