package report_test

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"kafkabench.example/kafka-bench/internal/result"
	"kafkabench.example/kafka-bench/internal/result/resulttest"
	"kafkabench.example/kafka-bench/internal/show/analysis"
	"kafkabench.example/kafka-bench/internal/show/report"
)

// imported is a run of a producer's tool, which cannot say when it was made.
func imported(name string) *result.Recorded {
	r := &result.Recorded{Dir: "runs/" + name, Run: result.Run{
		SchemaVersion: 1,
		Run: result.Info{
			ID: "i2mzr4", Name: name, StartedAt: resulttest.StartedAt, FinishedAt: resulttest.StartedAt.Add(time.Second),
			Imported: &result.Imported{Format: "producer-perf", File: name + ".txt", CannotSay: []string{
				"run.started_at", "run.finished_at", "load.offered_per_s", "load.scheduled", "load.admitted", "load.bytes", "delivery", "lag", "consumer",
				"process", "time.send_service_time.p99_5_ns", "time.send_service_time.out_of_range", "intervals.shed",
			}},
			Phases: []result.Phase{{Name: "measure", EndNs: 1e9}},
		},
		Verdict: result.Verdict{Status: result.Valid, Warnings: []string{"imported (producer-perf): not judged"}},
		Load:    result.Load{Scheduled: 5000, Admitted: 5000, Acked: 5000, OfferedPerS: 5000, AckedPerS: 5000},
		Time:    map[string]result.Time{"send_service_time": {Count: 5000, P50Ns: 1_000_000, P99Ns: 3_000_000, MaxNs: 9_000_000}},
	}}
	return r
}

// timesAlone is a run of a histogram log, with a tag that is none of our metrics.
func timesAlone(name string) *result.Recorded {
	r := imported(name)
	r.Run.Run.Imported = &result.Imported{Format: "hlog", File: name + ".hlog", CannotSay: []string{"load", "delivery", "lag", "consumer", "process", "run.started_at"}}
	r.Run.Load = result.Load{}
	r.Run.Time = map[string]result.Time{"rebalance": {Count: 7, MaxNs: 5_000_000_000}}
	return r
}

func TestStanding(t *testing.T) {
	for want, change := range map[string]func(*result.Run){
		"valid":                 func(*result.Run) {},
		"invalid":               func(r *result.Run) { r.Verdict.Status = result.Invalid },
		"imported":              func(r *result.Run) { r.Run.Imported = &result.Imported{} },
		"invalid, imported":     func(r *result.Run) { r.Run.Imported, r.Verdict.Status = &result.Imported{}, result.Invalid },
		"interrupted, valid":    func(r *result.Run) { r.Run.Interrupted = true },
		"interrupted, invalid":  func(r *result.Run) { r.Run.Interrupted, r.Verdict.Status = true, result.Invalid },
		"invalid, not finished": func(r *result.Run) { r.Run.FinishedAt, r.Verdict.Status = time.Time{}, result.Invalid },
		"interrupted, invalid, imported": func(r *result.Run) {
			r.Run.Interrupted, r.Run.Imported, r.Verdict.Status = true, &result.Imported{}, result.Invalid
		},
	} {
		r := simulate(t, resulttest.Baseline())
		change(&r.Run)
		if got := report.Standing(&r.Run); got != want {
			t.Errorf("%s, want %s", got, want)
		}
		first, rest, _ := strings.Cut(want, ",")
		if head := "MEASUREMENT " + strings.ToUpper(first) + strings.TrimSuffix(","+rest, ",") + "  baseline"; !strings.HasPrefix(string(text(t, r, report.Options{})), head) {
			t.Errorf("the report of a run that is %s does not begin with %q", want, head)
		}
	}
}

// TestImportedIsNoVerdict wants no report to take an import for a run that was
// judged, to show a figure or a time that it does not have, or an empty section.
func TestImportedIsNoVerdict(t *testing.T) {
	for _, c := range []struct {
		run         *result.Recorded
		wanted, not []string
	}{
		{imported("other"), []string{"IMPORTED  other  i2mzr4  –\n", "5,000/s acked for 1 s"}, []string{"VALID", "2026", "0 B", " offered", "Process", "Lag\n"}},
		{timesAlone("log"), []string{"IMPORTED  log", "rebalance", "5.00 s"}, []string{"VALID", "2026", "0/s", "0 B", "Books", "Process"}},
	} {
		got := string(text(t, c.run, report.Options{}))
		for _, want := range c.wanted {
			if !strings.Contains(got, want) {
				t.Errorf("it does not say %q:\n%s", want, got)
			}
		}
		for _, not := range c.not {
			if strings.Contains(got, not) {
				t.Errorf("it says %q:\n%s", not, got)
			}
		}
	}
}

