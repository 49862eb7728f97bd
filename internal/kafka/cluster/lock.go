package cluster

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// fileLock is an exclusive advisory lock. The kernel releases it when its holder dies, so unlike a process number
// it proves that the holder lives.
type fileLock struct {
	file *os.File
}

var errLocked = errors.New("locked by another process")

const lockPoll = 50 * time.Millisecond

// If another process holds the lock, tryLock returns errLocked at once.
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

// If lockFile must wait, it calls waiting once; waiting may be nil.
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

// The file stays: otherwise two processes could hold locks on different files of the same name.
func (l *fileLock) unlock() {
	l.file.Close()
}
