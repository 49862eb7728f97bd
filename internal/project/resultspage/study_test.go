package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"kafkabench.example/kafka-bench/internal/plan/scenario"
	"kafkabench.example/kafka-bench/internal/result"
	"kafkabench.example/kafka-bench/internal/result/resulttest"
)

type variantOf struct {
	name  string
	perS  []float64 // of each run
	ratio []float64 // none for off
}

func saveStudy(t *testing.T, out, name string, variants []variantOf, change func(*result.Run)) {
	t.Helper()
	c := result.Campaign{
		SchemaVersion: 1,
		Campaign: result.CampaignInfo{
			ID: "stdy01", Name: name, Kind: result.KindRuns, StartedAt: resulttest.StartedAt, FinishedAt: resulttest.StartedAt,
			Order: "interleaved", Repeat: len(variants[0].perS),
		},
	}
	for i, v := range variants {
		c.Cells = append(c.Cells, result.Cell{Name: name + "-" + v.name, Values: []string{v.name}, Scenario: resulttest.Settings(map[string]any{})})
		for round, perS := range v.perS {
			r := made(overloadTight, name+"-"+v.name, fmt.Sprintf("%s%d", v.name[:3], round), 100+10*round+i)
			r.Run.Scenario = resulttest.Settings(map[string]any{"name": r.Run.Run.Name, "phases": map[string]any{"measure": "30s"}, "backpressure": map[string]any{"controller": v.name}})
			r.Run.Delivery.DeliveredPerS = perS
			r.Run.Backpressure = nil
			if v.ratio != nil {
				r.Run.Backpressure = &result.Backpressure{Controller: v.name, Excess: "shed", MaxLag: 5000, PeakLagToBound: &v.ratio[round]}
			}
			if change != nil {
				change(&r.Run)
			}
			save(t, out, r)
			c.Runs = append(c.Runs, result.CampaignRun{Cell: i, Round: round, Dir: "../" + filepath.Base(r.Dir), Status: result.Valid})
		}
	}
	dir := filepath.Join(out, "20261121T210000Z-"+name+"-stdy01")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, result.CampaignFile), marshal(t, c), 0o644); err != nil {
		t.Fatal(err)
	}
}

func pageOf(t *testing.T, out string) string {
	t.Helper()
	shelf, err := readShelf(out)
	if err != nil {
		t.Fatal(err)
	}
	page, err := shelf.page()
	if err != nil {
		t.Fatal(err)
	}
	return string(page)
}

func TestGoals(t *testing.T) {
	out := t.TempDir()
	saveStudy(t, out, "backpressure-study", []variantOf{
		{"off", []float64{2600, 2650, 2700}, nil},
		{"credit", []float64{2640, 2650, 2600}, []float64{0.98, 1, 1.04}},
		{"latency", []float64{2650, 2597, 2517.5}, []float64{0.1, 0.1, 0.1}},
	}, nil)
	text := pageOf(t, out)
	all, err := goals()
	if err != nil {
		t.Fatal(err)
	}
	for _, g := range all {
		if g.Figure == "p99_of_target" && (g.Most == nil || *g.Most != result.HeldWithin) {
			t.Errorf("%s has another tolerance than the only one, %v", g.What, result.HeldWithin)
		}
	}
	for _, want := range []string{
		"| peak lag ÷ bound of 5,000, `credit` | 1.80 to 2.98 | ≤ 1.00 | 1.00 [0.98, 1.04] | 2 of 3 runs |",
		"| delivered ÷ delivered without backpressure, `credit` | 78.00 % to 87.00 % | ≥ 99.00 % | 99.62 % [98.11 %, 100.00 %] | 2 of 3 runs |",
		"| the same, `latency` of 250 ms | 78.00 % to 87.00 % | ≥ 97.00 % | 98.00 % [95.00 %, 100.00 %] | 2 of 3 runs |",
		"15.24 | ≤ 1.20 |", "| the same, commits each second | 15.24 | ≤ 1.20 | not measured | – |",
		"`backpressure-study` was shortened: 3 runs of each instead of 5, 3 variants of 9.", "All 9 runs are valid.",
		"left out: `backpressure-recovery`, `backpressure-bursty`,", "### `backpressure-study`",
	} {
		if !strings.Contains(strings.Join(strings.Fields(text), " "), want) {
			t.Errorf("the page does not say %q", want)
		}
	}
	for _, never := range []string{"settling after", "<no value>", "NaN", "\n\n\n", "### `backpressure-recovery`"} {
		if strings.Contains(text, never) {
			t.Errorf("the page says %q", never)
		}
	}
}

