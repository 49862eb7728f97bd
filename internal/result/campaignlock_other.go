//go:build !unix || aix

package result

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// If the lock file exists, the error wraps ErrCampaignBusy; after a crash a person must remove it.
func lockCampaign(dir string) (*os.File, error) {
	path := filepath.Join(dir, campaignLock)
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o644)
	switch {
	case errors.Is(err, fs.ErrExist):
		return nil, fmt.Errorf("%s: %w; wait until it has ended, or remove %s if it was killed", dir, ErrCampaignBusy,
			path)
	case err != nil:
		return nil, fmt.Errorf("cannot lock the campaign: %w", err)
	}
	return file, nil
}

// Some systems cannot remove an open file.
func unlockCampaign(file *os.File) error { return errors.Join(file.Close(), os.Remove(file.Name())) }
