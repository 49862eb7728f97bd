package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"kafkabench.example/kafka-bench/internal/result"
	"kafkabench.example/kafka-bench/internal/result/figure"
	"kafkabench.example/kafka-bench/internal/show/analysis"
	"kafkabench.example/kafka-bench/internal/show/compared"
	"kafkabench.example/kafka-bench/internal/show/junit"
	"kafkabench.example/kafka-bench/internal/show/pages"
	"kafkabench.example/kafka-bench/internal/show/report"
)

type compareFlags struct {
	formatFlags
	figures []string
	primary string
	failIf  []string
	junit   string
	alpha   float64
}

func compareCommand() *cobra.Command {
	var flags compareFlags
	c := &cobra.Command{
		Use:   "compare A B…",
		Short: "Test sets of runs against each other: better, worse, or nothing shown",
		Long: `Compare the runs of each further set with those of the first, the base. A set is

  a run's folder                     runs/20261121T200000Z-baseline-k3x7qa
  a folder that holds runs           before
  a campaign's folder, with a cell   runs/20261121T200000Z-sweep-acks-k3x7qa:all
  several of these, joined by commas
  a pattern                          'runs/*-baseline-*'

A cell is named by its name or by its values as a report prints them: none, none/0,
none,0 or compression=none,linger=0. A single campaign is compared cell by
cell with its first cell. Figures are taken from valid runs. A run that a set names twice
counts once, and a run in two sets is refused.

For each figure there are the medians, the difference with its bounds, the p-value
of a rank test and a plain word: better, worse, no difference shown, or too few
runs and how many more are needed. By default four figures are tested, so that five
runs of each set can decide: e2e response time p99, delivered/s, the peak of the lag,
and delivered ÷ acked in the window. The others are exploratory: they have no p and no
word. Figures that --figures names are all tested.

The primary figure is tested at the level --alpha: if nothing differs, at most this
part of comparisons calls it different. The other tested figures share another --alpha
(Holm). With fewer --figures each gets more of it: besides the primary one, six are
possible with sets of five runs, and one with sets of four.

--fail-if names a figure and by how much it may not be worse, as in
'e2e_response_time_p99 worse by 10%'; each figure knows which side is worse. It
fails if the figure is shown to be worse and the estimated difference is at least
that large. The conditions have their own chance of a false alarm, whatever other
figures are shown. With too few runs to show a difference, the condition is
undecided: a check that cannot fail must not pass. Neither does it pass if a run of
either set is invalid or missing, because only the survivors would be compared.

Exit codes: 0 compared, 2 bad input, 4 a condition of --fail-if holds, 6 one cannot be
decided.`,
		Example: `  kafka-bench compare runs/before-1,runs/before-2 runs/after-1,runs/after-2
  kafka-bench compare 'runs/before-*' 'runs/after-*' --figures e2e_response_time_p99,acked_per_s
  kafka-bench compare 'runs/before-*' 'runs/after-*' --fail-if 'e2e_response_time_p99 worse by 10%' --format markdown`,
		Args: needs(1, math.MaxInt, "two sets of runs: folders, or one campaign's folder (kafka-bench list)"),
		RunE: func(c *cobra.Command, args []string) error {
			return compareSets(args, flags, c.OutOrStdout(), c.ErrOrStderr())
		},
	}
	flags.add(c)
	f := c.Flags()
	f.StringVar(&flags.table, "table", "", "the table of a CSV: comparison, sets, configuration, checks")
	addList(f, &flags.figures, "figures", nil,
		"the figures to test, or all to show every figure and test the default ones")
	f.StringVar(&flags.primary, "primary", "",
		"the figure that is tested at the whole level (default: e2e_response_time_p99, or else the first figure of the sets that can be better or worse)")
	f.StringArrayVar(&flags.failIf, "fail-if", nil,
		"exit with 4 if this holds, as in 'e2e_response_time_p99 worse by 10%' (may be repeated)")
	f.StringVar(&flags.junit, "junit", "", "write the conditions of --fail-if to `FILE`, as JUnit XML for a CI server")
	f.Float64Var(&flags.alpha, "alpha", analysis.DefaultAlpha,
		"the chance of a false alarm of the primary figure, and of any other, 0.0001 to 0.5")
	return c
}

func (f compareFlags) options() (o analysis.CompareOptions, err error) {
	var faults []error
	o.Alpha = f.alpha
	if !(f.alpha >= 0.0001 && f.alpha <= 0.5) {
		faults = append(faults, fmt.Errorf("--alpha %v: give 0.0001 to 0.5, as a rule 0.05", f.alpha))
	}
	o.Figures, err = figuresNamed(f.figures)
	o.Explore = slices.Equal(f.figures, everyFigure)
	if err != nil {
		faults = append(faults, fmt.Errorf("--figures: %w", err))
	}
	if f.primary != "" {
		if o.Primary, err = figure.Named(f.primary); err != nil {
			faults = append(faults, fmt.Errorf("--primary: %w", err))
		}
	}
	for _, text := range f.failIf {
		condition, err := figure.ParseRegression(text)
		if err != nil {
			faults = append(faults, fmt.Errorf("--fail-if: %w", err))
			continue
		}
		o.FailIf = append(o.FailIf, condition)
	}
	return o, errors.Join(faults...)
}

var everyFigure = []string{"all"}

func figuresNamed(names []string) ([]figure.Figure, error) {
	if slices.Equal(names, everyFigure) {
		return figure.All(), nil
	}
	var figures []figure.Figure
	var faults []error
	for _, name := range names {
		f, err := figure.Named(strings.TrimSpace(name))
		if err != nil {
			faults = append(faults, err)
			continue
		}
		if !slices.ContainsFunc(figures, func(g figure.Figure) bool { return g.Name == f.Name }) {
			figures = append(figures, f)
		}
	}
	return figures, errors.Join(faults...)
}

