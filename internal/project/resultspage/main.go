// Command resultspage writes docs/RESULTS.md, and the result in README.md, from the runs in
// results/, compared with earlier reports of the same scenarios.
//
// No figure on that page is typed. The text is a template, its figures come from the runs in
// results/, and earlier results from a data file (prior.json). A test compares the page with the
// runs.
//
//	go run ./internal/project/resultspage                          writes docs/RESULTS.md
//	go run ./internal/project/resultspage -run bin/kafka-bench     makes the missing runs, then writes it
//	go run ./internal/project/resultspage -run bin/kafka-bench -only quick,overload
//	go run ./internal/project/resultspage -run bin/kafka-bench -only overload -flags "--brokers HOST:9092 --cluster-id ID"
//
// Runs are recorded in results/ one after the other, each with the command that a person would use.
// The same command again goes on with what was interrupted, and replaces invalid runs. The folder
// keeps only the summary, the scenario, the series, the events and the curves, without the
// histograms.
//
// Files to know: page.go, front.go (what README shows), charts.go, make.go, suites.go, codecs.go.
package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"kafkabench.example/kafka-bench/internal/kafka/probe"
	"kafkabench.example/kafka-bench/internal/result"
	"kafkabench.example/kafka-bench/internal/run/campaign"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	if err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "results:", err)
		os.Exit(1)
	}
}

type job struct {
	from   string // the folder of the runs
	page   string // the file that is written; the charts are in images next to it
	readme string // the file in which a block is written
	only   []string
	flags  []string        // further flags of kafka-bench run
	makers campaign.Makers // of runs that are made now
	// bench executes kafka-bench, which makes the runs; nil makes none.
	bench func(ctx context.Context, args []string, stderr io.Writer) error
}

func run(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	j, err := parse(args, stderr)
	if err != nil {
		return err
	}
	var failed error
	if j.bench != nil {
		if err := j.unchanged(ctx, "."); err != nil {
			return err
		}
		failed = j.makeRuns(ctx, stderr)
	}
	// Write the page despite an error, because the finished runs are kept.
	shelf, err := readShelf(j.from)
	if err != nil {
		return errors.Join(failed, err)
	}
	for _, missing := range shelf.missing() {
		fmt.Fprintf(stderr, "%s has no run of %s: its figures are blank\n", j.from, missing)
	}
	page, err := shelf.page()
	if err != nil {
		return errors.Join(failed, err)
	}
	if err := os.WriteFile(j.page, page, 0o644); err != nil {
		return errors.Join(failed, fmt.Errorf("cannot write the page: %w", err))
	}
	if err := j.writeReadme(shelf); err != nil {
		return errors.Join(failed, err)
	}
	lacking, err := shelf.writeCharts(filepath.Join(filepath.Dir(j.page), "images"))
	for _, sentence := range lacking {
		fmt.Fprintln(stderr, sentence)
	}
	if err != nil {
		return errors.Join(failed, err)
	}
	fmt.Fprintf(stdout, "wrote %s, its charts and the result in %s from %s\n", j.page, j.readme, j.from)
	return failed
}

func (j job) writeReadme(s *shelf) error {
	before, err := os.ReadFile(j.readme)
	if err != nil {
		return fmt.Errorf("cannot read the page whose result is written: %w", err)
	}
	after, err := s.readme(before)
	if err != nil || bytes.Equal(before, after) {
		return err
	}
	return os.WriteFile(j.readme, after, 0o644)
}

func parse(args []string, stderr io.Writer) (job, error) {
	var j job
	flags := flag.NewFlagSet("results", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.StringVar(&j.from, "from", "results", "folder of the runs")
	flags.StringVar(&j.page, "page", "docs/RESULTS.md", "the page to write")
	flags.StringVar(&j.readme, "readme", "README.md", "the page whose result is written")
	binary := flags.String("run", "", "make the missing runs with this kafka-bench")
	only := flags.String("only", "",
		"with -run: the scenarios to run; without it, all but the studies of backpressure and of queues and the suites of throughput and scale, which take hours")
	more := flags.String("flags", "--cluster kafka",
		"with -run: further flags of kafka-bench run, separated by blanks, that say where it runs")
	if err := flags.Parse(args); err != nil {
		return job{}, err
	}
	if flags.NArg() > 0 {
		return job{}, fmt.Errorf("%q is not a flag; there are no other arguments", flags.Arg(0))
	}
	if *binary != "" {
		j.bench, j.makers.Host = kafkaBench(*binary), result.Host(probe.DescribeHost())
	}
	known := slices.Concat(scenarios(), front, studies, suites, queues)
	j.only, j.flags = scenarios(), strings.Fields(*more)
	if *only != "" {
		j.only = strings.Split(*only, ",")
	}
	for _, name := range j.only {
		if !slices.Contains(known, name) {
			return job{}, fmt.Errorf("-only %s: there is no scenario %q; choose from %s", *only, name,
				strings.Join(known, ", "))
		}
	}
	return j, nil
}
