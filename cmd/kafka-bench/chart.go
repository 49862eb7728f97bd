package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"kafkabench.example/kafka-bench/internal/result"
	"kafkabench.example/kafka-bench/internal/result/figure"
	"kafkabench.example/kafka-bench/internal/show/chart"
	"kafkabench.example/kafka-bench/internal/show/draw"
	"kafkabench.example/kafka-bench/internal/show/layout"
)

type chartFlags struct {
	to      []string
	out     string
	width   float64
	figures []string
	of      string
}

// Widths of a chart are in CSS pixels.
const (
	leastChartWidth = 320
	usualChartWidth = 860
	mostChartWidth  = 4000
)

func chartCommand() *cobra.Command {
	var flags chartFlags
	c := &cobra.Command{
		Use:   "chart [NAME RUN…|CAMPAIGN]",
		Short: "Draw recorded runs or a campaign as SVG",
		Long: `Draw a chart of recorded runs, only from their files, into an SVG file with the chart's
name. Without arguments the charts are listed. rsvg-convert, of Debian's package
librsvg2-bin, makes a PDF or a PNG of it: rsvg-convert --format pdf lag.svg > lag.pdf

A chart shows up to eight runs together. For a CAMPAIGN, a chart over time shows one
run of each scenario: the one nearest to the median. If a run has no value at a time,
the line breaks. If a run lacks what a chart needs, the error names the field.

percentiles --of scheduled counts every record that was offered: those that did not
arrive have no time, and are named where the curve ends.`,
		Example: `  kafka-bench chart
  kafka-bench chart lag runs/20261121T200000Z-overload-k3x7qa
  kafka-bench chart percentiles runs/*-baseline-* --of scheduled --out images
  kafka-bench chart cells runs/20261121T200000Z-sweep-acks-k3x7qa --figures e2e_response_time_p99,acked_per_s`,
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) == 0 {
				return listCharts(c.OutOrStdout())
			}
			return drawChart(args[0], args[1:], flags, c.OutOrStdout())
		},
	}
	f := c.Flags()
	addList(f, &flags.to, "to", []string{"svg"}, "formats: svg")
	f.Lookup("to").Hidden = true // older versions wrote others too
	f.StringVar(&flags.out, "out", ".", "the folder that the files are written to")
	f.Float64Var(&flags.width, "width", usualChartWidth, "width in CSS pixels, 320 to 4000")
	addList(f, &flags.figures, "figures", nil, "for the chart cells: the figures, as in acked_per_s")
	f.StringVar(&flags.of, "of", "delivered", "for the chart percentiles: delivered, or scheduled")
	return c
}

func listCharts(w io.Writer) error {
	table := layout.Table{Gap: 2, Left: map[int]bool{1: true}}
	table.Add("chart", "what it shows")
	for _, c := range chart.All() {
		table.Add(c.Name, c.Title)
	}
	return printTable(w, &table)
}

func (f chartFlags) input(name string, dirs []string) (c chart.Chart, in chart.Input, err error) {
	var faults []error
	if c, err = chart.Named(name); err != nil {
		faults = append(faults, err)
	} else {
		if len(f.figures) > 0 && name != "cells" {
			faults = append(faults, fmt.Errorf("--figures is only for the chart cells; leave it out for %s", name))
		}
		if f.of == "scheduled" && name != "percentiles" {
			faults = append(faults, fmt.Errorf("--of scheduled is only for the chart percentiles; leave it out for %s", name))
		}
	}
	for _, name := range f.figures {
		named, err := figure.Named(name)
		if err != nil {
			faults = append(faults, fmt.Errorf("--figures: %w", err))
		}
		in.Figures = append(in.Figures, named)
	}
	for _, format := range f.to {
		if format != "svg" {
			faults = append(faults, fmt.Errorf("--to %s: charts are written as SVG; leave it out, and convert the file, "+
				"as in rsvg-convert --format pdf %s.svg > %[2]s.pdf (Debian's package librsvg2-bin)", format, name))
		}
	}
	if f.of != "delivered" && f.of != "scheduled" {
		faults = append(faults, fmt.Errorf("--of: %q is neither delivered nor scheduled", f.of))
	}
	if !(f.width >= leastChartWidth && f.width <= mostChartWidth) {
		faults = append(faults, fmt.Errorf("--width: %g is not from %d to %d", f.width, leastChartWidth, mostChartWidth))
	}
	if len(dirs) == 0 {
		faults = append(faults, errors.New("chart needs a RUN: the folder of a run (kafka-bench list)"))
	}
	in.OfScheduled = f.of == "scheduled"
	if len(faults) > 0 {
		return c, in, errors.Join(faults...)
	}
	read, err := readReported(dirs)
	in.Campaign = read.campaign
	in.Runs, _ = result.Distinct(read.runs) // a pattern may match a campaign and its runs
	if in.Campaign != nil {
		in.Runs = nil // the chart chooses among the campaign's runs
	}
	return c, in, err
}

func drawChart(name string, dirs []string, flags chartFlags, stdout io.Writer) error {
	c, in, err := flags.input(name, dirs)
	if err != nil {
		return err
	}
	spec, err := c.Draw(in)
	if err != nil {
		return err
	}
	scene := spec.Layout(flags.width)
	if err := os.MkdirAll(flags.out, 0o755); err != nil {
		return fmt.Errorf("--out: %w", err)
	}
	var svg bytes.Buffer
	if err := scene.SVG(&svg, draw.SVGOptions{Standalone: true}); err != nil {
		return err
	}
	path := filepath.Join(flags.out, name+".svg")
	if err := os.WriteFile(path, svg.Bytes(), 0o644); err != nil {
		return fmt.Errorf("--out: %w", err)
	}
	_, err = fmt.Fprintln(stdout, "wrote", path)
	return err
}
