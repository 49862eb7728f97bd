package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"kafkabench.example/kafka-bench/internal/plan/scenario"
	"kafkabench.example/kafka-bench/internal/result"
	"kafkabench.example/kafka-bench/internal/run/campaign"
)

// repeat is the number of runs of each configuration. It was fixed before the first run.
const repeat = 5

// These presets take more than an hour, so their quick form is made.
var long = []string{"throughput-stored-data", "kmq-study", "kmq-drops-nack"}

// These would take more than an hour too, but their quick form lacks what the page's goals or their
// own question are about. So they are made with a shorter window, and most with fewer variants.
var shortened = map[string][]string{
	"kmq-online": {
		"variants=[1x1-all-plain,1x1-all-markers,1x1-all-offsetmap,1x1-all-share," +
			"2x5-all-plain,2x5-all-markers,2x5-all-offsetmap,2x5-all-share," +
			"4x25-all-plain,4x25-all-markers,4x25-all-offsetmap,4x25-all-share]",
		"phases.measure=8s",
	},
	"kmq-latency": {"phases.measure=10s"},
	"kmq-scale": {
		"variants=[1x1-plain,1x1-markers,2x5-plain,2x5-markers,4x25-plain,4x25-markers,6x25-plain,6x25-markers]",
		"phases.measure=8s",
	},
	"kmq-drops-silent": {
		"variants=[50-2s-markers,50-2s-offsetmap," +
			"50-cap4-2s-markers,50-cap4-2s-offsetmap,50-cap4-2s-share," +
			"50-cap4-15s-markers,50-cap4-15s-offsetmap,50-cap4-15s-share]",
		"phases.measure=10s",
	},
}

// The first run of each configuration keeps its series, and a repeat its summary and its curves. Only
// the repeats of a study of slopes keep their series too, because each slope is fitted to one.
var (
	kept = []string{
		result.SummaryFile, result.ScenarioFile, result.IntervalsFile, result.EventsFile, result.CurvesFile,
	}
	keptOfRepeat = []string{result.SummaryFile, result.CurvesFile}
)

// makeRuns records into results/. A scenario that cannot be run keeps its earlier runs, and the error
// names it.
func (j job) makeRuns(ctx context.Context, stderr io.Writer) error {
	var failed []error
	for i, name := range j.only {
		fmt.Fprintf(stderr, "\n%s, %d of %d\n", name, i+1, len(j.only))
		if err := j.makeRun(ctx, name, stderr); err != nil {
			failed = append(failed, fmt.Errorf("%s: %w", name, err))
		}
		if ctx.Err() != nil {
			break
		}
	}
	return errors.Join(failed...)
}

func command(name string) []string {
	if scenario, is := strings.CutPrefix(name, searched); is {
		return []string{"search", scenario, "--curve"}
	}
	form := formOf(name, slices.Contains(long, name))
	args := []string{"run", presetNamed(name)}
	if form.Driver != "" {
		args = append(args, "--driver", form.Driver)
	}
	for _, set := range form.Set {
		args = append(args, "--set", set)
	}
	if form.Quick {
		args = append(args, "--quick")
	}
	return append(args, "--repeat", strconv.Itoa(repeat))
}

// makeRun goes on with the latest campaign, or begins one if there is none that can go on. A search
// always begins from its start.
func (j job) makeRun(ctx context.Context, name string, stderr io.Writer) error {
	dir, whole, err := j.reopen(name, stderr)
	if err != nil {
		return err
	}
	args := append(command(name), "--out", j.from)
	if dir != "" {
		args = []string{"run", "--resume", dir}
	}
	if whole {
		fmt.Fprintf(stderr, "%s has %d valid runs of each configuration\n", dir, repeat)
	} else {
		err = j.bench(ctx, slices.Concat(args, j.flags), stderr) // the caller's flags override ours
	}
	return errors.Join(err, j.tidy(name))
}

