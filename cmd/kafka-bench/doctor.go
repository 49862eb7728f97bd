package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"kafkabench.example/kafka-bench/internal/run/doctor"
	"kafkabench.example/kafka-bench/internal/show/layout"
)

func doctorCommand(in surroundings) *cobra.Command {
	var format, out string
	c := &cobra.Command{
		Use:   "doctor",
		Short: "Check what prevents runs on this machine, or makes their figures worse",
		Long: `Check this machine: Java, Maven, Kafka in the cache, the driver librdkafka, ports, open
files, disks, cores, memory, other load, stolen CPU, the clock, the CPU governor, huge
pages, and the calibration. Each line says what was found, what it costs, and the
remedy. Nothing is changed, downloaded or started; it takes two seconds.

  ok       it is as it should be
  note     runs work, and it costs something
  problem  it prevents some runs, or all
  unknown  this system does not report it

Exit codes: 0 runs work, at least on the embedded broker; 2 no run can work.`,
		Example: `  kafka-bench doctor
  kafka-bench doctor --format json`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if format != "text" && format != "json" {
				return fmt.Errorf("--format %s: choose text or json", format)
			}
			return examine(c.Context(), in, out, format, c.OutOrStdout())
		},
	}
	addOut(c, &out)
	c.Flags().StringVar(&format, "format", "text", "text or json")
	return c
}

const cpuSample = time.Second

func examine(ctx context.Context, in surroundings, out, format string, stdout io.Writer) error {
	ctx, cancel := in.untilInterrupt(ctx)
	defer cancel()
	findings := doctor.Examine(doctor.Read(ctx, doctor.Config{
		Out: out, Probes: in.probes, Librdkafka: librdkafkaDriver().Open != nil, Sample: cpuSample,
	}))
	if ctx.Err() != nil {
		return errInterrupted
	}
	if format == "json" {
		e := json.NewEncoder(stdout)
		e.SetIndent("", "  ")
		if err := e.Encode(findings); err != nil {
			return err
		}
	} else if err := printFindings(stdout, findings); err != nil {
		return err
	}
	if doctor.Prevented(findings, doctor.EveryRun) {
		return errors.New("no run can work on this machine; see the problems above")
	}
	return nil
}

func printFindings(w io.Writer, findings []doctor.Finding) error {
	table := layout.Table{Gap: 2, Left: map[int]bool{1: true, 2: true}}
	for _, f := range findings {
		text := f.Found
		if f.Cost != "" {
			text += ": " + f.Cost
		}
		if f.Remedy != "" {
			text += "; " + f.Remedy
		}
		table.Add(string(f.Status), f.Check, text)
	}
	if err := printTable(w, &table); err != nil {
		return err
	}
	fmt.Fprintln(w)
	printWrapped(w, "%s", conclude(findings))
	return nil
}

func conclude(findings []doctor.Finding) string {
	switch {
	case doctor.Prevented(findings, doctor.EveryRun):
		return "No run can work."
	case doctor.Prevented(findings, doctor.LocalKafka):
		return "Runs work on the embedded broker, and on an existing cluster (--brokers)."
	}
	return "Runs work, also on a local Apache Kafka."
}