// TestFootnotes wants every table with an imported run to say what that means.
func TestFootnotes(t *testing.T) {
	ours := simulate(t, resulttest.Baseline())
	runs := []*result.Recorded{imported("b-other"), ours, imported("a-other"), timesAlone("log")}
	compared, err := analysis.Compare([]analysis.Set{{Label: "ours", Runs: runs[1:2]}, {Label: "other", Runs: runs[:1]}}, analysis.CompareOptions{})
	if err != nil {
		t.Fatal(err)
	}
	history, err := analysis.Over([]*result.Recorded{runs[0], runs[2]}, analysis.HistoryOptions{})
	if err != nil {
		t.Fatal(err)
	}
	c := &result.RecordedCampaign{Runs: []*result.Recorded{ours, runs[0]}}
	c.Campaign.Cells = []result.Cell{{Name: "ours"}, {Name: "other"}}
	c.Campaign.Runs = []result.CampaignRun{{Cell: 0, Status: result.Valid}, {Cell: 1, Status: result.Valid}}
	for name, write := range map[string]func(*bytes.Buffer, report.Options) error{
		"runs":     func(b *bytes.Buffer, o report.Options) error { return report.Runs(b, runs, o) },
		"compare":  func(b *bytes.Buffer, o report.Options) error { return report.ComparisonOf(compared).Write(b, o) },
		"history":  func(b *bytes.Buffer, o report.Options) error { return report.HistoryOf(history).Write(b, o) },
		"campaign": func(b *bytes.Buffer, o report.Options) error { return report.Campaign(b, c, o) },
	} {
		for _, format := range []report.Format{report.AsText, report.AsMarkdown} {
			got := strings.Join(strings.Fields(string(written(t, write, report.Options{Format: format}))), " ")
			if strings.Count(got, "coordinated omission") != 1 || !strings.Contains(got, "b-other: imported (producer-perf)") && !strings.Contains(got, "b-other and a-other: imported (producer-perf)") && !strings.Contains(got, "a-other and b-other: imported (producer-perf)") {
				t.Errorf("%s, %v: no footnote, or several:\n%s", name, format, got)
			}
		}
	}
	shown := string(written(t, func(b *bytes.Buffer, o report.Options) error { return report.HistoryOf(history).Write(b, o) }, report.Options{}))
	if history.Runs[0].Name != "a-other" || strings.Contains(shown, "2026") || !strings.Contains(shown, "cannot say when they were made") {
		t.Errorf("a history of runs without a time:\n%s", shown)
	}
}

// TestImports says once for each format what its runs have in common.
func TestImports(t *testing.T) {
	a, b := imported("a"), imported("b")
	a.Run.Verdict.Warnings = append(a.Run.Verdict.Warnings, "only of a")
	var all []report.Imported
	for _, r := range []*result.Recorded{a, b, timesAlone("log")} {
		all = append(all, report.Imported{Dir: r.Dir, Run: &r.Run})
	}
	got := written(t, func(w *bytes.Buffer, o report.Options) error { return report.Imports(w, all, o) }, report.Options{Width: 80})
	screens(t, got, 80, 30)
	const want = `a.txt (producer-perf) → runs/a, imported
b.txt (producer-perf) → runs/b, imported
log.hlog (hlog) → runs/log, imported

producer-perf, 2 runs
  warning       imported (producer-perf): not judged
                1 more of single runs; "kafka-bench report RUN" shows them
  cannot say    when it was made
                load (offered per second, scheduled, admitted, bytes) · delivery
                lag · consumer · process
                send service time (p99.5, out of range)
                (run.imported.cannot_say in run.json names the fields)

hlog
  warning       imported (producer-perf): not judged
  cannot say    load · delivery · lag · consumer · process · when it was made
                (run.imported.cannot_say in run.json names the fields)
`
	if string(got) != want {
		t.Errorf("it says\n%s\nwant\n%s", got, want)
	}
}

// TestInterruptedOfACampaign is in no median, and counted once.
func TestInterruptedOfACampaign(t *testing.T) {
	m := newMaker(t, 7)
	cut := m.run("a", 50, func(r *result.Run) { r.Run.Interrupted = true })
	c := &result.RecordedCampaign{Runs: []*result.Recorded{m.run("a", 1, nil), cut}}
	c.Campaign.Cells = []result.Cell{{Name: "a"}}
	c.Campaign.Runs = []result.CampaignRun{{Dir: "../1", Status: result.Valid}, {Dir: "../2", Status: result.Interrupted}}
	d, err := report.AnalyseCampaign(c, "")
	if err != nil {
		t.Fatal(err)
	}
	if cell := d.Cells[0]; cell.Valid != 1 || len(cell.Runs) != 1 || cell.Interrupted != 1 || cell.Figures["acked_per_s"].N != 1 {
		t.Errorf("%d valid of %d, %d interrupted, acked of %d", cell.Valid, len(cell.Runs), cell.Interrupted, cell.Figures["acked_per_s"].N)
	}
	got := string(written(t, func(b *bytes.Buffer, o report.Options) error { return report.Campaign(b, c, o) }, report.Options{}))
	if !strings.Contains(got, "1 of 2 planned runs made, 1 valid, 1 interrupted and left out") {
		t.Errorf("it says\n%s", got)
	}
}