// kafkaBench returns what executes the binary. Some of many runs may be disturbed, so an invalid run
// is not an error: only valid ones count, and the page gives the number of others.
func kafkaBench(binary string) func(ctx context.Context, args []string, stderr io.Writer) error {
	return func(ctx context.Context, args []string, stderr io.Writer) error {
		c := exec.CommandContext(ctx, binary, args...)
		c.Cancel = func() error { return c.Process.Signal(os.Interrupt) } // it stops its broker
		c.Stdout, c.Stderr = stderr, stderr
		if err := c.Run(); err != nil && !invalid(err) {
			return fmt.Errorf("kafka-bench %s: %w", strings.Join(args, " "), err)
		}
		return nil
	}
}

func invalid(err error) bool {
	var exit *exec.ExitError
	return errors.As(err, &exit) && exit.ExitCode() == 1
}

// reopen plans the missing runs of the campaign to go on with; dir is "" if there is none. whole
// reports whether no run is missing. A campaign that cannot go on is not changed.
func (j job) reopen(name string, stderr io.Writer) (dir string, whole bool, err error) {
	latest, _, err := j.campaigns(name)
	if err != nil || latest == nil || latest.Campaign.Campaign.Kind != result.KindRuns {
		return "", false, err
	}
	recorded, err := result.ReadCampaign(latest.Dir)
	if err != nil {
		return "", false, err
	}
	begun := campaign.OriginOf(recorded)
	refused := begun.CheckMethod() // runs of two methods do not compare
	if refused == nil {
		refused = outdated(name, latest.Campaign)
	}
	if refused == nil {
		if refused = begun.CheckMakers(j.makers); refused != nil && complete(latest.Campaign) {
			return latest.Dir, true, nil
		}
	}
	if refused != nil {
		fmt.Fprintf(stderr, "%s stays until another campaign replaces it: %v\n", latest.Dir, refused)
		return "", false, nil
	}
	journal, err := campaign.Resume(latest.Dir)
	if err != nil {
		return "", false, err
	}
	var faults []error
	for _, place := range journal.Pending() { // these runs are made again, in other folders
		if journal.Campaign().Runs[place].Dir != "" {
			faults = append(faults, os.RemoveAll(journal.Campaign().RunDir(latest.Dir, place)))
		}
	}
	if !journal.Empty() { // Close removes an empty one
		dir = latest.Dir
		faults = append(faults, journal.Extend(repeat))
	}
	return dir, journal.Campaign().Finished(), errors.Join(append(faults, journal.Close())...)
}

// complete reports whether a finished campaign has enough valid runs of each configuration.
func complete(c *result.Campaign) bool {
	valid := make([]int, len(c.Cells))
	for _, run := range c.Runs {
		if run.Status == result.Valid {
			valid[run.Cell]++
		}
	}
	return c.Finished() && !slices.ContainsFunc(valid, func(n int) bool { return n < repeat })
}

// campaigns returns the latest campaign of a scenario, nil if there is none, and all others in
// results/, also those of other scenarios.
func (j job) campaigns(name string) (latest *result.ListedCampaign, others []result.ListedCampaign, err error) {
	all, err := result.ListCampaigns(j.from)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil, nil
	}
	for _, listed := range all {
		if listed.Err != nil {
			return nil, nil, listed.Err
		}
	}
	for i := len(all) - 1; i >= 0; i-- {
		if presetOf(all[i].Campaign.Campaign.Name) == name {
			return &all[i], slices.Delete(slices.Clone(all), i, i+1), err
		}
	}
	return nil, all, err
}

// tidy removes files that results/ does not keep and, if the latest campaign is finished, earlier
// runs of the scenario, except the invalid ones that it replaces.
func (j job) tidy(name string) error {
	latest, others, err := j.campaigns(name)
	if err != nil || latest == nil {
		return err
	}
	if err := trim(latest, onlyNamed(name) && name != headline); err != nil || !latest.Campaign.Finished() {
		return err
	}
	gone, kept, err := j.former(name, latest, others)
	if err != nil {
		return err
	}
	for _, dir := range kept {
		if err := keepOnly(dir, keptOfRepeat, false); err != nil {
			return err
		}
	}
	for _, dir := range gone {
		if err := os.RemoveAll(dir); err != nil {
			return err
		}
	}
	return nil
}

