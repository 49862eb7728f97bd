package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"kafkabench.example/kafka-bench/internal/plan/scenario"
	"kafkabench.example/kafka-bench/internal/result/figure"
	"kafkabench.example/kafka-bench/internal/run/campaign"
	"kafkabench.example/kafka-bench/internal/show/junit"
	"kafkabench.example/kafka-bench/internal/show/report"
)

// judgingFlags are the flags of commands that judge runs.
type judgingFlags struct {
	expect []string
	junit  string
	quiet  bool
}

func addJudging(c *cobra.Command, flags *judgingFlags) {
	f := c.Flags()
	f.StringArrayVar(&flags.expect, "expect", nil,
		"what every run must meet, as in 'e2e_response_time_p99 < 20ms' or 'acked_per_s >= 9k/s in every 10s' "+
			"(may be repeated)")
	f.StringVar(&flags.junit, "junit", "", "write validity and expectations to `FILE`, as JUnit XML for a CI server")
	f.BoolVar(&flags.quiet, "quiet", false, "print only the verdict and what failed")
}

func parseExpectations(texts []string) (all []figure.Expectation, err error) {
	var faults []error
	for _, text := range texts {
		e, err := figure.ParseExpectation(text)
		if err != nil {
			faults = append(faults, fmt.Errorf("--expect: %w", err))
			continue
		}
		all = append(all, e)
	}
	return all, errors.Join(faults...)
}

// suited returns the expectations as they are recorded. It refuses one that a run could not decide.
func suited(all []figure.Expectation, cells []scenario.Cell) (texts []string, err error) {
	var faults []error
	for _, e := range all {
		texts = append(texts, e.String())
		for _, cell := range cells {
			interval, window := cell.Scenario.Sampling.Interval, cell.Scenario.Phases.Measure
			if err := e.Suits(time.Duration(interval), time.Duration(window)); err != nil {
				faults = append(faults, fmt.Errorf("--expect: %w", campaign.Failure(cell.Scenario, err)))
				break
			}
		}
	}
	return texts, errors.Join(faults...)
}

func (f judgingFlags) words() (words []string) {
	if f.junit != "" {
		words = append(words, "--junit", f.junit)
	}
	if f.quiet {
		words = append(words, "--quiet")
	}
	return words
}

// body is where everything but the verdict goes.
func (f judgingFlags) body(w io.Writer) io.Writer {
	if f.quiet {
		return io.Discard
	}
	return w
}

// conclude writes what the flags ask for, after the reports. failed is why there is no run; with a
// run, the judgement says everything.
func (f judgingFlags) conclude(name string, j report.Judgement, failed error, stdout io.Writer) error {
	if len(j.Runs) > 0 {
		failed = nil
	}
	var faults []error
	if f.quiet && len(j.Runs)+len(j.Missing) > 0 {
		faults = append(faults, j.Quiet(stdout, report.Options{Colour: coloured(stdout), Width: columnsOf(stdout)}))
	}
	return errors.Join(append(faults, writeJUnit(f.junit, junit.Of(name, j, failed)))...)
}

func writeJUnit(file string, suites *junit.Suites) error {
	if file == "" {
		return nil
	}
	var b bytes.Buffer
	if err := suites.Write(&b); err != nil {
		return err
	}
	if err := writeFile(file, b.Bytes()); err != nil {
		return fmt.Errorf("--junit: %w", err)
	}
	return nil
}

const junitFile = "kafka-bench.xml"

// judged returns the error of a judgement, which ends a command.
func judged(j report.Judgement) error {
	switch {
	case j.Invalid():
		return errInvalid
	case j.Failed():
		return errFailed
	case j.Undecided():
		return errUndecided
	}
	return nil
}