func TestMoreRunsAreNotShortened(t *testing.T) {
	more, fewer := make([]float64, repeat), make([]float64, repeat-1)
	for name, c := range map[string]struct {
		runs []float64
		want string
	}{
		"more than the preset": {more, " `sweep-compression` was shortened: 30s measured instead of 20s, 1 variants of 5."},
		"fewer than fixed":     {fewer, " `sweep-compression` was shortened: 4 runs of each instead of 5, 30s measured instead of 20s, 1 variants of 5."},
	} {
		out := t.TempDir()
		saveStudy(t, out, "sweep-compression", []variantOf{{"none", c.runs, nil}}, nil)
		s, err := readShelf(out)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := s.of("sweep-compression").shortened(); err != nil || got != c.want {
			t.Errorf("%s: %q, %v; want %q", name, got, err, c.want)
		}
	}
}

// A run that did not settle in time has not reached the goal.
func TestGoalsOfRunsThatFailed(t *testing.T) {
	out := t.TempDir()
	made := 0
	saveStudy(t, out, "backpressure-recovery", []variantOf{{"latency", []float64{1, 2, 3, 4}, []float64{0, 0, 0, 0}}}, func(r *result.Run) {
		up, down := 1.5, 2.5
		r.Lag.Changes = []result.Change{{What: "work 1ms", SettlingS: &up}, {What: "work 4ms", SettlingS: &down}}
		switch made++; made {
		case 1:
			r.Verdict.Status, up = result.Invalid, 99
		case 2:
			r.Lag.Changes[1].SettlingS = nil
		}
	})
	text := pageOf(t, out)
	for _, want := range []string{
		"four times as fast, `latency` | – | ≤ 3.00 s | 1.50 s | 3 of 3 runs |", "slow again, `latency` | – | ≤ 3.00 s | 2.50 s | 2 of 3 runs |",
		"1 of the 4 runs is invalid and in no figure: 1 of `backpressure-recovery-latency`.",
	} {
		if !strings.Contains(strings.Join(strings.Fields(text), " "), want) {
			_, section, _ := strings.Cut(text, "## Backpressure")
			t.Errorf("the page does not say %q:\n%s", want, section)
		}
	}
}

func TestReplacedRunsAreCounted(t *testing.T) {
	of := func(name, verdicts string) (runs []*result.Recorded) {
		for _, v := range verdicts {
			r := &result.Recorded{}
			r.Run.Run.Name, r.Run.Verdict.Status = name, result.Valid
			if v == 'x' {
				r.Run.Verdict = result.Verdict{Status: result.Invalid, Reasons: []string{"it ended early"}}
			}
			runs = append(runs, r)
		}
		return runs
	}
	for _, c := range []struct {
		a, b, want string
	}{
		{".....", ".....", "All 10 runs are valid."},
		{".x...", ".....", "1 of the 10 runs is invalid and in no figure: 1 of `a`."},
		{".x....", ".....", "1 of the 11 runs is invalid and in no figure: 1 of `a`. A further run replaces it."},
		{".x...x.", "xx...", "4 of the 12 runs are invalid and in no figure: 2 of `a`, 2 of `b`. Further runs replace 2 of them."},
		{"xxxxx", "....x", "6 of the 10 runs are invalid and in no figure: 1 of `b`, 5 of `a` (none is valid; the first: it ended early)."},
	} {
		if got := leftOut(slices.Concat(of("a", c.a), of("b", c.b))); got != c.want {
			t.Errorf("%s, %s: %q, want %q", c.a, c.b, got, c.want)
		}
	}
}

