package campaign

import (
	"context"
	"errors"
	"fmt"
	"time"

	"kafkabench.example/kafka-bench/internal/plan/scenario"
	"kafkabench.example/kafka-bench/internal/result"
	"kafkabench.example/kafka-bench/internal/run/bench"
)

// Journal keeps a campaign's record: which runs there are to be, and what has
// come of each. It is saved with every change, so that a crash loses no more than
// the run that was under way. A journal belongs to one goroutine, and its folder
// to one journal.
type Journal struct {
	writer *result.CampaignWriter
	c      result.Campaign
}

// Create makes the folder of a new campaign in out and saves c in it. A plan's
// campaign has its cells and runs; one that chooses its runs as it goes begins
// with none and adds them.
func Create(out string, c result.Campaign) (*Journal, error) {
	c.Campaign.StartedAt = time.Now().UTC()
	w, err := result.CreateCampaign(out, c)
	if err != nil {
		return nil, err
	}
	c.Campaign.ID = w.ID()
	return &Journal{writer: w, c: c}, nil
}

// Resume opens the campaign in dir to go on with it. A run that had ended, and
// that the campaign had no time to say so of, is taken as it is. The error wraps
// result.ErrCampaignBusy where another process is at it.
func Resume(dir string) (*Journal, error) {
	w, c, err := result.OpenCampaign(dir)
	if err != nil {
		return nil, err
	}
	j := &Journal{writer: w, c: c}
	for i := range j.c.Runs {
		j.adopt(&j.c.Runs[i], i)
	}
	return j, nil
}

// adopt reads of a run with a folder and no status what became of it.
func (j *Journal) adopt(run *result.CampaignRun, place int) {
	if run.Dir == "" || run.Status != "" {
		return
	}
	recorded, err := result.Read(j.c.RunDir(j.Dir(), place))
	if err != nil {
		return // it is made again
	}
	run.Status = status(&recorded.Run)
}

// Dir is the campaign's folder.
func (j *Journal) Dir() string { return j.writer.Dir() }

// Campaign is the campaign as it is now. Its lists are the journal's own and are
// not to be changed.
func (j *Journal) Campaign() *result.Campaign { return &j.c }

// Pending are the places of the runs that are still to be made, in their order:
// those that were not begun, and those that were interrupted or could not be
// started.
func (j *Journal) Pending() []int { return Pending(&j.c) }

// Pending is Journal.Pending for a campaign that was read.
func Pending(c *result.Campaign) (places []int) {
	for place, run := range c.Runs {
		if !run.Done() {
			places = append(places, place)
		}
	}
	return places
}

// Cell adds a configuration and returns its place. It is saved with the next
// run.
func (j *Journal) Cell(name string, values []string, s scenario.Scenario) (int, error) {
	settings, err := result.SettingsOf(s)
	j.c.Cells = append(j.c.Cells, result.Cell{Name: name, Values: values, Scenario: settings})
	return len(j.c.Cells) - 1, err
}

// Add plans one more run of a cell, and returns its place. It is saved with the
// next change.
func (j *Journal) Add(cell int) int {
	round := 0
	for _, run := range j.c.Runs {
		if run.Cell == cell {
			round++
		}
	}
	j.c.Runs = append(j.c.Runs, result.CampaignRun{Cell: cell, Round: round})
	j.c.Campaign.Repeat = max(j.c.Campaign.Repeat, round+1)
	return len(j.c.Runs) - 1
}

// Make makes the run at a place with m and notes what comes of it. An error means
// that there was no run, or that the journal could not be saved.
func (j *Journal) Make(ctx context.Context, m Maker, place int, s scenario.Scenario) (*bench.Outcome, error) {
	var unsaved error
	outcome, err := m.Make(ctx, s, func(dir string) { unsaved = j.Began(place, dir) })
	if err != nil {
		return nil, errors.Join(Failure(s, err), j.Failed(place, err))
	}
	if err := errors.Join(unsaved, j.Ended(place, outcome.Dir, &outcome.Run)); err != nil {
		return nil, fmt.Errorf("%w: %w", bench.ErrNotSaved, err)
	}
	return outcome, nil
}

// Began notes the folder of a run that begins.
func (j *Journal) Began(place int, dir string) error {
	run := &j.c.Runs[place]
	run.Dir, run.Status, run.Error = result.Beside(dir), "", ""
	return j.save()
}

// Ended notes the verdict of a run that was made, in the folder dir.
func (j *Journal) Ended(place int, dir string, r *result.Run) error {
	run := &j.c.Runs[place]
	run.Dir, run.Status, run.Error = result.Beside(dir), status(r), ""
	return j.save()
}

// Failed notes why there was no run. A run that was abandoned before it began is
// none that failed.
func (j *Journal) Failed(place int, why error) error {
	run := &j.c.Runs[place]
	run.Dir, run.Status, run.Error = "", result.Failed, why.Error()
	if errors.Is(why, context.Canceled) {
		run.Status, run.Error = "", ""
	}
	return j.save()
}

// Search notes what a search has found so far.
func (j *Journal) Search(s result.Search) error {
	j.c.Search = &s
	return j.save()
}

// Finish notes that the campaign has come to its end.
func (j *Journal) Finish() error {
	j.c.Campaign.FinishedAt = time.Now().UTC()
	return j.save()
}

func (j *Journal) save() error { return j.writer.Save(j.c) }

// Close lets go of the campaign's folder. A campaign in which nothing was made
// and nothing is under way leaves none.
func (j *Journal) Close() error {
	if j.Empty() {
		return j.writer.Discard()
	}
	return j.writer.Close()
}

// Empty tells whether no run has left anything behind.
func (j *Journal) Empty() bool {
	for _, run := range j.c.Runs {
		if run.Dir != "" {
			return false
		}
	}
	return !j.c.Finished()
}
