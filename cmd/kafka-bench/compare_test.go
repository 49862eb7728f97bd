package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"kafkabench.example/kafka-bench/internal/measure/stats"
	"kafkabench.example/kafka-bench/internal/plan/scenario"
	"kafkabench.example/kafka-bench/internal/show/analysis"
)

// recorded makes a working folder with five runs of a baseline, five slower ones, three of another
// scenario, and a campaign.
func recorded(t *testing.T) {
	t.Helper()
	t.Chdir(t.TempDir())
	r := newRecorder(t)
	for i := range 5 {
		r.run(filepath.Join("runs", "base-"+string(rune('1'+i))), "base", 1)
		r.run(filepath.Join("runs", "slow-"+string(rune('1'+i))), "slow", 1.3)
	}
	for i := range 3 {
		r.run(filepath.Join("runs", "few-"+string(rune('1'+i))), "few", 1)
	}
	r.campaign("runs/sweep-acks")
}

func TestCompareCommand(t *testing.T) {
	recorded(t)
	const worse = "e2e_response_time_p99 worse by "
	for _, c := range []struct {
		name string
		args []string
		code int
		want string
	}{
		{"sets by pattern", []string{"runs/base-*", "runs/slow-*", "--figures", "e2e_response_time_p99"}, exitValid, "B is shown to be worse in 1 of 1 figure."},
		{"sets by commas", []string{"runs/base-1,runs/base-2", "runs/slow-1,runs/slow-2"}, exitValid, "too few runs"},
		{"a dozen figures need more", []string{"runs/base-*", "runs/slow-*"}, exitValid, "A  runs/base-*"},
		{"cells of a campaign", []string{"runs/sweep-acks:sweep-acks-1", "runs/sweep-acks:all", "--figures", "e2e_response_time_p99"}, exitValid, "B is shown to be worse"},
		{"a campaign alone", []string{"runs/sweep-acks", "--figures", "e2e_response_time_p99"}, exitValid, "B  sweep-acks-all"},
		{"a condition that holds", []string{"runs/base-*", "runs/slow-*", "--fail-if", worse + "10%"}, exitFailed, "FAILED     B: " + worse + "10%"},
		{"a condition that does not", []string{"runs/base-*", "runs/slow-*", "--fail-if", worse + "50%"}, exitValid, "passed     B: " + worse + "50%"},
		{"two, of which one holds", []string{"runs/base-*", "runs/slow-*", "--fail-if", worse + "50%", "--fail-if", worse + "10%"}, exitFailed, "FAILED     B: " + worse + "10%"},
		{"better is not worse", []string{"runs/slow-*", "runs/base-*", "--fail-if", worse + "0%"}, exitValid, "passed"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := invoke(t, append([]string{"compare"}, c.args...)...)
			if got.code != c.code || !strings.Contains(got.stdout, c.want) || got.stderr != "" {
				t.Errorf("exit code %d and %q, want %d, with %q in\n%s", got.code, got.stderr, c.code, c.want, got.stdout)
			}
		})
	}
}

func TestCompareUndecided(t *testing.T) {
	recorded(t)
	got := invoke(t, "compare", "runs/few-*", "runs/slow-1,runs/slow-2,runs/slow-3", "--fail-if", "e2e_response_time_p99 worse by 10%")
	if got.code != exitUndecided || !strings.Contains(got.stdout, "UNDECIDED") || !strings.Contains(got.stdout, "1 more of each would do") || !strings.Contains(got.message(), "undecided: for a condition of --fail-if") {
		t.Errorf("exit code %d, %q\n%s", got.code, got.stderr, got.stdout)
	}
}

