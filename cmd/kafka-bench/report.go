package main

import (
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strconv"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"kafkabench.example/kafka-bench/internal/result"
	"kafkabench.example/kafka-bench/internal/show/campaigns"
	"kafkabench.example/kafka-bench/internal/show/pages"
	"kafkabench.example/kafka-bench/internal/show/report"
)

type reportFlags struct {
	formatFlags
	judgingFlags
	by      string
	summary bool
	series  bool
	merge   string
}

func reportCommand() *cobra.Command {
	var flags reportFlags
	c := &cobra.Command{
		Use:   "report RUN…|CAMPAIGN",
		Short: "Render recorded runs or a campaign again: text, Markdown, CSV, JSON, a page with charts",
		Long: `Render recorded runs again, only from their files. Each RUN is a run's folder.
One run is shown on a screen; several are shown side by side. A run that is named
twice, by its folder or by a copy of that, counts once. A CAMPAIGN is a
campaign's folder: its report leads with the question and its answer in a
sentence, and a cell is called best only where it is shown to be better than
every other.

--format markdown is for a pull request. --format json is a document for programs,
with a version of its own and every figure by its name; --series adds all that the
runs' files have, but for the histogram logs. --format csv is one table,
with units in the names of its columns and raw numbers; --table chooses which one:
` + report.Tables() + `.
--format html is a page with charts, one file that needs nothing else: send it to a
file and open it in a browser.

--hlog-summary reads histograms.hlog instead: all values of each metric, warm-up
and measured, and whether they agree with run.json. --hlog-merge writes them to one
HdrHistogram log, with a tag for each run and metric, for the usual tools.

A percentile is printed if at least 10 values lie beyond it: p99.99 from 100,000
values on.

With --expect, --junit or --quiet it judges the runs, as run does. Without them it only
shows what was expected of them.

Exit codes: 0 shown; judged: 1 a run is invalid, 4 an expectation does not hold, 6 one is
not decided, or a run is missing; 2 bad input.`,
		Example: `  kafka-bench report runs/20261121T200000Z-overload-k3x7qa
  kafka-bench report runs/20261121T200000Z-overload-k3x7qa --format markdown
  kafka-bench report runs/20261121T200000Z-overload-k3x7qa --format html > overload.html
  kafka-bench report runs/20261121T200000Z-overload-k3x7qa --format csv --table intervals
  kafka-bench report runs/20261121T200000Z-overload-k3x7qa --format json --series
  kafka-bench report runs/20261121T200000Z-overload-k3x7qa --expect 'acked_ratio >= 0.5' --junit kafka-bench.xml
  kafka-bench report runs/20261121T200000Z-overload-k3x7qa --hlog-summary --hlog-merge all.hlog`,
		Args: needs(1, math.MaxInt, "a RUN: the folder of a run (kafka-bench list)"),
		RunE: func(c *cobra.Command, args []string) error {
			return renderReport(args, flags, c.OutOrStdout())
		},
	}
	flags.add(c)
	addJudging(c, &flags.judgingFlags)
	f := c.Flags()
	f.StringVar(&flags.table, "table", "", "the table of a CSV: "+report.Tables())
	f.StringVar(&flags.by, "by", "", "the figure that a campaign's scenarios are ranked by, as in acked_per_s")
	f.BoolVar(&flags.series, "series", false,
		"with --format json: the whole run, with its intervals, events and curves, in the document")
	f.BoolVar(&flags.summary, "hlog-summary", false, "sum up the runs' histogram logs")
	f.StringVar(&flags.merge, "hlog-merge", "", "write the runs' histograms to one log")
	return c
}

type formatFlags struct {
	format string
	table  string
}

func (f *formatFlags) add(c *cobra.Command) {
	c.Flags().StringVar(&f.format, "format", "text", "text, markdown, csv, json or html")
}

func (f formatFlags) options(w io.Writer) (report.Options, error) {
	format, err := report.ParseFormat(f.format)
	if err != nil {
		return report.Options{}, fmt.Errorf("--format: %w", err)
	}
	if format == report.AsHTML && isTerminal(w) {
		return report.Options{}, errors.New("--format html is a page for a browser; add > page.html")
	}
	if f.table != "" && format != report.AsCSV {
		return report.Options{}, errors.New("--table is only for a CSV; add --format csv, or leave it out")
	}
	return report.Options{Colour: coloured(w), Width: columnsOf(w), Format: format, Table: f.table}, nil
}

// columnsOf returns the width of the terminal w, or else the variable COLUMNS; 0 if unknown.
func columnsOf(w io.Writer) int {
	if p, piped := w.(pipe); piped {
		w = p.file
	}
	f, ok := w.(*os.File)
	if !ok {
		return 0
	}
	if width, _, err := term.GetSize(int(f.Fd())); err == nil {
		return width
	}
	width, err := strconv.Atoi(os.Getenv("COLUMNS"))
	if err != nil || width < 0 {
		return 0
	}
	return width
}

