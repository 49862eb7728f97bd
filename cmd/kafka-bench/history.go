package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"kafkabench.example/kafka-bench/internal/plan/textfile"
	"kafkabench.example/kafka-bench/internal/result"
	"kafkabench.example/kafka-bench/internal/show/analysis"
	"kafkabench.example/kafka-bench/internal/show/compared"
	"kafkabench.example/kafka-bench/internal/show/pages"
	"kafkabench.example/kafka-bench/internal/show/report"
)

type historyFlags struct {
	formatFlags
	figures []string
	config  string
	least   string // smallest change to show
	out     string
	label   []string
}

func historyCommand() *cobra.Command {
	var flags historyFlags
	c := &cobra.Command{
		Use:   "history NAME|DIR…",
		Short: "Follow one configuration over time, and find where its level changed",
		Long: `Show the runs of one configuration ordered by time, and where the level of a figure
changed: the first run of the new level, and what else changed in the records
(versions, the machine, the cluster).

A NAME is that of runs in --out; a DIR is a run's folder, or one that holds runs.
Runs belong together if their scenarios are the same but for the name, whatever
else changed. If there are several configurations, the one of the latest run is
shown and the others are listed; --config shows another.

Change points are found by E-Divisive (Matteson and James, 2014), which asks
whether the runs before and after come from one distribution, so that a single bad
run is no change. Changes of less than --min-change are taken out: they may be real,
and are too small to matter. Invalid runs are left out.`,
		Example: `  kafka-bench history baseline
  kafka-bench history baseline --figure e2e_response_time_p99 --figure acked_per_s --format csv`,
		Args: needs(1, math.MaxInt, "a NAME of runs, or the folders of runs (kafka-bench list)"),
		RunE: func(c *cobra.Command, args []string) error {
			return showHistory(args, flags, c.OutOrStdout(), c.ErrOrStderr())
		},
	}
	flags.add(c)
	addOut(c, &flags.out)
	addLabelled(c, &flags.label)
	f := c.Flags()
	f.StringVar(&flags.table, "table", "", "the table of a CSV: history, changes")
	f.StringArrayVar(&flags.figures, "figure", nil,
		"the figure to follow (may be repeated; default e2e_response_time_p99)")
	f.StringVar(&flags.config, "config", "", "the configuration to show, by the beginning of its hash")
	f.StringVar(&flags.least, "min-change", fmt.Sprintf("%g%%", 100*analysis.DefaultMinChange),
		"the least change to show, as a part of the level before; 0% shows every one")
	return c
}

func parseMinChange(text string) (float64, error) {
	if number, ok := strings.CutSuffix(strings.TrimSpace(text), "%"); ok {
		if v, err := strconv.ParseFloat(strings.TrimSpace(number), 64); err == nil && v >= 0 && !math.IsInf(v, 0) {
			return v / 100, nil
		}
	}
	return 0, fmt.Errorf("%q is not a share of 0%% or more; write it as 5%%", text)
}

func showHistory(args []string, flags historyFlags, stdout, stderr io.Writer) error {
	how, err := flags.options(stdout)
	if err != nil {
		return err
	}
	figures, err := figuresNamed(flags.figures)
	if err != nil {
		return fmt.Errorf("--figure: %w", err)
	}
	least, err := parseMinChange(flags.least)
	if err != nil {
		return fmt.Errorf("--min-change: %w", err)
	}
	var runs []*result.Recorded
	unreadable := make(map[string]error)
	for _, arg := range args {
		found, err := runsOf(arg, flags.out, unreadable)
		if err != nil {
			return err
		}
		runs = append(runs, found...)
	}
	tellUnreadable(stderr, unreadable)
	labels, err := parseLabels(flags.label)
	if err != nil {
		return err
	}
	all := len(runs)
	runs = slices.DeleteFunc(runs, func(r *result.Recorded) bool { return !result.HasLabels(r.Run.Run.Labels, labels) })
	if len(runs) == 0 && all > 0 {
		return fmt.Errorf("--label: none of %s is labelled %s; kafka-bench list shows the labels", count(all, "run"),
			result.LabelText(labels))
	}
	history, err := analysis.Over(runs,
		analysis.HistoryOptions{Figures: figures, Configuration: flags.config, MinChange: least})
	if err != nil {
		return err
	}
	if how.Format == report.AsHTML {
		return pages.History(compared.HistoryOf(history)).Write(stdout, pages.Options{})
	}
	return compared.HistoryOf(history).Write(stdout, how)
}

// An argument is a run's folder, a folder of runs, or a name of runs in the output folder. Only
// summaries are read, because a history may have many runs.
func runsOf(arg, out string, unreadable map[string]error) ([]*result.Recorded, error) {
	if run, err := result.Read(arg); err == nil || !errors.Is(err, result.ErrNotARun) {
		return []*result.Recorded{run}, err
	}
	if listed, err := result.List(arg); err == nil && len(listed) > 0 {
		return summaries(listed, "", unreadable), nil
	}
	listed, err := result.List(out)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	if runs := summaries(listed, arg, unreadable); len(runs) > 0 {
		return runs, nil
	}
	var names []string
	for _, l := range listed {
		if l.Err == nil && !slices.Contains(names, l.Run.Run.Name) {
			names = append(names, l.Run.Run.Name)
		}
	}
	if len(names) == 0 {
		return nil, fmt.Errorf("%s: no run's folder, and there are no runs in %s; say with --out where they are", arg,
			out)
	}
	slices.Sort(names)
	return nil, fmt.Errorf("%s: no run's folder, and no run in %s has this name; there are %s", arg, out,
		strings.Join(names, ", "))
}

// name "" selects all runs. Runs that cannot be read are added to unreadable: their name and time are unknown.
func summaries(listed []result.Listed, name string, unreadable map[string]error) (runs []*result.Recorded) {
	for _, l := range listed {
		switch {
		case l.Err != nil:
			unreadable[l.Dir] = l.Err
		case name == "" || l.Run.Run.Name == name:
			runs = append(runs, &result.Recorded{Dir: l.Dir, Run: *l.Run})
		}
	}
	return runs
}

const maxUnreadable = 10 // that are named

func tellUnreadable(stderr io.Writer, unreadable map[string]error) {
	if len(unreadable) == 0 {
		return
	}
	fmt.Fprintf(stderr, "warning: runs that cannot be read are left out: %d\n", len(unreadable))
	dirs := slices.Sorted(maps.Keys(unreadable))
	for _, dir := range dirs[:min(len(dirs), maxUnreadable)] {
		fmt.Fprintf(stderr, "  %s: %s\n", textfile.Line(dir), textfile.Line(unreadable[dir].Error()))
	}
	if more := len(dirs) - maxUnreadable; more > 0 {
		fmt.Fprintf(stderr, "  and %d more: kafka-bench list\n", more)
	}
}
