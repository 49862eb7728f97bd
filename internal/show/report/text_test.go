package report_test

import (
	"bytes"
	"encoding/json"
	"os"
	"strings"
	"testing"
	"time"

	"kafkabench.example/kafka-bench/internal/result"
	"kafkabench.example/kafka-bench/internal/show/analysis"
	"kafkabench.example/kafka-bench/internal/show/campaigns"
	"kafkabench.example/kafka-bench/internal/show/compared"
	"kafkabench.example/kafka-bench/internal/show/layout"
	"kafkabench.example/kafka-bench/internal/show/report"
)

func TestPictureDrawsTheSamples(t *testing.T) {
	end := int64(40)
	peak := int64(253)
	r := &result.Recorded{Run: result.Run{Run: result.Info{Name: "sampled", ID: "s4m9le", FinishedAt: time.Unix(1, 0)}, Lag: result.Lag{PeakRecords: &peak}}}
	r.Intervals = []result.Interval{
		{StartNs: 0, EndNs: 1e9, LagRecords: &end, LagSamples: []result.LagSample{{AtNs: 1e8, Records: 253}, {AtNs: 6e8, Records: 40}}},
		{StartNs: 1e9, EndNs: 2e9, LagRecords: &end, LagSamples: []result.LagSample{{AtNs: 15e8, Records: 40}}},
	}
	other := *r
	other.Run.Run.ID = "o7her0"
	draw := func() string {
		p := layout.NewPage(0, false)
		report.PrintPictures(p, []analysis.Variant{{Name: "sampled", Runs: []*result.Recorded{r, &other}, All: 2, Valid: 2}})
		return p.String()
	}
	want := []string{"over time; one scale", "sampled, peak 253; run s4m9le, of 2 the one with the median peak", "300 ┤\n", "200 ┤   █", "100 ┤   █"}
	for _, text := range want {
		if got := draw(); !strings.Contains(got, text) {
			t.Errorf("no %q in\n%s", text, got)
		}
	}
	for i := range r.Intervals {
		r.Intervals[i].LagSamples = nil
	}
	if got := draw(); !strings.Contains(got, "at the ends of intervals") || !strings.Contains(got, "at most 40 at the ends, peak 253") {
		t.Errorf("without samples\n%s", got)
	}
}

func FuzzRender(f *testing.F) {
	golden, err := os.ReadFile("../../result/testdata/20261121T195900Z-overload-tight-t3va6k/run.json")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(golden, []byte(`{"start_ns":-1000000000,"end_ns":0,"lag_records":5,"time":{}}`), 1)
	f.Add([]byte(`{"load":{"scheduled":-1},"backpressure":{"max_lag_records":1}}`), []byte(`{"start_ns":9,"end_ns":1,"lag_records":-9}`), 80)
	f.Fuzz(func(t *testing.T, summary, interval []byte, width int) {
		var r result.Recorded
		var i result.Interval
		if json.Unmarshal(summary, &r.Run) != nil || json.Unmarshal(interval, &i) != nil {
			return
		}
		r.Intervals = []result.Interval{i, i}
		var b bytes.Buffer
		if err := report.Text(&b, &r, report.Options{Colour: true}); err != nil {
			t.Fatal(err)
		}
		if err := report.SideBySide(&b, []*result.Recorded{&r, &r}, report.Options{}); err != nil {
			t.Fatal(err)
		}
		renderOtherwise(t, &r)
		for _, terminal := range []bool{true, false} {
			l := report.NewLive(&b, report.LiveOptions{Terminal: terminal, Width: width})
			for _, p := range r.Run.Run.Phases {
				l.Phase(p)
				l.Interval(i)
			}
			l.Interval(i)
			if err := l.Close(); err != nil {
				t.Fatal(err)
			}
		}
	})
}

func renderOtherwise(t *testing.T, r *result.Recorded) {
	t.Helper()
	r.Run.Verdict.Status = result.Valid
	other := *r
	other.Run.Run.ID, other.Dir = r.Run.Run.ID+"2", "runs/other"
	c := &result.RecordedCampaign{Runs: []*result.Recorded{r, &other}}
	c.Campaign.Cells = []result.Cell{{Name: "a"}, {Name: "b"}}
	c.Campaign.Runs = []result.CampaignRun{{Cell: 0}, {Cell: 1}}
	for _, format := range []report.Format{report.AsText, report.AsMarkdown, report.AsCSV, report.AsJSON} {
		var b bytes.Buffer
		o := report.Options{Format: format}
		if err := report.Runs(&b, []*result.Recorded{r, r, &other}, o); err != nil {
			t.Fatal(err)
		}
		if err := campaigns.Write(&b, c, o); err != nil {
			t.Fatal(err)
		}
		sets := []analysis.Set{{Label: "a", Runs: c.Runs[:1]}, {Label: "b", Runs: c.Runs[1:]}}
		if found, err := analysis.Compare(sets, analysis.CompareOptions{}); err == nil {
			if err := compared.ComparisonOf(found).Write(&b, o); err != nil {
				t.Fatal(err)
			}
		}
		if history, err := analysis.Over(c.Runs, analysis.HistoryOptions{}); err == nil {
			if err := compared.HistoryOf(history).Write(&b, o); err != nil {
				t.Fatal(err)
			}
		}
	}
}
