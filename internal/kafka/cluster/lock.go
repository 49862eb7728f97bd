package cluster

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// fileLock is an advisory lock on a file, exclusive between processes. The
// kernel gives it back when its holder dies, however it dies, which makes it a
// better sign of life than a process number.
type fileLock struct {
	file *os.File
}

// errLocked says that somebody else holds the lock.
var errLocked = errors.New("locked by another process")

// lockPoll is how often a waiting lockFile tries again.
const lockPoll = 50 * time.Millisecond

// tryLock takes the lock on path, making the file where needed, or returns
// errLocked at once.
func tryLock(path string) (*fileLock, error) {
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return nil, &Error{
			Kind: ErrUnavailable, What: "the lock " + path + " can't be opened", Cause: err,
			Remedy: "set XDG_CACHE_HOME to a folder that you may write to",
		}
	}
	for {
		err = unix.Flock(int(file.Fd()), unix.LOCK_EX|unix.LOCK_NB)
		if !errors.Is(err, unix.EINTR) {
			break
		}
	}
	if err == nil {
		return &fileLock{file: file}, nil
	}
	file.Close()
	if errors.Is(err, unix.EWOULDBLOCK) {
		return nil, errLocked
	}
	return nil, fmt.Errorf("lock %s: %w", path, err)
}

// lockFile waits for the lock on path, or for ctx. waiting is called once when
// the lock is not free at once; it may be nil.
func lockFile(ctx context.Context, path string, waiting func()) (*fileLock, error) {
	for {
		lock, err := tryLock(path)
		if !errors.Is(err, errLocked) {
			return lock, err
		}
		if waiting != nil {
			waiting()
			waiting = nil
		}
		select {
		case <-ctx.Done():
			return nil, fmt.Errorf("waiting for %s: %w", path, ctx.Err())
		case <-time.After(lockPoll):
		}
	}
}

// unlock gives the lock back. The file stays: removing it would let two
// processes hold locks on two files of one name.
func (l *fileLock) unlock() {
	l.file.Close()
}
