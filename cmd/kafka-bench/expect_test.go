package main

import (
	"encoding/json"
	"encoding/xml"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"kafkabench.example/kafka-bench/internal/show/junit"
	"kafkabench.example/kafka-bench/internal/show/report"
)

const invalidRun = "--set load.rate=1/h --set load.arrival=poisson" // no record is due

// The run offers 20 records in each of three intervals.
func TestExpect(t *testing.T) {
	virtually(t, func(t *testing.T, l lab) {
		for _, c := range []struct {
			expect []string
			more   string
			code   int
			says   string
		}{
			{[]string{"acked = 60", "failed<=0"}, "", exitValid, "EXPECTED MET  acked is 60, expected = 60\nEXPECTED MET  failed is 0, expected <= 0\n"},
			{[]string{"e2e_response_time_p50 > 1h"}, "", exitFailed, "EXPECTED FAILED  e2e_response_time_p50 is "},
			{[]string{"e2e_response_time_p99 < 1ns"}, "", exitUndecided, "EXPECTED UNDECIDED  e2e_response_time_p99 is not known: 60 records are too few for p99;"},
			{[]string{"e2e_response_time_p99 < 1ns", "acked < 60"}, "", exitFailed, "EXPECTED FAILED  acked is 60, expected < 60\n"},
			{[]string{"acked = 60"}, invalidRun, exitInvalid, "EXPECTED NOT JUDGED  acked is not known: nothing was produced; expected = 60\n"},
			{[]string{"lost = 0", "lost > 0"}, invalidRun, exitInvalid, "EXPECTED NOT JUDGED  lost is 0, expected = 0\nEXPECTED NOT JUDGED  lost is 0, expected > 0\n"},
			{[]string{"lost = 0", "lost > 0"}, invalidRun + " --quiet", exitInvalid, "\nEXPECTED NOT JUDGED  2 expectations\n"},
			{[]string{"lost = 0", "lost > 0"}, invalidRun + " --format markdown", exitInvalid, "\n- ⚠️ expected, not judged: lost is 0, expected = 0\n- ⚠️ expected, not judged: lost is 0, expected > 0\n"},
			{[]string{"lost = 0", "lost > 0"}, invalidRun + " --repeat 2 --quiet", exitInvalid, "\nEXPECTED NOT JUDGED  2 expectations\n"},
			{[]string{"lost = 0", "acked < 60"}, "--format markdown", exitFailed, "### ❌ FAILED s `ID`\n\n- ❌ expected, failed: acked is 60, expected \\< 60\n- ✅ expected, met: lost is 0,"},
			{[]string{"lost = 0", "acked < 60"}, "--format markdown --repeat 2", exitFailed, "### ❌ FAILED "},
			{[]string{"lost = 0", "e2e_response_time_p99 < 1ns"}, "--format markdown", exitUndecided, "### ⚠️ UNDECIDED s `ID`\n\n- ⚠️ expected, undecided: "},
			{[]string{"offered_per_s >= 190/s in every 100ms"}, "", exitValid, "EXPECTED MET  offered_per_s is "},
			{[]string{"scheduled >= 38 in every 200ms"}, "", exitValid, " at worst, from 0 s to 200 ms, expected >= 38 in every 200ms\n"},
			{[]string{"scheduled < 15 in every 100ms"}, "", exitFailed, " (3 of 3 stretches failed), expected < 15 in"},
			{[]string{"acked = 60"}, "--repeat 2", exitValid, "EXPECTED MET  acked = 60, in 2 of 2 runs\n"},
			{[]string{"acked < 60", "lost = 0"}, "--repeat 2", exitFailed, "EXPECTED FAILED  acked < 60, in 2 of 2 runs\n  - s (run 1): acked is 60, expected < 60\n  - s (run 2): acked is 60, expected < 60\nEXPECTED MET  lost = 0, in 2 of 2 runs\n"},
			{[]string{"acked < 60"}, "--set matrix.load.acks=[1,all]", exitFailed, "EXPECTED FAILED  acked < 60, in 2 of 2 runs\n  - s-1: acked is 60"},
			{[]string{"acked < 60"}, "--repeat 2", exitFailed, " · 0 of 1 expectation met · FAILED: acked is 60, expected < 60\n"},
		} {
			out := t.TempDir()
			file := filepath.Join(t.TempDir(), "j.xml")
			args := append([]string{"run", write(t, tiny), "--cluster", "embedded", "--out", out, "--junit", file}, strings.Fields(c.more)...)
			for _, e := range c.expect {
				args = append(args, "--expect", e)
			}
			got := l.invoke(t, args...)
			id := regexp.MustCompile("`[a-z0-9]{6}`")
			if got.code != c.code || !strings.Contains(id.ReplaceAllString(got.stdout+got.stderr, "`ID`"), c.says) || got.message() != "" {
				t.Errorf("%v %s: exit code %d, %q, want %d, with %q in\n%s", c.expect, c.more, got.code, got.stderr, c.code, c.says, got.stdout)
			}
			all := readJUnit(t, file)
			if bad := all.Failures + all.Errors; (bad > 0) != (c.code != exitValid) || all.Tests != len(all.Suites)*(1+len(c.expect)) {
				t.Errorf("%v %s: the JUnit file has %+v", c.expect, c.more, all)
			}
		}
	})
}

