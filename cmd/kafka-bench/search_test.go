package main

import (
	"math"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"

	"kafkabench.example/kafka-bench/internal/result"
)

func onlySearch(t *testing.T, out string) *result.RecordedCampaign {
	t.Helper()
	listed, err := result.ListCampaigns(out)
	if err != nil || len(listed) != 1 || listed[0].Err != nil {
		t.Fatalf("%s has the campaigns %+v, %v; want one", out, listed, err)
	}
	c, err := result.ReadCampaign(listed[0].Dir)
	if err != nil {
		t.Fatal(err)
	}
	if c.Campaign.Campaign.Kind != result.KindSearch || c.Campaign.Search == nil {
		t.Fatalf("%s is no search", c.Dir)
	}
	return c
}

// The embedded broker takes 1,000 records/s. At up to 2 % more, three quarters of the records of two
// seconds wait at most 30 ms.
func TestSearch(t *testing.T) {
	virtually(t, func(t *testing.T, l lab) {
		l.embedded.ProducePerSecond = 1000
		out := filepath.Join(t.TempDir(), "runs")
		got := l.invoke(t, "search", write(t, tiny), "--cluster", "embedded", "--out", out,
			"--probe", "2s", "--confirm", "2s", "--resolution", "10%", "--expect", "e2e_response_time_p75 <= 30ms")
		c := onlySearch(t, out)
		s := c.Campaign.Search
		if got.code != exitValid || got.message() != "" || s.HighestPerS == nil || *s.HighestPerS < 900 || *s.HighestPerS > 1020 {
			t.Errorf("exit code %d and %q: %s", got.code, got.stderr, s.Answer)
		}
		if first, _, _ := strings.Cut(got.stdout, "."); !strings.HasPrefix(strings.ReplaceAll(s.Answer, "\n", " "), strings.ReplaceAll(first, "\n", " ")) {
			t.Errorf("it does not begin with the answer, %s\n%s", s.Answer, got.stdout)
		}
		if len(s.Probes) == 0 || len(s.Probes) != len(c.Campaign.Runs) || !strings.Contains(got.stdout, "capacity") {
			t.Errorf("%d probes, %d runs\n%s", len(s.Probes), len(c.Campaign.Runs), got.stdout)
		}
		if !strings.Contains(got.stdout, c.Dir) || !strings.Contains(got.stderr, "on the embedded broker") {
			t.Errorf("it says\n%s\nand\n%s", got.stdout, got.stderr)
		}
	})
}

func TestSearchCurve(t *testing.T) {
	virtually(t, func(t *testing.T, l lab) {
		out := filepath.Join(t.TempDir(), "runs")
		got := l.invoke(t, "search", write(t, tiny), "--cluster", "embedded", "--out", out,
			"--probe", "100ms", "--confirm", "100ms", "--curve-of", "1k/s", "--expect", "failed <= 0")
		s := onlySearch(t, out).Campaign.Search
		if got.code != exitValid || len(s.Probes) < 11 || s.HighestPerS != nil {
			t.Errorf("exit code %d, %d probes: %s", got.code, len(s.Probes), got.stderr)
		}
		if last := s.Probes[len(s.Probes)-1]; last.OfferedPerS != 1100 || !strings.Contains(got.stdout, "1,100/s") {
			t.Errorf("it ends at %v/s\n%s", last.OfferedPerS, got.stdout)
		}
	})
}

func TestSearchInterrupt(t *testing.T) {
	virtually(t, func(t *testing.T, l lab) {
		out := filepath.Join(t.TempDir(), "runs")
		l.embedded.ProduceDelay = time.Millisecond // the search begins as fast as it can
		got := l.interrupted(200*time.Millisecond).invoke(t, "search", write(t, tiny), "--cluster", "embedded", "--out", out, "--probe", "5m", "--confirm", "5m")
		c := onlySearch(t, out)
		if got.code != exitInterrupted || got.message() != "interrupted" {
			t.Errorf("exit code %d and %q", got.code, got.stderr)
		}
		if !strings.HasPrefix(got.stdout, "The search ended early") || c.Campaign.Finished() || c.Campaign.Runs[0].Status != result.Interrupted {
			t.Errorf("saved %+v, and it says\n%s", c.Campaign.Runs, got.stdout)
		}
	})
}

func TestSearchRefuses(t *testing.T) {
	file := write(t, tiny)
	for _, c := range []struct{ args, want string }{
		{"--expect e2e_response_time_p99", `--expect: expectation "e2e_response_time_p99": write a figure, one of <= >= < > =, and a bound, as in e2e_response_time_p99 <= 50ms`},
		{"--resolution 3", `--resolution: "3" is not a share above zero; write it as 3%`},
		{"--resolution 60%", "a resolution of 60 % is out of range; give 0.5% to 50%"},
		{"--max-probes 2", "a search of at most 2 probes is out of range; give 4 to 1000"},
		{"--curve-of max", "--curve-of max: give a rate that has tenths, as in 20k/s"},
		{"--curve-of 20x", `--curve-of: rate "20x": unknown multiplier "x"; write 20/s, `},
		{"--probe 30s --confirm 10s", "a confirmation of 10s is no longer than a probe of 30s; give more"},
		{"--set load.arrival=poison", `--set load.arrival=poison: load.arrival.process: "poison" is not known`},
	} {
		out := filepath.Join(t.TempDir(), "runs")
		got := invoke(t, append([]string{"search", file, "--cluster", "embedded", "--out", out}, strings.Fields(c.args)...)...)
		if got.code != exitBadInput || !strings.HasPrefix(got.message(), c.want) || got.stdout != "" {
			t.Errorf("%s: exit code %d and\n%s, want\n%s", c.args, got.code, got.message(), c.want)
		}
		wantNothing(t, out)
	}
	got := invoke(t, "search", file, "--resolution", "x", "--curve-of", "y")
	if n := strings.Count(got.stderr, "\n"); got.code != exitBadInput || n != 2 {
		t.Errorf("exit code %d and %d lines for two faults:\n%s", got.code, n, got.stderr)
	}
}

func TestSearchExamples(t *testing.T) {
	for _, example := range examples(t, searchCommand(surroundings{})) {
		words := shellWords(example)
		var flags searchFlags
		c := &cobra.Command{Use: "search"}
		addSearch(c, &flags)
		if err := c.ParseFlags(words[1:]); err != nil {
			t.Fatal(err)
		}
		if _, _, err := flags.config(c.Flags().Arg(0)); err != nil {
			t.Errorf("%q: %v", words, err)
		}
	}
}

func TestParsePercent(t *testing.T) {
	for text, want := range map[string]float64{"3%": 0.03, "0.5 %": 0.005, " 50% ": 0.5} {
		if got, err := parsePercent(text); err != nil || math.Abs(got-want) > 1e-12 {
			t.Errorf("%q is %v, %v; want %v", text, got, err, want)
		}
	}
	for _, text := range []string{"", "3", "%", "-1%", "0%", "NaN%", "x%", "3%%"} {
		if got, err := parsePercent(text); err == nil {
			t.Errorf("%q is %v", text, got)
		}
	}
}
