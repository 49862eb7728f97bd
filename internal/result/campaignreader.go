package result

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
)

// RecordedCampaign is a campaign with its runs.
type RecordedCampaign struct {
	Dir      string
	Campaign Campaign
	// Runs has an entry for each of Campaign.Runs; nil if the run was not made or cannot be read.
	Runs []*Recorded
	// Notes report runs that cannot be read, and problems with files of the others.
	Notes []string
}

// Of returns the readable runs of a cell, in the order of the plan.
func (c *RecordedCampaign) Of(cell int) []*Recorded {
	var runs []*Recorded
	for i, planned := range c.Campaign.Runs {
		if planned.Cell == cell && c.Runs[i] != nil {
			runs = append(runs, c.Runs[i])
		}
	}
	return runs
}

// ErrNotACampaign reports a directory without campaign.json.
var ErrNotACampaign = errors.New("not a campaign's folder")

// ReadCampaign reads the campaign in dir and its runs. A missing, broken or newer campaign.json is
// an error; a run that cannot be read gives a note.
func ReadCampaign(dir string) (*RecordedCampaign, error) { return ReadCampaignFS(osFiles{}, dir) }

// ReadCampaignFS is ReadCampaign for a file system; runs outside of it cannot be read.
func ReadCampaignFS(fsys fs.FS, dir string) (*RecordedCampaign, error) {
	c, err := ReadCampaignFile(fsys, dir)
	if err != nil {
		return nil, err
	}
	recorded := &RecordedCampaign{Dir: dir, Campaign: *c, Runs: make([]*Recorded, len(c.Runs))}
	had := map[string]bool{}
	for i, planned := range c.Runs {
		if planned.Dir == "" {
			continue
		}
		run, err := c.readRun(fsys, dir, i, had)
		had[planned.Dir] = true
		if err != nil {
			recorded.Notes = append(recorded.Notes,
				fmt.Sprintf("run %d of %d cannot be read: %v", i+1, len(c.Runs), err))
			continue
		}
		recorded.Runs[i] = run
	}
	recorded.Notes = append(recorded.Notes, recorded.notesOfRuns()...)
	return recorded, nil
}

// had are the folders of earlier runs.
func (c *Campaign) readRun(fsys fs.FS, dir string, place int, had map[string]bool) (*Recorded, error) {
	of := c.Runs[place].Dir
	switch {
	case of != Beside(of) || path.Base(of) == "..":
		return nil, fmt.Errorf("the folder %q is not beside that of the campaign", of)
	case had[of]:
		return nil, fmt.Errorf("the folder %q is that of an earlier run", of)
	}
	return ReadFS(fsys, c.RunDir(dir, place))
}

// ReadRun reads the run at a place of a campaign that was read from dir.
func (c *Campaign) ReadRun(dir string, place int) (*Recorded, error) {
	return c.readRun(osFiles{}, dir, place, nil)
}

// notesOfRuns returns each note once, with its run's folder or the number of runs that have it.
func (c *RecordedCampaign) notesOfRuns() (notes []string) {
	dirs := map[string][]string{}
	for _, run := range c.Runs {
		if run == nil {
			continue
		}
		for _, note := range run.Notes {
			if dirs[note] == nil {
				notes = append(notes, note)
			}
			dirs[note] = append(dirs[note], run.Dir)
		}
	}
	for i, note := range notes {
		where := dirs[note][0]
		if n := len(dirs[note]); n > 1 {
			where = fmt.Sprintf("%d runs", n)
		}
		notes[i] = where + ": " + note
	}
	return notes
}

// ListedCampaign is one campaign of an output folder.
type ListedCampaign struct {
	Dir      string
	Campaign *Campaign // nil if Err is set
	Err      error     // why this campaign cannot be read
}

// ListCampaigns reads the campaigns in outDir without their runs, the oldest first, and skips other
// folders. A campaign that cannot be read has its error.
func ListCampaigns(outDir string) ([]ListedCampaign, error) {
	return ListCampaignsFS(osFiles{}, outDir)
}

// ListCampaignsFS is ListCampaigns for a file system.
func ListCampaignsFS(fsys fs.FS, outDir string) ([]ListedCampaign, error) {
	dirs, err := Folders(fsys, outDir)
	if err != nil {
		return nil, fmt.Errorf("cannot list campaigns: %w", err)
	}
	var campaigns []ListedCampaign
	for _, dir := range dirs {
		c, err := ReadCampaignFile(fsys, dir)
		if errors.Is(err, ErrNotACampaign) {
			continue
		}
		campaigns = append(campaigns, ListedCampaign{Dir: dir, Campaign: c, Err: err})
	}
	return campaigns, nil
}

// ReadCampaignFile reads campaign.json without the runs, and checks that each run has an existing
// cell. Without the file the error wraps ErrNotACampaign.
func ReadCampaignFile(fsys fs.FS, dir string) (*Campaign, error) {
	c := new(Campaign)
	if err := readDocument(fsys, dir, CampaignFile, ErrNotACampaign, c); err != nil {
		return nil, err
	}
	for i, run := range c.Runs {
		if run.Cell < 0 || run.Cell >= len(c.Cells) {
			return nil, fmt.Errorf("%s: run %d is of cell %d, and there are %d", path.Join(dir, CampaignFile),
				i+1, run.Cell, len(c.Cells))
		}
	}
	if c.Search != nil {
		c.Search.Explain()
	}
	return c, nil
}
