package main

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"kafkabench.example/kafka-bench/internal/result"
	"kafkabench.example/kafka-bench/internal/show/report"
)

// ciFlags are the flags of run and search that a job of a CI server needs, besides judgingFlags.
type ciFlags struct {
	formatFlags
	outFile string
	label   []string
	retries int // of an invalid run; only of run
}

// maxRetries bounds --retry-invalid.
const maxRetries = 100

func addCI(c *cobra.Command, flags *ciFlags) {
	addReported(c, flags)
	c.Flags().IntVar(&flags.retries, "retry-invalid", 0,
		"make an invalid run again, up to this many times; the run that counts names the others")
}

func addReported(c *cobra.Command, flags *ciFlags) {
	flags.add(c)
	f := c.Flags()
	f.StringVar(&flags.outFile, "out-file", "",
		"write the path of the run's or campaign's folder to `FILE` as soon as it exists")
	f.StringArrayVar(&flags.label, "label", nil,
		"a label of every run, as in commit=5feb6b2; list, history and reports show it (may be repeated)")
}

func (f ciFlags) check() error {
	faults := []error{checkFile("--out-file", f.outFile, "folder.txt")}
	if !f.asText() {
		_, err := f.options(io.Discard)
		faults = append(faults, err)
	}
	if _, err := parseLabels(f.label); err != nil {
		faults = append(faults, err)
	}
	if f.retries < 0 || f.retries > maxRetries {
		faults = append(faults, fmt.Errorf("--retry-invalid %d: give 0 to %d", f.retries, maxRetries))
	}
	return errors.Join(faults...)
}

// addLabelled adds --label to a command that shows runs.
func addLabelled(c *cobra.Command, label *[]string) {
	c.Flags().StringArrayVar(label, "label", nil, "show only runs with this label, as in ref=main (may be repeated)")
}

func parseLabels(texts []string) (map[string]string, error) {
	var labels map[string]string
	var faults []error
	for _, text := range texts {
		key, value, _ := strings.Cut(text, "=")
		_, again := labels[key]
		switch err := result.CheckLabel(key, value); {
		case err != nil:
			faults = append(faults, fmt.Errorf("--label %q: %w", text, err))
		case again:
			faults = append(faults, fmt.Errorf("--label %q: a run has one value of %s; leave one out", text, key))
		case labels == nil:
			labels = map[string]string{key: value}
		default:
			labels[key] = value
		}
	}
	return labels, errors.Join(faults...)
}

// writeFolder writes the absolute path of dir to the file of --out-file.
func (f ciFlags) writeFolder(dir string) error {
	if f.outFile == "" {
		return nil
	}
	path, err := filepath.Abs(dir)
	if err == nil {
		err = writeFile(f.outFile, []byte(path+"\n"))
	}
	return flagFault("--out-file", err)
}

// report writes what was recorded in the format of the flags. Only the caller writes text.
func (f ciFlags) report(read reported, stdout io.Writer) error {
	options, err := f.options(stdout)
	if err != nil || options.Format == report.AsText {
		return err
	}
	return renderRead(read, reportFlags{formatFlags: f.formatFlags}, options, stdout)
}

func (f ciFlags) asText() bool { return f.format == "" || f.format == report.AsText.String() }

// words returns the flags to resume a campaign. The campaign has its labels.
func (f ciFlags) words() (words []string) {
	if !f.asText() {
		words = append(words, "--format", f.format)
	}
	if f.outFile != "" {
		words = append(words, "--out-file", f.outFile)
	}
	if f.retries > 0 {
		words = append(words, "--retry-invalid", fmt.Sprint(f.retries))
	}
	return words
}
