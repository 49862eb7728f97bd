package result

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// campaignLock is a file in a campaign's folder that its writer holds locked. It
// is there only while somebody writes, or after a crash.
const campaignLock = ".lock"

// ErrCampaignBusy is what OpenCampaign wraps for a campaign that another process
// is carrying out.
var ErrCampaignBusy = errors.New("another kafka-bench is carrying it out")

// CampaignWriter keeps a campaign's folder while the campaign goes on. From
// CreateCampaign on the folder can be read, and what was saved last is there
// after a crash. It holds a lock on the folder until Close, so that no two tools
// carry out one campaign. On most Unixes the kernel gives it back when the process dies,
// however it dies, and none is locked for ever.
type CampaignWriter struct {
	dir, id string
	madeOut bool // outDir was not there before
	lock    *os.File
}

// CreateCampaign makes <outDir>/<UTC time>-<name>-<short id>/ for the campaign c
// and saves it. The name and the time are those of c; a time that is left open is
// now.
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

// OpenCampaign opens the campaign in dir to go on with it, and returns it as it
// was saved last. The error wraps ErrCampaignBusy where another process has it
// open, and ErrNotACampaign where there is none.
func OpenCampaign(dir string) (*CampaignWriter, Campaign, error) {
	// A folder that is no campaign's is not to be given a lock file.
	if _, err := ReadCampaignFile(osFiles{}, dir); err != nil {
		return nil, Campaign{}, err
	}
	lock, err := lockCampaign(dir)
	if err != nil {
		return nil, Campaign{}, err
	}
	w := &CampaignWriter{dir: dir, lock: lock}
	c, err := ReadCampaignFile(osFiles{}, dir) // again: what another has saved before it let go
	if err != nil {
		return nil, Campaign{}, errors.Join(err, w.Close())
	}
	w.id = c.Campaign.ID
	return w, *c, nil
}

// Dir is the campaign's folder.
func (w *CampaignWriter) Dir() string { return w.dir }

// ID is the campaign's short id: six letters and digits, the end of the folder's
// name.
func (w *CampaignWriter) ID() string { return w.id }

// Save replaces campaign.json by c in one step, completed with SchemaVersion and
// the campaign's ID. Lists are never null in it.
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

// Close lets go of the folder, which then holds campaign.json alone. Closing
// twice is no error.
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

// Discard removes the campaign's folder: for one in which no run was made. The
// outDir goes too where CreateCampaign had to make it and nobody else uses it.
func (w *CampaignWriter) Discard() error {
	if err := errors.Join(w.Close(), os.RemoveAll(w.dir)); err != nil {
		return fmt.Errorf("cannot remove the campaign's folder: %w", err)
	}
	if w.madeOut {
		_ = os.Remove(filepath.Dir(w.dir)) // refuses one that is not empty
	}
	return nil
}