func compareSets(args []string, flags compareFlags, stdout, stderr io.Writer) error {
	what, err := flags.options()
	how, formatErr := flags.formatFlags.options(stdout)
	if flags.junit != "" && len(flags.failIf) == 0 {
		err = errors.Join(err, errors.New("--junit writes the conditions of --fail-if; add one, or leave it out"))
	}
	if err := errors.Join(err, formatErr, checkFile("--junit", flags.junit, junitFile)); err != nil {
		return err
	}
	sets, err := readSets(args, progressTo(stderr))
	if err != nil {
		return err
	}
	found, err := analysis.Compare(sets, what)
	if err != nil {
		return err
	}
	inWords := compared.ComparisonOf(found)
	if err := errors.Join(writeCompared(inWords, how, stdout),
		writeJUnit(flags.junit, junit.Compared(inWords.Checks))); err != nil {
		return err
	}
	switch {
	case found.Failed():
		return errFailed
	case found.Undecided():
		return fmt.Errorf("%w: for a condition of --fail-if there are too few valid runs, some are left out, "+
			"or they do not have the figure", errUndecided)
	}
	return nil
}

func writeCompared(c *compared.Comparison, how report.Options, stdout io.Writer) error {
	if how.Format == report.AsHTML {
		return pages.Comparison(c).Write(stdout, pages.Options{})
	}
	return c.Write(stdout, how)
}

// A single campaign stands for several sets: one for each of its cells.
func readSets(args []string, tell func(string)) ([]analysis.Set, error) {
	if len(args) == 1 {
		c, err := result.ReadCampaign(args[0])
		if err == nil && len(c.Campaign.Cells) > 1 {
			return cellsOf(c), nil
		}
		return nil, errors.New("compare needs two sets of runs: folders, or one campaign's folder with several scenarios")
	}
	var sets []analysis.Set
	var faults []error
	for _, arg := range args {
		set, err := readSet(arg, tell)
		if err != nil {
			faults = append(faults, err)
			continue
		}
		sets = append(sets, set)
	}
	return sets, errors.Join(faults...)
}

func cellsOf(c *result.RecordedCampaign) (sets []analysis.Set) {
	for i := range c.Campaign.Cells {
		sets = append(sets, analysis.CellSet(c, i))
	}
	return sets
}

// readSet counts a run that cannot be read as missing if the set names more than this run; tell gets the reason.
func readSet(arg string, tell func(string)) (analysis.Set, error) {
	set := analysis.Set{Label: arg}
	for _, part := range partsOf(arg) {
		paths, err := expand(part)
		if err != nil {
			return set, err
		}
		for _, path := range paths {
			member, err := readMember(path)
			if err != nil && path != part {
				tell("warning: a run is missing: " + err.Error())
				member, err = analysis.Set{Missing: 1}, nil
			}
			if err != nil {
				return set, err
			}
			set.Runs, set.Missing = append(set.Runs, member.Runs...), set.Missing+member.Missing
		}
	}
	if len(set.Runs) == 0 {
		return set, fmt.Errorf("%s has no run that can be read", arg)
	}
	return set, nil
}

// expand returns the folders that match a pattern, or the runs in a folder. It returns any other
// part unchanged.
func expand(part string) (paths []string, err error) {
	if part == "" {
		return nil, errors.New("a set has an empty name in it: remove the extra comma")
	}
	if exists(part) || !strings.ContainsAny(part, "*?[") {
		if held := heldBy(part); len(held) > 0 {
			return held, nil
		}
		return []string{part}, nil
	}
	found, err := filepath.Glob(part)
	if err != nil {
		return nil, fmt.Errorf("pattern %s: %w", part, err)
	}
	for _, path := range found {
		if exists(filepath.Join(path, result.SummaryFile)) {
			paths = append(paths, path)
		}
	}
	if len(paths) == 0 {
		return nil, fmt.Errorf("no run's folder matches %s", part)
	}
	return paths, nil
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return !errors.Is(err, fs.ErrNotExist)
}

func readMember(path string) (analysis.Set, error) {
	dir, wanted := path, ""
	if colon := strings.LastIndex(path, ":"); colon >= 0 && !exists(path) {
		dir, wanted = path[:colon], path[colon+1:]
	}
	c, err := result.ReadCampaign(dir)
	switch {
	case err == nil:
		return readCell(c, wanted)
	case !errors.Is(err, result.ErrNotACampaign):
		return analysis.Set{}, err
	case wanted != "":
		return analysis.Set{}, fmt.Errorf("%s: only a campaign has several scenarios, and %w", path, err)
	}
	run, err := result.Read(dir)
	if err != nil {
		return analysis.Set{}, err
	}
	return analysis.Set{Label: run.Run.Run.Name, Runs: []*result.Recorded{run}}, nil
}

// readCell finds a cell by its name or values. If there is only one, wanted may be "".
func readCell(c *result.RecordedCampaign, wanted string) (analysis.Set, error) {
	cells := c.Campaign.Cells
	if wanted == "" && len(cells) == 1 {
		return analysis.CellSet(c, 0), nil
	}
	if wanted == "" && len(cells) > 1 {
		return analysis.Set{}, fmt.Errorf("%s has %d cells; name one, as in %s:%s; they are %s", c.Dir, len(cells),
			c.Dir, cells[0].Name, strings.Join(analysis.CellNames(&c.Campaign), ", "))
	}
	i, err := analysis.CellNamed(&c.Campaign, wanted)
	if err != nil {
		return analysis.Set{}, fmt.Errorf("%s: %w", c.Dir, err)
	}
	return analysis.CellSet(c, i), nil
}