func readJUnit(t *testing.T, file string) (all junit.Suites) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err == nil {
		err = xml.Unmarshal(text, &all)
	}
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// What was expected of a run is recorded with it, and shown again.
func TestExpectedIsShownAgain(t *testing.T) {
	virtually(t, func(t *testing.T, l lab) {
		out := t.TempDir()
		got := l.invoke(t, "run", write(t, tiny), "--cluster", "embedded", "--out", out, "--expect", "acked<60")
		dir := onlyRun(t, out).Dir
		again := l.invoke(t, "report", dir)
		if got.code != exitFailed || again.code != exitValid || !strings.Contains(again.stdout, "EXPECTED FAILED  acked is 60, expected < 60\n") {
			t.Errorf("exit codes %d and %d; report says\n%s", got.code, again.code, again.stdout)
		}
		for args, want := range map[string]struct {
			code int
			says string
		}{
			"--quiet":              {exitFailed, "MEASUREMENT VALID  s  " + dir + "\nSYSTEM KEPT UP"},
			"--expect lost=0":      {exitFailed, "EXPECTED FAILED  acked is 60, expected < 60\nEXPECTED MET  lost is 0, expected = 0\n"},
			"--expect acked<60":    {exitFailed, "EXPECTED FAILED  acked is 60, expected < 60\n"},
			"--format markdown":    {exitValid, "- ❌ expected, failed: acked is 60, expected \\< 60\n"},
			"--format html":        {exitValid, "Expected, failed: acked is 60, expected &lt; 60"},
			dir + " --format json": {exitValid, "\"named_twice\": 1"},
		} {
			got := l.invoke(t, append([]string{"report", dir}, strings.Fields(args)...)...)
			if got.code != want.code || !strings.Contains(got.stdout, want.says) || got.stderr != "" {
				t.Errorf("report %s: exit code %d, want %d, %q, and no %q in\n%s", args, got.code, want.code, got.stderr, want.says, got.stdout)
			}
		}
		var document struct {
			Runs []struct {
				Expected []struct {
					Expected, Outcome, Text string
					Value                   *float64
				}
			}
		}
		text := l.invoke(t, "report", dir, "--format", "json", "--expect", "e2e_response_time_p99 < 1s").stdout
		if err := json.Unmarshal([]byte(text), &document); err != nil {
			t.Fatal(err)
		}
		all := document.Runs[0].Expected
		if len(all) != 2 || all[0].Expected != "acked < 60" || all[0].Outcome != "failed" || all[0].Value == nil || *all[0].Value != 60 ||
			all[1].Outcome != "undecided" || all[1].Value != nil {
			t.Errorf("the document has %+v", all)
		}
	})
}

