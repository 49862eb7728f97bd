package result

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// The lock file exists only while a process writes, or after a crash.
const campaignLock = ".lock"

// ErrCampaignBusy reports a campaign that another process has open.
var ErrCampaignBusy = errors.New("another kafka-bench is carrying it out")

// CampaignWriter writes a campaign's folder while the campaign runs. After a crash the last saved
// state can be read. The writer locks the folder until Close; on most Unix systems the kernel
// releases a dead process's lock.
type CampaignWriter struct {
	dir, id string
	madeOut bool // outDir did not exist before
	lock    *os.File
}

// CreateCampaign creates <outDir>/<UTC time>-<name>-<short id>/ for the campaign c and saves it. A
// zero StartedAt is replaced by now.
func CreateCampaign(outDir string, c Campaign) (*CampaignWriter, error) {
	if c.Campaign.StartedAt.IsZero() {
		c.Campaign.StartedAt = time.Now()
	}
	_, missing := os.Stat(outDir)
	dir, id, err := makeFolder(outDir, c.Campaign.Name, c.Campaign.StartedAt)
	if err != nil {
		return nil, err
	}
	w := &CampaignWriter{dir: dir, id: id, madeOut: missing != nil}
	if w.lock, err = lockCampaign(dir); err == nil {
		err = w.Save(c)
	}
	if err != nil {
		return nil, errors.Join(err, w.Discard())
	}
	return w, nil
}

// OpenCampaign opens the campaign in dir to continue it, and returns its last saved state. The
// error wraps ErrCampaignBusy if another process has the campaign open, and ErrNotACampaign if dir
// has none.
func OpenCampaign(dir string) (*CampaignWriter, Campaign, error) {
	// Do not create a lock file in a folder without a campaign.
	if _, err := ReadCampaignFile(osFiles{}, dir); err != nil {
		return nil, Campaign{}, err
	}
	lock, err := lockCampaign(dir)
	if err != nil {
		return nil, Campaign{}, err
	}
	w := &CampaignWriter{dir: dir, lock: lock}
	c, err := ReadCampaignFile(osFiles{}, dir) // another process may have saved it before the lock
	if err != nil {
		return nil, Campaign{}, errors.Join(err, w.Close())
	}
	w.id = c.Campaign.ID
	return w, *c, nil
}

// Dir returns the campaign's folder.
func (w *CampaignWriter) Dir() string { return w.dir }

// ID returns the campaign's short ID: six letters and digits, the end of the folder's name.
func (w *CampaignWriter) ID() string { return w.id }

// Save atomically replaces campaign.json with c. It sets SchemaVersion and the ID, and replaces
// null lists with empty ones.
func (w *CampaignWriter) Save(c Campaign) error {
	c.SchemaVersion, c.Campaign.ID = SchemaVersion, w.id
	c.Campaign.StartedAt = c.Campaign.StartedAt.UTC()
	if c.Cells == nil {
		c.Cells = []Cell{}
	}
	if c.Runs == nil {
		c.Runs = []CampaignRun{}
	}
	if c.Search != nil {
		c.Search = c.Search.withLists()
	}
	b, err := encode(c, "  ")
	if err == nil {
		err = replace(w.dir, CampaignFile, b)
	}
	if err != nil {
		return fmt.Errorf("the campaign in %s could not be saved: %w", w.dir, err)
	}
	return nil
}

// Close unlocks the folder. A second Close returns nil.
func (w *CampaignWriter) Close() error {
	if w.lock == nil {
		return nil
	}
	err := unlockCampaign(w.lock)
	w.lock = nil
	if err != nil {
		return fmt.Errorf("the campaign in %s could not be closed: %w", w.dir, err)
	}
	return nil
}

// Discard removes the folder of a campaign without runs, and outDir if CreateCampaign created it
// and it is empty.
func (w *CampaignWriter) Discard() error {
	if err := errors.Join(w.Close(), os.RemoveAll(w.dir)); err != nil {
		return fmt.Errorf("cannot remove the campaign's folder: %w", err)
	}
	if w.madeOut {
		_ = os.Remove(filepath.Dir(w.dir)) // fails if it is not empty
	}
	return nil
}