// former returns the folders that the latest campaign replaces: those that go, and those of invalid
// runs, which stay.
func (j job) former(name string, latest *result.ListedCampaign, others []result.ListedCampaign) (
	gone, kept []string, err error,
) {
	owned := runsIn(latest)
	for i := range others {
		runs := runsIn(&others[i])
		owned = append(owned, runs...)
		if presetOf(others[i].Campaign.Campaign.Name) == name {
			gone = append(append(gone, others[i].Dir), runs...)
		}
	}
	runs, err := result.List(j.from)
	if err != nil {
		return nil, nil, err
	}
	for _, r := range runs {
		if r.Err != nil {
			return nil, nil, r.Err
		}
		lost := !slices.Contains(owned, r.Dir) && cellOf(latest.Campaign, r.Run) != nil
		switch {
		case !lost && !slices.Contains(gone, r.Dir):
		case replacedBy(latest.Campaign, r.Run):
			kept = append(kept, r.Dir)
		default:
			gone = append(gone, r.Dir)
		}
	}
	return slices.DeleteFunc(gone, func(dir string) bool { return slices.Contains(kept, dir) }), kept, nil
}

// replacedBy reports whether a former run stays, so that the page counts it: it is invalid, and
// runs of the same method and settings in c replace it.
func replacedBy(c *result.Campaign, r *result.Run) bool {
	cell := cellOf(c, r)
	return cell != nil && c.Campaign.Kind == result.KindRuns && r.Method() == result.Method &&
		r.Verdict.Status == result.Invalid && r.Finished() && !r.EndedByUser() &&
		unlike(result.Cell{Name: r.Run.Name, Scenario: r.Scenario}, cell.Scenario) == nil
}

// cellOf returns the configuration in c that has the name of the run; nil is none.
func cellOf(c *result.Campaign, r *result.Run) *result.Cell {
	at := slices.IndexFunc(c.Cells, func(cell result.Cell) bool { return cell.Name == r.Run.Name })
	if at < 0 {
		return nil
	}
	return &c.Cells[at]
}

func runsIn(c *result.ListedCampaign) (dirs []string) {
	for i, run := range c.Campaign.Runs {
		if run.Dir != "" {
			dirs = append(dirs, c.Campaign.RunDir(c.Dir, i))
		}
	}
	return dirs
}

// trim keeps the series only of a cell's runs up to the first valid run that has a series. With
// thin, only a part of each series stays.
func trim(c *result.ListedCampaign, thin bool) error {
	shown := make([]bool, len(c.Campaign.Cells))
	for i, run := range c.Campaign.Runs {
		if !run.Done() {
			continue
		}
		dir, files := c.Campaign.RunDir(c.Dir, i), kept
		if shown[run.Cell] && c.Campaign.Campaign.Answer != scenario.SlopeAnswer {
			files = keptOfRepeat
		}
		if err := keepOnly(dir, files, thin); err != nil {
			return err
		}
		_, err := os.Stat(filepath.Join(dir, result.IntervalsFile))
		shown[run.Cell] = shown[run.Cell] || run.Status == result.Valid && err == nil
	}
	return nil
}

// keepOnly does not change a folder that it has trimmed before.
func keepOnly(dir string, files []string, thin bool) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	entries = slices.DeleteFunc(entries, func(e fs.DirEntry) bool { return slices.Contains(files, e.Name()) })
	series := filepath.Join(dir, result.IntervalsFile)
	if thin && len(entries) > 0 && slices.Contains(files, result.IntervalsFile) {
		text, err := os.ReadFile(series)
		if err != nil {
			return err
		}
		if text, err = thinned(text); err != nil {
			return err
		}
		if err := os.WriteFile(series, text, 0o644); err != nil {
			return err
		}
	}
	for _, e := range entries {
		if err := os.RemoveAll(filepath.Join(dir, e.Name())); err != nil {
			return err
		}
	}
	return nil
}
