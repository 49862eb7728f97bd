//go:build unix && !aix

package result

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// lockCampaign does not wait; if the campaign is locked, the error wraps ErrCampaignBusy.
func lockCampaign(dir string) (*os.File, error) {
	path := filepath.Join(dir, campaignLock)
	for {
		file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o644)
		if err != nil {
			return nil, fmt.Errorf("cannot lock the campaign: %w", err)
		}
		if err := flock(file); err != nil {
			file.Close()
			if errors.Is(err, unix.EWOULDBLOCK) {
				return nil, fmt.Errorf("%s: %w; wait until it has ended", dir, ErrCampaignBusy)
			}
			return nil, fmt.Errorf("cannot lock the campaign: %s: %w", path, err)
		}
		if isAt(file, path) {
			return file, nil
		}
		file.Close() // the previous owner removed it meanwhile
	}
}

// unlockCampaign removes the file before it releases the lock, so that a process that has opened
// the file sees that it is no longer at its path (see lockCampaign).
func unlockCampaign(file *os.File) error { return errors.Join(os.Remove(file.Name()), file.Close()) }

func flock(file *os.File) error {
	for {
		err := unix.Flock(int(file.Fd()), unix.LOCK_EX|unix.LOCK_NB)
		if !errors.Is(err, unix.EINTR) {
			return err
		}
	}
}

func isAt(file *os.File, path string) bool {
	open, err := file.Stat()
	if err != nil {
		return false
	}
	there, err := os.Stat(path)
	return err == nil && os.SameFile(open, there)
}
