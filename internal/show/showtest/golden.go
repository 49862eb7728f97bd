// Package showtest supports the tests of packages that write reports. It makes runs, and compares
// reports with golden files and published schemas.
//
// Files to know: golden.go, schema.go, made.go (repeats of a run), gates.go (runs under
// backpressure), agents.go, queue.go, imported.go.
package showtest

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"kafkabench.example/kafka-bench/internal/show/report"
)

var update = flag.Bool("update", false, "write the golden reports anew")

// Golden compares a report with testdata/<name>. A name without an extension gets .txt.
func Golden(t *testing.T, name string, got []byte) {
	t.Helper()
	if filepath.Ext(name) == "" {
		name += ".txt"
	}
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.MkdirAll("testdata", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s differs; look at it, then run the test with -update if it is right:\n%s", path, got)
	}
}

// Screens checks the columns and lines of a report.
func Screens(t *testing.T, text []byte, width, lines int) {
	t.Helper()
	all := strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")
	if len(all) > lines {
		t.Errorf("%d lines, more than %d", len(all), lines)
	}
	for _, line := range all {
		if n := utf8.RuneCountInString(line); n > width {
			t.Errorf("a line of %d columns: %s", n, line)
		}
		if strings.TrimRight(line, " ") != line {
			t.Errorf("spaces at the end of %q", line)
		}
	}
}

// Written returns what write writes in a format.
func Written(t *testing.T, write func(*bytes.Buffer, report.Options) error, o report.Options) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := write(&b, o); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// AllFormats compares a report in every format with its golden file, and checks the columns and
// lines of its text.
func AllFormats(t *testing.T, name string, write func(*bytes.Buffer, report.Options) error) {
	t.Helper()
	for _, width := range []int{80, 100, 120} {
		got := Written(t, write, report.Options{Width: width})
		Screens(t, got, width, 200)
		Golden(t, fmt.Sprintf("%s-%d", name, width), got)
	}
	Golden(t, name+".md", Written(t, write, report.Options{Format: report.AsMarkdown}))
	Golden(t, name+".csv", Written(t, write, report.Options{Format: report.AsCSV}))
	Golden(t, name+".json", Written(t, write, report.Options{Format: report.AsJSON}))
}