// The commits of the pipeline need a higher bound than it has.
func TestNeededBound(t *testing.T) {
	out := t.TempDir()
	saveStudy(t, out, "backpressure-baseline", []variantOf{{"credit-1s", []float64{1, 2}, []float64{1, 1}}}, func(r *result.Run) {
		r.Load.Scheduled, r.Load.Shed = 1000, 530
		r.Verdict.Warnings = []string{"something else", "backpressure.max_lag: give at least 11,600 records; it is 5,000. Why"}
	})
	want := "With a commit each second a bound of 5,000 is too little for a healthy pipeline: `credit-1s` shed 53.00 %. " +
		"A warning said so in 2 of 2 runs, with the bound that it needs: at least 11,600 records."
	if text := strings.Join(strings.Fields(pageOf(t, out)), " "); !strings.Contains(text, want) {
		t.Errorf("the page does not say %q", want)
	}
}

func TestStudiesArePresets(t *testing.T) {
	variants := map[string]bool{}
	for _, name := range slices.Concat(studies, suites, queues) {
		suite, err := scenario.ReadSuite(name, scenario.Options{})
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range suite.Cells {
			variants[name+" "+valueOf(result.Cell{Values: c.Values})] = true
		}
	}
	all, err := goals()
	if err != nil || len(all) == 0 {
		t.Fatal(err, len(all))
	}
	for _, g := range all {
		if !variants[g.Study+" "+g.Variant] {
			t.Errorf("%s: %s has no variant %s", g.What, g.Study, g.Variant)
		}
		if _, err := (&entry{}).figure(g.Figure); err != nil {
			t.Error(err)
		}
		if g.Least != nil && g.Most != nil && *g.Most <= *g.Least {
			t.Errorf("%s: it has two goals", g.What)
		}
		if other := g.Of + g.Above; other != "" && (!variants[g.Study+" "+other] || g.Of != "" && g.Above != "") {
			t.Errorf("%s: it is held against %s", g.What, other)
		}
	}
}

func TestStudiesAreThinned(t *testing.T) {
	out := t.TempDir()
	r := made(overloadTight, "backpressure-study", "thin01", 0)
	for i := range r.Intervals {
		r.Intervals[i].LagSamples = []result.LagSample{{Records: 1, Partitions: make([]int64, 12)}}
		r.Intervals[i].BacklogPartition = make([]int64, 12)
		r.Intervals[i].AckedPartition, r.Intervals[i].DeliveredPartition = make([]int64, 12), make([]int64, 12)
	}
	saveStudy(t, out, "backpressure-study", []variantOf{{"off", []float64{1, 2}, nil}}, func(run *result.Run) { run.Run.StartedAt = run.Run.StartedAt.Add(time.Second) })
	if err := (job{from: out}).tidy("backpressure-study"); err != nil {
		t.Fatal(err)
	}
	if count := filesOf(t, out); count[result.SummaryFile] != 2 || count[result.IntervalsFile] != 1 {
		t.Errorf("the shelf has %v", count)
	}
	var series []byte
	for _, i := range r.Intervals {
		series = append(append(series, marshal(t, i)...), '\n')
	}
	thin, err := thinned(series)
	if err != nil || len(thin) > len(series)*2/3 || strings.Count(string(thin), "\n") != len(r.Intervals) {
		t.Errorf("%d bytes of %d, %v", len(thin), len(series), err)
	}
	for _, want := range []string{`"e2e_response_time"`, `"lag_samples"`, `"delivered"`} {
		if !strings.Contains(string(thin), want) {
			t.Errorf("the series has lost %s", want)
		}
	}
	for _, without := range []string{
		"poll_time", `"lag_records_partition":[`, "acked_records_partition", "delivered_records_partition",
	} {
		if strings.Contains(string(thin), without) {
			t.Errorf("the series still has %s: %.300s", without, thin)
		}
	}
	if _, err := thinned([]byte("{")); err == nil {
		t.Error("a broken series was taken")
	}
}