func TestBadComparisons(t *testing.T) {
	recorded(t)
	for _, c := range []struct{ args, want string }{
		{"compare", "compare needs two sets of runs: folders, or one campaign's folder (kafka-bench list)"},
		{"compare runs/base-1", "compare needs two sets of runs: folders, or one campaign's folder with several scenarios"},
		{"compare runs/base-1 nosuch", "nosuch: not a run's folder: it has no run.json"},
		{"compare runs/base-1 runs/nosuch-*", "no run's folder matches runs/nosuch-*"},
		{"compare runs/base-1, runs/slow-1", "a set has an empty name in it: remove the extra comma"},
		{"compare runs/base-1 runs/sweep-acks", "runs/sweep-acks has 2 cells; name one, as in runs/sweep-acks:sweep-acks-1; they are sweep-acks-1 (1), sweep-acks-all (all)"},
		{"compare runs/base-1 runs/sweep-acks:none", `runs/sweep-acks: no scenario "none"; they are sweep-acks-1 (1), sweep-acks-all (all)`},
		{"compare runs/base-1 runs/slow-1 --alpha 2", "--alpha 2: give 0.0001 to 0.5, as a rule 0.05"},
		{"compare runs/base-1 runs/slow-1 --format pdf", `--format: there is no format "pdf"; choose one of text, markdown, csv, json, html`},
		{"compare runs/base-1 runs/slow-1 --table checks", "--table is only for a CSV; add --format csv, or leave it out"},
		{"compare runs/base-1 runs/slow-1 --format csv --table x", `there is no table "x" here; choose one of checks, comparison, configuration, sets`},
		{"report runs/base-1 --by acked_per_s", "--by ranks the scenarios of a campaign; name one campaign's folder, or leave it out"},
		{"report runs/base-1 --hlog-summary", "runs/base-1 has no histograms.hlog: there are no histograms to read"},
		{"history nosuch", "nosuch: no run's folder, and no run in runs has this name; there are base, few, slow, sweep-acks-1, sweep-acks-all"},
		{"history nosuch --out empty", "nosuch: no run's folder, and there are no runs in empty; say with --out where they are"},
		{"history base --min-change 5", `--min-change: "5" is not a share of 0% or more; write it as 5%`},
		{"history base --min-change -5%", `--min-change: "-5%" is not a share of 0% or more; write it as 5%`},
		{"history base --config zz", `0 configurations begin with "zz"`},
	} {
		t.Run(c.args, func(t *testing.T) {
			got := invoke(t, strings.Fields(c.args)...)
			if got.code != exitBadInput || !strings.HasPrefix(got.message(), c.want) || got.stdout != "" {
				t.Errorf("exit code %d and %q, want %q", got.code, got.message(), c.want)
			}
		})
	}
	for _, args := range [][]string{
		{"compare", "runs/base-1", "runs/slow-1", "--figures", "e2e_latency"},
		{"compare", "runs/base-1", "runs/slow-1", "--primary", "e2e_response_time_p98"},
		{"compare", "runs/base-1", "runs/slow-1", "--fail-if", "e2e_response_time_p99 > 3"},
		{"history", "base", "--figure", "bogus"},
		{"report", "runs/sweep-acks", "--by", "bogus"},
	} {
		if got := invoke(t, args...); got.code != exitBadInput || got.message() == "" {
			t.Errorf("%v: exit code %d, %q", args, got.code, got.stderr)
		}
	}
}

func TestHistoryCommand(t *testing.T) {
	recorded(t)
	r := newRecorder(t)
	for i := range 12 {
		r.run(filepath.Join("runs", "long-"+string(rune('a'+i))), "long", 1)
	}
	for _, c := range []struct{ args, want string }{
		{"history long", "no change of 5 % or more is shown over 12 runs"},
		{"history long --min-change 12.5%", "no change of 12.5 % or more is shown over 12 runs"},
		{"history long --min-change 0%", "no change is shown over 12 runs"},
		{"history base", "there are 5."},
		{"history runs", "r"},
		{"history long --figure acked_per_s --figure e2e_response_time_p99", "acked: no change of 5 %"},
	} {
		if got := invoke(t, strings.Fields(c.args)...); got.code != exitValid || !strings.Contains(got.stdout, c.want) {
			t.Errorf("%s: exit code %d, %q, and no %q in\n%s", c.args, got.code, got.stderr, c.want, got.stdout)
		}
	}
}

func TestReportCampaign(t *testing.T) {
	recorded(t)
	if got := invoke(t, "report", "runs/sweep-acks"); got.code != exitValid || !strings.Contains(got.stdout, "1 is best by e2e response time p99") {
		t.Errorf("exit code %d, %q\n%s", got.code, got.stderr, got.stdout)
	}
	if got := invoke(t, "report", "runs/sweep-acks", "--by", "acked_per_s"); got.code != exitValid || !strings.Contains(got.stdout, "No difference shown by acked") {
		t.Errorf("exit code %d, %q\n%s", got.code, got.stderr, got.stdout)
	}
	if got := invoke(t, "report", "runs/sweep-acks", "runs/base-1"); got.code != exitValid || !strings.Contains(got.stdout, "sweep-acks-all") || !strings.Contains(got.stdout, "base") {
		t.Errorf("exit code %d, %q\n%s", got.code, got.stderr, got.stdout)
	}
}

func TestReportHistograms(t *testing.T) {
	t.Chdir(t.TempDir())
	runValid(t, write(t, tiny), "runs")
	dir := onlyRun(t, "runs").Dir
	got := invoke(t, "report", dir, "--hlog-summary", "--hlog-merge", "all.hlog")
	if got.code != exitValid || !strings.Contains(got.stdout, "The log agrees with run.json") {
		t.Errorf("exit code %d, %q\n%s", got.code, got.stderr, got.stdout)
	}
	text, err := os.ReadFile("all.hlog")
	if err != nil || !strings.Contains(string(text), "_e2e_response_time,") {
		t.Errorf("the merged log is %.300s, %v", text, err)
	}
	own := filepath.Join(dir, "histograms.hlog")
	if got := invoke(t, "report", dir, "--hlog-merge", own); got.code != exitBadInput || !strings.Contains(got.message(), "is the log of a run") {
		t.Errorf("a run's own log was written over: exit code %d, %q", got.code, got.stderr)
	}
}

// A suite that repeats its cells does so often enough to show a difference.
func TestPresetsRepeatEnough(t *testing.T) {
	for _, name := range scenario.Names() {
		suite, err := scenario.ReadSuite(name, scenario.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if suite.Repeat > 1 && !stats.Enough(suite.Repeat, analysis.DefaultAlpha) {
			t.Errorf("%s: no difference can be shown by %d runs of each", name, suite.Repeat)
		}
	}
}
