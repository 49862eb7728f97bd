package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"kafkabench.example/kafka-bench/internal/result"
	"kafkabench.example/kafka-bench/internal/show/junit"
)

// Standard output has only the report, in each format: what report prints of the folder in --out-file.
func TestReportOfARun(t *testing.T) {
	virtually(t, func(t *testing.T, l lab) {
		for _, format := range []string{"json", "markdown", "csv", "html"} {
			for _, repeat := range []string{"1", "2"} {
				out, file := filepath.Join(t.TempDir(), "runs"), filepath.Join(t.TempDir(), "folder")
				got := l.invoke(t, "run", write(t, tiny), "--cluster", "embedded", "--out", out, "--format", format, "--out-file", file, "--repeat", repeat)
				text, err := os.ReadFile(file)
				dir := strings.TrimSuffix(string(text), "\n")
				if err != nil || filepath.Dir(dir) != out {
					t.Fatalf("%s, %s runs: --out-file has %q, %v", format, repeat, text, err)
				}
				again := l.invoke(t, "report", dir, "--format", format)
				if got.code != exitValid || got.stdout != again.stdout || again.stdout == "" {
					t.Errorf("%s, %s runs: exit code %d, %q; it prints\n%.2000s\nand report prints\n%.2000s", format, repeat, got.code, got.stderr, got.stdout, again.stdout)
				}
				if !strings.HasPrefix(got.stderr, "s: ") {
					t.Errorf("%s, %s runs: progress is %q", format, repeat, got.stderr)
				}
			}
		}
	})
}

func TestLabels(t *testing.T) {
	virtually(t, func(t *testing.T, l lab) {
		t.Chdir(t.TempDir())
		const shown = "branch=main, commit=5feb6b2"
		for _, repeat := range []string{"1", "2"} {
			if got := l.invoke(t, "run", write(t, tiny), "--cluster", "embedded", "--label", "commit=5feb6b2", "--label", "branch=main", "--repeat", repeat); got.code != exitValid {
				t.Fatalf("exit code %d, %q", got.code, got.stderr)
			}
		}
		listed, err := result.List("runs")
		if err != nil || len(listed) != 3 {
			t.Fatalf("%d runs, %v", len(listed), err)
		}
		for _, r := range listed {
			if result.LabelText(r.Run.Run.Labels) != shown {
				t.Errorf("%s has the labels %v", r.Dir, r.Run.Run.Labels)
			}
			file := filepath.Join(t.TempDir(), "j.xml")
			l.invoke(t, "report", r.Dir, "--junit", file)
			if all := readJUnit(t, file).Suites[0].Properties.All; !slices.Contains(all, junit.Property{Name: "label.branch", Value: "main"}) {
				t.Errorf("the JUnit file has the properties %v", all)
			}
			for _, command := range []string{"report " + r.Dir, "report --format markdown " + r.Dir} {
				wantSaid(t, l.invoke(t, strings.Fields(command)...).stdout, shown)
			}
		}
		if n := strings.Count(l.invoke(t, "list").stdout, shown); n != 4 {
			t.Errorf("list shows %d labelled runs and campaigns, want 4", n)
		}
		for _, format := range []string{"text", "csv"} {
			if said := l.invoke(t, "history", "s", "--figure", "acked", "--format", format).stdout; strings.Count(said, shown) != 3 {
				t.Errorf("history as %s does not show the labels of 3 runs:\n%s", format, said)
			}
		}
		if said := l.invoke(t, "history", "s", "--figure", "acked", "--format", "markdown").stdout; strings.Count(said, "| "+shown+" |") != 3 {
			t.Errorf("the summary does not show the labels of 3 runs:\n%s", said)
		}
		for command, want := range map[string]string{
			"history s --figure acked --label branch=main":  "acked records: 10 runs are needed to show a change at all; there are 3.",
			"list --label branch=main --label commit=5feb6": "Latest runs:\n\n",
			"list --label branch=main":                      "Latest runs:\n  runs/",
		} {
			wantSaid(t, l.invoke(t, strings.Fields(command)...).stdout, want)
		}
		wantBad(t, l.invoke(t, "history", "s", "--label", "branch=mian"), "--label: none of 3 runs is labelled branch=mian; kafka-bench list shows the labels")
		var document struct {
			Runs []struct{ Labels map[string]string }
		}
		text := l.invoke(t, "history", "s", "--figure", "acked", "--format", "json").stdout
		if err := json.Unmarshal([]byte(text), &document); err != nil || len(document.Runs) != 3 || document.Runs[2].Labels["commit"] != "5feb6b2" {
			t.Errorf("the document has %+v, %v", document, err)
		}
	})
}

