//go:build !unix || aix

package result

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// lockCampaign makes the lock file of the campaign in dir, or returns an error that
// wraps ErrCampaignBusy where it is there already. A crash leaves it behind, and
// nothing here tells that from a campaign that goes on: a person has to.
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

// unlockCampaign gives a lock back. An open file cannot be removed everywhere.
func unlockCampaign(file *os.File) error { return errors.Join(file.Close(), os.Remove(file.Name())) }