func renderReport(args []string, flags reportFlags, stdout io.Writer) error {
	options, err := flags.options(stdout)
	if err != nil {
		return err
	}
	options.By, options.Series = flags.by, flags.series
	if flags.series && options.Format != report.AsJSON {
		return errors.New("--series is only for JSON; add --format json, or leave it out")
	}
	expected, err := parseExpectations(flags.expect)
	if err := errors.Join(err, checkFile("--junit", flags.junit, junitFile)); err != nil {
		return err
	}
	read, err := readReported(args)
	if err != nil {
		return err
	}
	judges := flags.quiet || flags.junit != "" || len(expected) > 0
	switch {
	case judges && (flags.summary || flags.merge != ""):
		return errors.New("--hlog-summary and --hlog-merge judge no run; leave --expect, --junit and --quiet out")
	case judges && read.searches:
		return errors.New("a search judges its own probes; name the folder of a run, " +
			"or leave --expect, --junit and --quiet out")
	case flags.quiet && options.Format != report.AsText:
		return errors.New("--quiet prints lines of text; leave --format out, or --quiet")
	}
	for _, r := range read.runs {
		for _, e := range expected {
			r.Expected = append(r.Expected, e.String())
		}
	}
	if err := renderRead(read, flags, options, flags.body(stdout)); err != nil || !judges {
		return err
	}
	name, j := read.judge()
	return with(judged(j), flags.conclude(name, j, nil, stdout))
}

func renderRead(read reported, flags reportFlags, options report.Options, stdout io.Writer) error {
	campaign, runs := read.campaign, read.runs
	switch {
	case flags.by != "" && campaign == nil:
		return errors.New("--by ranks the scenarios of a campaign; name one campaign's folder, or leave it out")
	case flags.series && (campaign != nil || flags.summary || flags.merge != ""):
		return errors.New("--series is only for runs: name their folders, and leave --hlog-summary and --hlog-merge out")
	case (flags.summary || flags.merge != "") && options.Format == report.AsHTML:
		return errors.New("--hlog-summary and --hlog-merge have no page; leave --format html out")
	case flags.summary || flags.merge != "":
		return reportHistograms(runs, flags.merge, options, stdout)
	case options.Format == report.AsHTML && campaign != nil:
		page, err := pages.Study(campaign, flags.by)
		if err != nil {
			return err
		}
		return page.Write(stdout, pages.Options{})
	case options.Format == report.AsHTML:
		return pages.Runs(runs).Write(stdout, pages.Options{})
	case campaign != nil:
		return campaigns.Write(stdout, campaign, options)
	}
	return report.Runs(stdout, runs, options)
}

// reported is what a report shows.
type reported struct {
	campaign *result.RecordedCampaign // if it is the only folder
	runs     []*result.Recorded
	missing  []string // planned runs of campaigns
	searches bool
}

func (r reported) judge() (name string, j report.Judgement) {
	if r.campaign != nil {
		j = report.JudgeCampaign(r.campaign)
		return j.Name, j
	}
	once, _ := result.Distinct(r.runs)
	j = report.Judge(once)
	j.Missing = r.missing
	name = "runs"
	if len(once) == 1 {
		name = once[0].Run.Run.Name
	}
	return name, j
}

// A campaign's folder stands for its runs.
func readReported(dirs []string) (all reported, err error) {
	for _, dir := range dirs {
		c, err := result.ReadCampaign(dir)
		if errors.Is(err, result.ErrNotACampaign) {
			run, err := result.Read(dir)
			if err != nil {
				return reported{}, orOneOf(dir, err)
			}
			all.runs = append(all.runs, run)
			continue
		}
		if err != nil {
			return reported{}, err
		}
		all.campaign = c
		all.runs = append(all.runs, readable(c.Runs)...)
		all.missing = append(all.missing, report.JudgeCampaign(c).Missing...)
		all.searches = all.searches || c.Campaign.Search != nil
	}
	if len(dirs) > 1 {
		all.campaign = nil
	}
	if all.campaign == nil && len(all.runs) == 0 {
		return reported{}, errors.New("these campaigns have no run that can be read")
	}
	return all, nil
}

// orOneOf adds to the error of a folder that is not a run's how many runs it holds.
func orOneOf(dir string, err error) error {
	if held, _ := result.List(dir); errors.Is(err, result.ErrNotARun) && len(held) > 0 {
		return fmt.Errorf("%w; it holds %s: name one of them, or see all with: kafka-bench serve %s", err,
			count(len(held), "run"), shellWord(dir))
	}
	return err
}

func readable(planned []*result.Recorded) (runs []*result.Recorded) {
	for _, r := range planned {
		if r != nil {
			runs = append(runs, r)
		}
	}
	return runs
}

func reportHistograms(runs []*result.Recorded, merge string, options report.Options, stdout io.Writer) error {
	histograms, err := report.ReadHistograms(runs)
	if err != nil {
		return err
	}
	if merge != "" {
		if err := writeMerged(histograms, runs, merge); err != nil {
			return err
		}
	}
	return histograms.Write(stdout, options)
}

// writeMerged refuses to overwrite a log that it reads.
func writeMerged(histograms *report.Histograms, runs []*result.Recorded, path string) error {
	for _, r := range runs {
		if there, err := os.Stat(filepath.Join(r.Dir, result.HistogramsFile)); err == nil {
			if wanted, err := os.Stat(path); err == nil && os.SameFile(there, wanted) {
				return fmt.Errorf("--hlog-merge %s is the log of a run; name another file", path)
			}
		}
	}
	f, err := os.Create(path)
	if err != nil {
		return fmt.Errorf("--hlog-merge: %w", err)
	}
	return errors.Join(histograms.WriteMerged(f), f.Close())
}
