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

// Journal keeps the runs of a campaign and their results. It saves every change. A Journal belongs
// to one goroutine, and its folder to one Journal.
type Journal struct {
	writer *result.CampaignWriter
	c      result.Campaign
}

// Create saves c in a new folder in out. A search begins without cells and runs, and adds them.
func Create(out string, c result.Campaign) (*Journal, error) {
	c.Campaign.StartedAt = time.Now().UTC()
	w, err := result.CreateCampaign(out, c)
	if err != nil {
		return nil, err
	}
	c.Campaign.ID = w.ID()
	return &Journal{writer: w, c: c}, nil
}

// Resume opens the campaign in dir to continue it. It adopts a finished run whose end the campaign
// did not record. If another process runs the campaign, the error wraps result.ErrCampaignBusy.
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

func (j *Journal) adopt(run *result.CampaignRun, place int) {
	if run.Dir == "" || run.Status != "" {
		return
	}
	recorded, err := j.c.ReadRun(j.Dir(), place)
	if err != nil {
		return
	}
	note(run, &recorded.Run)
}

func note(run *result.CampaignRun, r *result.Run) {
	run.Status, run.Error = status(r), ""
	if err := last(r); errors.Is(err, ErrAgentLost) {
		run.Error = err.Error()
	}
}

// Dir returns the campaign's folder.
func (j *Journal) Dir() string { return j.writer.Dir() }

// Campaign returns the current campaign. The caller must not change it.
func (j *Journal) Campaign() *result.Campaign { return &j.c }

// Pending returns the indexes of the runs still to be made, in order: runs that have not begun,
// were interrupted, or could not be started.
func (j *Journal) Pending() []int { return Pending(&j.c) }

// Pending returns the indexes of the runs of c still to be made; see Journal.Pending.
func Pending(c *result.Campaign) (places []int) {
	for place, run := range c.Runs {
		if !run.Done() {
			places = append(places, place)
		}
	}
	return places
}

// Cell adds a configuration and returns its index. The next change saves it.
func (j *Journal) Cell(name string, values []string, s scenario.Scenario) (int, error) {
	settings, err := result.SettingsOf(s)
	j.c.Cells = append(j.c.Cells, result.Cell{Name: name, Values: values, Scenario: settings})
	return len(j.c.Cells) - 1, err
}

// Add plans another run of a cell and returns its index. The next change saves it.
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

// Extend plans further runs until each cell has n runs that are valid or still to be made. Resuming
// the campaign makes them.
func (j *Journal) Extend(n int) error {
	for more := true; more; { // the cells take turns, as in the plan
		more = false
		for cell := range j.c.Cells {
			if j.usable(cell) < n {
				j.Add(cell)
				more = true
			}
		}
	}
	if len(j.Pending()) == 0 {
		return nil
	}
	j.c.Campaign.FinishedAt = time.Time{}
	return j.save()
}

func (j *Journal) usable(cell int) (n int) {
	for _, run := range j.c.Runs {
		if run.Cell == cell && run.Status != result.Invalid {
			n++
		}
	}
	return n
}

// Make makes the run at an index with m and records its result. An error means that there was no
// run, or that the journal could not be saved.
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

// Began records the folder of a run that begins.
func (j *Journal) Began(place int, dir string) error {
	run := &j.c.Runs[place]
	run.Dir, run.Status, run.Error = result.Beside(dir), "", ""
	return j.save()
}

// Ended records the status of a run and its folder dir, and the agents that it lost.
func (j *Journal) Ended(place int, dir string, r *result.Run) error {
	run := &j.c.Runs[place]
	run.Dir = result.Beside(dir)
	note(run, r)
	return j.save()
}

// Failed records why there was no run. A run that was cancelled before it began did not fail.
func (j *Journal) Failed(place int, why error) error {
	run := &j.c.Runs[place]
	run.Dir, run.Status, run.Error = "", result.Failed, why.Error()
	if errors.Is(why, context.Canceled) {
		run.Status, run.Error = "", ""
	}
	return j.save()
}

// Search records what a search has found so far.
func (j *Journal) Search(s result.Search) error {
	j.c.Search = &s
	return j.save()
}

// Finish records the end of the campaign.
func (j *Journal) Finish() error {
	j.c.Campaign.FinishedAt = time.Now().UTC()
	return j.save()
}

func (j *Journal) save() error { return j.writer.Save(j.c) }

// Close releases the campaign's folder, and removes it if the campaign is empty.
func (j *Journal) Close() error {
	if j.Empty() {
		return j.writer.Discard()
	}
	return j.writer.Close()
}

// Empty reports whether the campaign is not finished and none of its runs has a folder.
func (j *Journal) Empty() bool {
	for _, run := range j.c.Runs {
		if run.Dir != "" {
			return false
		}
	}
	return !j.c.Finished()
}