func TestExpectIsRefused(t *testing.T) {
	out := filepath.Join(t.TempDir(), "runs")
	file := write(t, tiny)
	for _, dry := range []string{"--dry-run", "--dry-run=false"} {
		for expect, want := range map[string]string{
			"e2e_response_time_p99":                    `--expect: expectation "e2e_response_time_p99": write a figure, one of <= >= < > =, and a bound, as in e2e_response_time_p99 <= 50ms`,
			"ackd_per_s > 10/s":                        `--expect: expectation "ackd_per_s > 10/s": figure "ackd_per_s": there is no figure of that name; did you mean acked_per_s?`,
			"acked_ratio > 1 in every 1s":              `--expect: expectation "acked_ratio > 1 in every 1s": in every 1s: intervals do not have acked_ratio; they have acked, acked_bytes_per_s, acked_per_s, admitted, backlog_peak, deferred_peak, delivered_bytes_per_s, delivered_per_s, duplicates, duplicates_per_s, failed, lag_peak, offered_per_s, queue_acked_per_s, queue_in_flight_peak, scheduled, shed, time_lag_peak, unknown, and of each time p50, p90, p99 and max`,
			"acked > 1 in every 1s":                    `--expect: scenario s: expectation "acked > 1 in every 1s": in every 1s: the measured window is 300ms; set phases.measure=1s, or write in every 300ms`,
			"acked > 1 in every 150ms":                 `--expect: scenario s: expectation "acked > 1 in every 150ms": in every 150ms: it is no multiple of sampling.interval, which is 100ms; set sampling.interval=150ms, or write in every 200ms`,
			"send_response_time_p99<1s in every 200ms": `--expect: scenario s: expectation "send_response_time_p99 < 1s in every 200ms": in every 200ms: a percentile is known of one interval, and sampling.interval is 100ms; set sampling.interval=200ms, or write in every 100ms`,
		} {
			wantBad(t, invoke(t, "run", file, "--cluster", "embedded", "--out", out, dry, "--expect", expect), want)
		}
	}
	wantBad(t, invoke(t, "run", file, "--cluster", "embedded", "--out", out, "--quiet", "--progress", "full"), "--quiet prints no progress; leave it or --progress full out")
	wantBad(t, invoke(t, "run", file, "--cluster", "embedded", "--out", out, "--junit", file+"/no/j.xml"), "--junit: open "+file+"/no/j.xml: not a directory")
	wantBad(t, invoke(t, "run", file, "--cluster", "embedded", "--out", out, "--junit", "-"), "--junit -: standard output has the report; name a file, as in kafka-bench.xml")
	wantBad(t, invoke(t, "search", file, "--cluster", "embedded", "--out", out, "--expect", "failed = 0 in every 1s"), `expectation "failed = 0 in every 1s": a search judges the whole window of a probe; leave "in every" out`)
	wantNothing(t, out)
	dry := invoke(t, "run", file, "--cluster", "embedded", "--dry-run", "--expect", "acked=60", "--expect", "lost=0", "--junit", out)
	if dry.code != exitValid || !strings.Contains(dry.stdout, "expected  acked = 60, lost = 0\n") {
		t.Errorf("exit code %d\n%s%s", dry.code, dry.stdout, dry.stderr)
	}
	wantNothing(t, out)
}

func TestQuiet(t *testing.T) {
	virtually(t, func(t *testing.T, l lab) {
		for more, want := range map[string]string{
			"":                  "MEASUREMENT VALID  s  DIR\nSYSTEM KEPT UP  SENTENCE\n",
			"--expect acked=60": "MEASUREMENT VALID  s  DIR\nSYSTEM KEPT UP  SENTENCE\nEXPECTED MET  1 expectation\n",
			"--expect acked<60": "MEASUREMENT VALID  s  DIR\nSYSTEM KEPT UP  SENTENCE\nEXPECTED FAILED  acked is 60, expected < 60\n",
			"--repeat 2":        "MEASUREMENT VALID  s DIR · 2 of 2 runs valid\n",
			"--repeat 2 --expect acked<60 --expect lost=0": "MEASUREMENT VALID  s DIR · 2 of 2 runs valid\nEXPECTED FAILED  acked < 60, in 2 of 2 runs\n  - s (run 1): acked is 60, expected < 60\n  - s (run 2): acked is 60, expected < 60\n",
		} {
			out := t.TempDir()
			got := l.invoke(t, append([]string{"run", write(t, tiny), "--cluster", "embedded", "--out", out, "--quiet"}, strings.Fields(more)...)...)
			dirs, _ := filepath.Glob(filepath.Join(out, "*"))
			said := got.stdout
			for _, dir := range dirs {
				said = strings.ReplaceAll(said, dir, "DIR")
			}
			if _, sentence, ok := strings.Cut(said, "SYSTEM KEPT UP  "); ok {
				sentence, _, _ = strings.Cut(sentence, "\n")
				said = strings.ReplaceAll(said, sentence, "SENTENCE")
			}
			if said != want || got.stderr != "" {
				t.Errorf("%s: exit code %d, %q, and it says\n%s, want\n%s", more, got.code, got.stderr, said, want)
			}
		}
	})
}

