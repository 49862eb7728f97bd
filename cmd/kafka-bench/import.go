package main

import (
	"errors"
	"fmt"
	"io"
	"math"
	"time"

	"github.com/spf13/cobra"

	"kafkabench.example/kafka-bench/internal/result"
	"kafkabench.example/kafka-bench/internal/result/foreign"
	"kafkabench.example/kafka-bench/internal/show/report"
)

type importFlags struct {
	format string
	name   string
	unit   string
	out    string
}

func importCommand() *cobra.Command {
	var flags importFlags
	c := &cobra.Command{
		Use:   "import FILE…",
		Short: "Turn results of other tools into runs, to report and compare them",
		Long: `Turn results of other tools into run folders, so that report and compare take
them like ours. The format is recognised by the content:

  ssp                  SSP Kafka Bench's JSON
  producer-perf        what kafka-producer-perf-test prints
  consumer-perf        what kafka-consumer-perf-test prints
  share-consumer-perf  what kafka-share-consumer-perf-test prints
  e2e-latency          what kafka-e2e-latency prints
  omb                  the OpenMessaging Benchmark's JSON
  hlog                 an HdrHistogram interval log
  hgrm                 HdrHistogram's table of percentiles

A file may be UTF-8, or UTF-16 with a byte order mark. Copied output may have
colours, "> " or "| " or a log's prefix in front, and decimal commas. What can be
read in two ways is refused, with its line. Outputs of one tool that follow one
another in a file become a run each.

Each figure gets the name of what it measures: a latency that begins when a record
is sent is a service time here. A figure that a source does not have stays empty,
and run.imported.cannot_say names it; known errors of a source are among the
warnings. An imported run was not judged by the rules for our runs: its status is
"imported" where ours have "valid", its first warning says so, and comparisons say
"imported, not checked".

A log that report --hlog-merge wrote becomes its runs again, each with its name; if
there are several, --name is put before these names.

The unit of hgrm is not in the file: say it with --hlog-unit.

Nothing is imported unless all files can be read.`,
		Example: `  kafka-bench import results-overload.json
  kafka-bench import producer.txt consumer.txt --out imported
  kafka-bench import send_service_time.hlog --hlog-unit us --name tussle`,
		Args: needs(1, math.MaxInt, "a FILE: the result of another tool"),
		RunE: func(c *cobra.Command, paths []string) error {
			return importFiles(paths, flags, c.OutOrStdout())
		},
	}
	addOut(c, &flags.out)
	f := c.Flags()
	f.StringVar(&flags.format, "format", string(foreign.Auto), "auto, "+foreign.Choices())
	f.StringVar(&flags.name, "name", "", "the name of the runs (default: that of each file, without its ending)")
	f.StringVar(&flags.unit, "hlog-unit", "", "what a histogram counts in: ns, us or ms (default: ns for hlog; hgrm needs it)")
	return c
}

// importFiles reads all files before it writes any run.
func importFiles(paths []string, flags importFlags, stdout io.Writer) error {
	var unit time.Duration
	if flags.unit != "" {
		var err error
		if unit, err = foreign.ParseHlogUnit(flags.unit); err != nil {
			return fmt.Errorf("--hlog-unit %s: %w", flags.unit, err)
		}
	}
	options := foreign.Options{
		Format: foreign.Format(flags.format), Name: flags.name, HlogUnit: unit, Location: time.Local, Tool: tool(),
	}
	if err := options.Format.Check(); err != nil {
		return fmt.Errorf("--format %s: %w", flags.format, err)
	}
	var read []*foreign.Result
	var faults []error
	for _, path := range paths {
		r, err := foreign.Read(path, options)
		if err != nil {
			faults = append(faults, err)
			continue
		}
		read = append(read, r...)
	}
	if err := errors.Join(faults...); err != nil {
		return err
	}
	invalid := false
	var saved []report.Imported
	for _, r := range read {
		dir, err := r.Save(flags.out)
		if err != nil {
			return err
		}
		invalid = invalid || r.Run.Verdict.Status == result.Invalid
		saved = append(saved, report.Imported{Dir: dir, Run: &r.Run})
	}
	if err := report.Imports(stdout, saved,
		report.Options{Colour: coloured(stdout), Width: columnsOf(stdout)}); err != nil {
		return err
	}
	if invalid {
		return errInvalid
	}
	return nil
}
