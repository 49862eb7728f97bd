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

	"kafkabench.example/kafka-bench/internal/result"
)

// repeat is the number of runs of each configuration. It was fixed before the first run.
const repeat = 5

// These presets take more than an hour, so their quick form is made.
var long = []string{
	"throughput-stored-data", "kmq-study", "kmq-online", "kmq-scale", "kmq-drops-silent", "kmq-drops-nack",
}

// The first run of each configuration keeps its series, and a repeat its summary and its curves.
var (
	kept = []string{
		result.SummaryFile, result.ScenarioFile, result.IntervalsFile, result.EventsFile, result.CurvesFile,
	}
	keptOfRepeat = []string{result.SummaryFile, result.CurvesFile}
)

// makeRuns copies each run to results/ when it is finished. A scenario that cannot be run keeps its
// earlier runs, and the error names it.
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
	args := []string{"run", name}
	switch {
	case name == bySarama:
		args = []string{"run", presetNamed(name), "--driver", "sarama", "--set", "name=" + name}
	case slices.Contains(long, name):
		args = append(args, "--quick")
	}
	return append(args, "--repeat", strconv.Itoa(repeat))
}

func (j job) makeRun(ctx context.Context, name string, stderr io.Writer) error {
	out, err := os.MkdirTemp("", "kafka-bench-results-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(out)
	args := slices.Concat(command(name), j.flags) // the caller's flags override ours
	c := exec.CommandContext(ctx, j.binary, append(args, "--out", out)...)
	c.Cancel = func() error { return c.Process.Signal(os.Interrupt) } // it stops its broker
	c.Stdout, c.Stderr = stderr, stderr
	// Some of many runs may be disturbed. Only valid ones count, and the page gives the number of
	// others.
	if err := c.Run(); err != nil && !invalid(err) {
		return fmt.Errorf("kafka-bench %s: %w", strings.Join(args, " "), err)
	}
	return shelve(out, j.from, name)
}

func invalid(err error) bool {
	var exit *exec.ExitError
	return errors.As(err, &exit) && exit.ExitCode() == 1
}

// Earlier runs of the scenario are removed.
func shelve(out, shelf, name string) error {
	former, err := foldersOf(shelf, name)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	made, err := foldersOf(out, name)
	if err != nil {
		return err
	}
	if len(made) == 0 {
		return fmt.Errorf("the command left no run of %s", name)
	}
	for _, f := range made {
		if err := f.copyTo(filepath.Join(shelf, filepath.Base(f.dir))); err != nil {
			return err
		}
	}
	for _, f := range former {
		if slices.ContainsFunc(made, func(m folder) bool { return filepath.Base(m.dir) == filepath.Base(f.dir) }) {
			continue
		}
		if err := os.RemoveAll(f.dir); err != nil {
			return err
		}
	}
	return nil
}

type folder struct {
	dir   string
	files []string
	thin  bool // keep only a part of its series
}

// foldersOf returns the folder of a run, or of a campaign and all its runs.
func foldersOf(dir, name string) ([]folder, error) {
	campaigns, err := result.ListCampaigns(dir)
	if err != nil {
		return nil, err
	}
	var folders []folder
	var inCampaign []string
	for _, listed := range campaigns {
		if listed.Err != nil {
			return nil, listed.Err
		}
		c := listed.Campaign
		for i, planned := range c.Runs {
			if planned.Dir == "" {
				continue
			}
			run := folder{dir: c.RunDir(listed.Dir, i), files: kept, thin: onlyNamed(name) && name != headline}
			if planned.Round > 0 {
				run.files = keptOfRepeat
			}
			inCampaign = append(inCampaign, filepath.Base(run.dir))
			if presetOf(c.Campaign.Name) == name {
				folders = append(folders, run)
			}
		}
		if presetOf(c.Campaign.Name) == name {
			folders = append(folders, folder{dir: listed.Dir, files: []string{result.CampaignFile}})
		}
	}
	runs, err := result.List(dir)
	if err != nil {
		return nil, err
	}
	for _, listed := range runs {
		if listed.Err != nil {
			return nil, listed.Err
		}
		if listed.Run.Run.Name == name && !slices.Contains(inCampaign, filepath.Base(listed.Dir)) {
			folders = append(folders, folder{dir: listed.Dir, files: kept})
		}
	}
	return folders, nil
}

func (f folder) copyTo(dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	for _, name := range f.files {
		text, err := os.ReadFile(filepath.Join(f.dir, name))
		if name == result.CurvesFile && errors.Is(err, fs.ErrNotExist) {
			continue // an older run has none
		}
		if err != nil {
			return err
		}
		if f.thin && name == result.IntervalsFile {
			if text, err = thinned(text); err != nil {
				return err
			}
		}
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o644); err != nil {
			return err
		}
	}
	return nil
}