func TestJUnitWithoutRun(t *testing.T) {
	file := filepath.Join(t.TempDir(), "j.xml")
	for more, runs := range map[string]int{"": 1, "--repeat 2": 2} {
		got := invoke(t, append([]string{"run", write(t, tiny), "--brokers", deadAddress(t), "--cluster-id", "none", "--out", t.TempDir(), "--junit", file},
			strings.Fields(more)...)...)
		all := readJUnit(t, file)
		if got.code != exitUnreachable || all.Tests != 1 || all.Errors != 1 || !strings.Contains(all.Suites[0].Cases[0].Error.Message, "no broker can be reached") {
			t.Errorf("%d runs: exit code %d, %q, %+v", runs, got.code, got.stderr, all)
		}
	}
}

// The file of an earlier run is not a result of a command line that is refused. It says why.
func TestRefusedLeavesNoStaleFile(t *testing.T) {
	for more, want := range map[string]string{
		"run --expect ackd>1":        "did you mean acked",
		"run --set load.rtae=1":      "load.rtae",
		"run --no-such-flag":         "--no-such-flag",
		"run nosuch.yaml":            "nosuch.yaml",
		"report nosuch":              "nosuch",
		"compare nosuch nosuch2":     "--junit writes the conditions of --fail-if",
		"run --set a=b --dry-run":    "", // does nothing
		"search --set load.rtae=1":   "", // has no --junit
		"run --quiet --expect acked": "write a figure",
	} {
		dir := t.TempDir()
		file, folder, scenario := filepath.Join(dir, "new", "j.xml"), filepath.Join(dir, "f"), write(t, tiny)
		stale := want == ""
		if stale || strings.Contains(more, "quiet") { // else there is no folder yet
			if err := writeJUnit(file, junit.Of("earlier", report.Judgement{}, errors.New("earlier"))); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.WriteFile(folder, []byte("/runs/earlier\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		args := append(strings.Fields(more), "--junit", file)
		if strings.HasPrefix(more, "run") {
			args = append(args, "--cluster", "embedded", "--out-file="+folder)
		}
		if !strings.Contains(more, "nosuch") {
			args = append(args, scenario)
		}
		got := invoke(t, args...)
		all := readJUnit(t, file)
		if said := all.Suites[0].Cases[0].Error.Text; got.code != exitBadInput || (all.Name == "earlier") != stale || !strings.Contains(said, want) {
			t.Errorf("%s: exit code %d, %q, and the file has %q", more, got.code, got.stderr, said)
		}
		if strings.HasPrefix(more, "run") && exists(folder) != stale {
			t.Errorf("%s: the file of --out-file is there: %v", more, !stale)
		}
	}
}

func TestInterruptedIsNotPassed(t *testing.T) {
	virtually(t, func(t *testing.T, l lab) {
		file := filepath.Join(t.TempDir(), "j.xml")
		out := t.TempDir()
		args := []string{"run", write(t, tiny), "--cluster", "embedded", "--out", out, "--junit", file, "--expect", "lost = 0", "--set", "phases.measure=5m"}
		got := l.interrupted(time.Second).invoke(t, args...)
		all := readJUnit(t, file)
		if got.code != exitInterrupted || all.Errors != 1 || all.Suites[0].Cases[0].Error.Type != "interrupted" || all.Suites[0].Cases[1].Error != nil {
			t.Errorf("exit code %d, %+v", got.code, all)
		}
		if again := l.invoke(t, "report", onlyRun(t, out).Dir, "--quiet"); again.code != exitUndecided {
			t.Errorf("report: exit code %d\n%s", again.code, again.stdout)
		}
	})
}

// A resumed campaign expects what it began with.
func TestResumedCampaignExpects(t *testing.T) {
	virtually(t, func(t *testing.T, l lab) {
		out := filepath.Join(t.TempDir(), "runs")
		file := filepath.Join(t.TempDir(), "j.xml")
		args := []string{"run", write(t, tiny), "--cluster", "embedded", "--out", out, "--repeat", "2", "--expect", "scheduled <= 60", "--junit", file,
			"--set", "phases.measure=2s"}
		got := l.interrupted(time.Second).invoke(t, args...)
		if all := readJUnit(t, file); got.code != exitInterrupted || !strings.Contains(got.stderr, " --junit "+file) || len(all.Suites) != 2 ||
			all.Suites[1].Cases[0].Error.Message != "run 2 of 2 was not made" {
			t.Errorf("exit code %d, %q, %+v", got.code, got.stderr, all)
		}
		dir := onlyCampaign(t, out).Dir
		wantBad(t, l.invoke(t, "run", "--resume", dir, "--expect", "lost = 0"), "--resume goes on with a campaign as it was planned, in its own folder; leave out --expect")
		if got = l.invoke(t, "report", dir, "--quiet"); got.code != exitFailed || !strings.Contains(got.stdout, "MEASUREMENT NOT COMPLETE  s "+dir+" · 1 of 2 runs valid\n  - s is interrupted, valid\n  - run 2 of 2 was not made\n") {
			t.Errorf("report: exit code %d\n%s", got.code, got.stdout)
		}
		got = l.invoke(t, "run", "--resume", dir, "--cluster", "embedded", "--junit", file)
		c := onlyCampaign(t, out)
		if all := readJUnit(t, file); got.code != exitFailed || all.Failures != 2 || !slices.Equal(c.Campaign.Campaign.Expected, []string{"scheduled <= 60"}) {
			t.Errorf("exit code %d, %q, %+v", got.code, got.stderr, all)
		}
		if again := l.invoke(t, "run", "--resume", dir, "--cluster", "embedded", "--quiet"); again.code != exitFailed {
			t.Errorf("a finished campaign: exit code %d\n%s", again.code, again.stdout)
		}
	})
}

func TestCompareWritesJUnit(t *testing.T) {
	recorded(t)
	const worse = "e2e_response_time_p99 worse by "
	got := invoke(t, "compare", "runs/base-*", "runs/slow-*", "--fail-if", worse+"10%", "--fail-if", worse+"50%", "--junit", "j.xml")
	all := readJUnit(t, "j.xml")
	if got.code != exitFailed || all.Tests != 2 || all.Failures != 1 || all.Suites[0].Cases[0].Name != "B: "+worse+"10%" {
		t.Errorf("exit code %d, %+v", got.code, all)
	}
	wantBad(t, invoke(t, "compare", "runs/base-*", "runs/slow-*", "--junit", "j.xml"), "--junit writes the conditions of --fail-if; add one, or leave it out")
}

func TestReportJudges(t *testing.T) {
	recorded(t)
	for args, want := range map[string]struct {
		code int
		says string
	}{
		"runs/base-1 runs/base-2 --expect lost=1":                {exitFailed, "EXPECTED FAILED  lost = 1, in 2 of 2 runs\n"},
		"runs/sweep-acks --expect e2e_response_time_p99>=0":      {exitValid, "EXPECTED MET  e2e_response_time_p99 >= 0, in 10 of 10 runs\n"},
		"runs/sweep-acks --expect lost<0 --quiet":                {exitFailed, "EXPECTED FAILED  lost < 0, in 10 of 10 runs\n  - sweep-acks-1 (run 1): lost is 0, expected < 0\n"},
		"runs/sweep-acks runs/base-1 --expect acked>0 --quiet":   {exitValid, "EXPECTED MET  1 expectation\n"},
		"runs/base-1 --expect lag_peak>=0&in&every&1s":           {exitUndecided, "EXPECTED UNDECIDED  lag_peak is not known"},
		"runs/sweep-acks --format json --expect acked>0":         {exitValid, `"expected": "acked > 0"`},
		"runs/sweep-acks --format markdown --expect acked>0":     {exitValid, "- ✅ expected, met: acked > 0, in 10 of 10 runs\n"},
		"runs/sweep-acks --format html --expect acked>0":         {exitValid, "Expected, met: acked &gt; 0, in 10 of 10 runs"},
		"runs/base-1 runs/slow-1 --format html --expect acked>0": {exitValid, "Expected, met: acked &gt; 0, in 2 of 2 runs"},
		"runs/base-1 runs/slow-1 --format json --expect acked<0": {exitFailed, `"outcome": "failed"`},
	} {
		fields := strings.Fields(args)
		for i := range fields {
			fields[i] = strings.ReplaceAll(fields[i], "&", " ")
		}
		if got := invoke(t, append([]string{"report"}, fields...)...); got.code != want.code || !strings.Contains(got.stdout, want.says) || got.stderr != "" {
			t.Errorf("report %s: exit code %d, want %d, %q, and no %q in\n%.3000s", args, got.code, want.code, got.stderr, want.says, got.stdout)
		}
	}
	wantBad(t, invoke(t, "report", "runs/base-1", "--expect", "lost=0", "--hlog-summary"), "--hlog-summary and --hlog-merge judge no run; leave --expect, --junit and --quiet out")
	wantBad(t, invoke(t, "report", "runs/base-1", "--quiet", "--format", "json"), "--quiet prints lines of text; leave --format out, or --quiet")
}