// Invalid runs are made again and stay; the last one names them. A valid run is not made again.
func TestRetryInvalid(t *testing.T) {
	virtually(t, func(t *testing.T, l lab) {
		for repeat, want := range map[string][]int{"1": {0, 1, 2}, "2": {0, 0, 1, 1, 2, 2}} {
			out := filepath.Join(t.TempDir(), "runs")
			args := append([]string{"run", write(t, tiny), "--cluster", "embedded", "--out", out, "--retry-invalid", "2", "--repeat", repeat}, strings.Fields(invalidRun)...)
			got := l.invoke(t, args...)
			listed, err := result.List(out)
			if err != nil || got.code != exitInvalid {
				t.Fatalf("exit code %d, %v, %q", got.code, err, got.stderr)
			}
			var again []int
			for _, r := range listed {
				again = append(again, len(r.Run.Run.RetryOf))
				for _, name := range r.Run.Run.RetryOf {
					if before, err := result.Read(filepath.Join(out, name)); err != nil || before.Run.Verdict.Status != result.Invalid {
						t.Errorf("%s was made in the place of %s: %v", r.Dir, name, err)
					}
				}
			}
			if slices.Sort(again); !slices.Equal(again, want) {
				t.Errorf("%s runs: there are runs after %v invalid ones, want %v", repeat, again, want)
			}
			said := map[string]string{"1": "tries invalid at try 3, after 2 invalid runs: ", "2": "4 invalid runs made again (--retry-invalid): 2 runs of the campaign took more than one try"}[repeat]
			if flat := strings.Join(strings.Fields(got.stdout), " "); !strings.Contains(flat, said) || strings.Count(got.stderr, " and is made again") != 2*len(want)/3 {
				t.Errorf("it does not say %q:\n%s%s", said, got.stdout, got.stderr)
			}
			last := slices.MaxFunc(listed, func(a, b result.Listed) int { return len(a.Run.Run.RetryOf) - len(b.Run.Run.RetryOf) })
			file := filepath.Join(t.TempDir(), "j.xml")
			for _, more := range []string{"--quiet", "--format&markdown"} {
				flags := append(strings.Split(more, "&"), "--junit", file, last.Dir)
				wantSaid(t, strings.Join(strings.Fields(l.invoke(t, append([]string{"report"}, flags...)...).stdout), " "), "invalid at try 3, after 2 invalid runs: ")
			}
			if all := readJUnit(t, file).Suites[0].Properties.All; !slices.Contains(all, junit.Property{Name: "tries", Value: "3"}) {
				t.Errorf("the JUnit file has the properties %v", all)
			}
		}
		out := filepath.Join(t.TempDir(), "runs")
		got := l.invoke(t, "run", write(t, tiny), "--cluster", "embedded", "--out", out, "--retry-invalid", "2")
		wantValid(t, got, onlyRun(t, out).Run)
	})
}

func TestCIFlagsAreRefused(t *testing.T) {
	out := filepath.Join(t.TempDir(), "runs")
	for more, want := range map[string]string{
		"--label&commit":                  `--label "commit": the label commit has no value; write commit=VALUE`,
		"--label&=5feb6b2":                `--label "=5feb6b2": write a label as KEY=VALUE; a key has up to 63 letters, digits, _, . and -, as in commit=5feb6b2`,
		"--label&a=1&--label&a=2":         `--label "a=2": a run has one value of a; leave one out`,
		"--label&a=\x1b[31m":              `--label "a=\x1b[31m": the value has characters that cannot be printed; leave them out`,
		"--label&a=\u202ex":               `--label "a=\u202ex": the value has characters that cannot be printed; leave them out`,
		"--out&json=x.json":               "--out json=x.json: it is the folder of the runs; a file is written by --format json > FILE",
		"--retry-invalid&-1":              "--retry-invalid -1: give 0 to 100",
		"--format&yaml":                   `--format: there is no format "yaml"; choose one of text, markdown, csv, json, html`,
		"--format&json&--quiet":           "--quiet prints lines of text, and no other --format; leave one of the two out",
		"--out-file&/dev/null/no/f":       "--out-file: open /dev/null/no/f: not a directory",
		"--out-file&" + filepath.Dir(out): "--out-file " + filepath.Dir(out) + " is a folder; name a file, as in " + filepath.Dir(out) + "/folder.txt",
	} {
		for _, command := range []string{"run", "search"} {
			if command == "search" && (strings.Contains(more, "--quiet") || strings.Contains(more, "--retry-invalid")) {
				continue
			}
			wantBad(t, invoke(t, append([]string{command, write(t, tiny), "--cluster", "embedded", "--out", out}, strings.Split(more, "&")...)...), want)
		}
	}
	wantNothing(t, out)
}

// A search has the labels in its campaign and its probes, and prints what report prints of the folder in --out-file.
func TestReportOfASearch(t *testing.T) {
	virtually(t, func(t *testing.T, l lab) {
		for _, format := range []string{"json", "markdown", "csv", "html"} {
			out, file := filepath.Join(t.TempDir(), "runs"), filepath.Join(t.TempDir(), "folder")
			got := l.invoke(t, "search", write(t, tiny), "--cluster", "embedded", "--out", out, "--probe", "100ms", "--confirm", "100ms",
				"--curve-of", "1k/s", "--expect", "failed <= 0", "--format", format, "--out-file", file, "--label", "commit=5feb6b2")
			c := onlySearch(t, out)
			text, err := os.ReadFile(file)
			if err != nil || string(text) != c.Dir+"\n" {
				t.Errorf("%s: --out-file has %q, %v; want %s", format, text, err, c.Dir)
			}
			again := l.invoke(t, "report", c.Dir, "--format", format)
			if got.code != exitValid || got.stdout != again.stdout || again.stdout == "" {
				t.Errorf("%s: exit code %d, %q; it prints\n%.2000s\nand report prints\n%.2000s", format, got.code, got.stderr, got.stdout, again.stdout)
			}
			const label = "commit=5feb6b2"
			if labels := result.LabelText(c.Campaign.Campaign.Labels); labels != label {
				t.Errorf("the campaign has the labels %q", labels)
			}
			for _, run := range c.Runs {
				if labels := result.LabelText(run.Run.Run.Labels); labels != label {
					t.Errorf("the probe in %s has the labels %q", run.Dir, labels)
				}
			}
		}
	})
}
