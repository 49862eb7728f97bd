package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestChartsAreListed(t *testing.T) {
	got := invoke(t, "chart")
	for _, want := range []string{"timeline", "percentiles", "\nlag           Consumer lag\n"} {
		if got.code != 0 || !strings.Contains(got.stdout, want) {
			t.Errorf("exit code %d, %q is not in\n%s%s", got.code, want, got.stdout, got.stderr)
		}
	}
}

func TestReportOfAFolderOfRuns(t *testing.T) {
	t.Chdir(t.TempDir())
	r := newRecorder(t)
	r.run("my runs/a", "a", 1)
	r.run("my runs/b", "b", 1)
	wantBad(t, invoke(t, "report", "my runs"), "my runs: not a run's folder: it has no run.json; it holds 2 runs: name one of them, or see all with: kafka-bench serve 'my runs'")
}

func TestChartBadInput(t *testing.T) {
	for args, want := range map[string]string{
		"chart lga x":                                  "did you mean lag?",
		"chart lag":                                    "chart needs a RUN",
		"chart lag x --of all --width 10":              "--width: 10 is not",
		"chart lag x --of all":                         `--of: "all" is neither`,
		"chart lag x --of scheduled":                   "--of scheduled is only for the chart percentiles; leave it out for lag",
		"chart lag x --to svg,pdf":                     "--to pdf: charts are written as SVG; leave it out, and convert the file, as in rsvg-convert --format pdf lag.svg > lag.pdf",
		"chart lag x --figures acked_per_s":            "--figures is only for the chart cells; leave it out for lag",
		"chart lga --width 10":                         "\n--width: 10 is not from 320 to 4000\nchart needs a RUN",
		"chart lag x --width 10":                       "--width: 10 is not from 320 to 4000",
		"chart cells x --figures e2e_response_time_p9": "--figures: ",
	} {
		if got := invoke(t, strings.Fields(args)...); got.code != 2 || !strings.Contains(got.stderr, want) {
			t.Errorf("%s: exit code %d, %s, want %q", args, got.code, got.stderr, want)
		}
	}
}

func TestChartIsWritten(t *testing.T) {
	recorded, err := filepath.Glob("../../results/*-baseline-*/intervals.ndjson")
	if err != nil || len(recorded) == 0 {
		t.Fatalf("results/ has no baseline with a series (%v)", err)
	}
	dir := t.TempDir()
	if got := invoke(t, "chart", "lag", filepath.Dir(recorded[0]), "--out", dir, "--to", "svg"); got.code != 0 {
		t.Fatal(got.stderr)
	}
	text, err := os.ReadFile(filepath.Join(dir, "lag.svg"))
	if err != nil || !strings.HasPrefix(string(text), "<svg") {
		t.Errorf("lag.svg begins with %.8q (%v)", text, err)
	}
}
