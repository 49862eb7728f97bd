package compared_test

import (
	"bytes"
	"strings"
	"testing"

	"kafkabench.example/kafka-bench/internal/result"
	"kafkabench.example/kafka-bench/internal/result/figure"
	"kafkabench.example/kafka-bench/internal/show/analysis"
	"kafkabench.example/kafka-bench/internal/show/compared"
	"kafkabench.example/kafka-bench/internal/show/report"
	"kafkabench.example/kafka-bench/internal/show/showtest"
)

// After the twelfth run, the version differs and all times are longer. One run is invalid, and
// three have another configuration.
func nightly(t *testing.T) []*result.Recorded {
	m := showtest.NewMaker(t, 9)
	var runs []*result.Recorded
	for range 3 {
		runs = append(runs, m.Run("nightly", 0.9, showtest.Set("linger", "0s")))
	}
	for range 12 {
		runs = append(runs, m.Run("nightly", 1, nil))
	}
	for range 10 {
		runs = append(runs, m.Run("nightly", 1.2, func(r *result.Run) { r.Run.Driver.Version = "v1.23.0" }))
	}
	runs[8].Run.Verdict.Status = result.Invalid
	return runs
}

func history(t *testing.T, runs []*result.Recorded, o analysis.HistoryOptions) *compared.History {
	t.Helper()
	h, err := analysis.Over(runs, o)
	if err != nil {
		t.Fatal(err)
	}
	return compared.HistoryOf(h)
}

func TestHistory(t *testing.T) {
	h := history(t, nightly(t), analysis.HistoryOptions{MinChange: analysis.DefaultMinChange})
	changes := h.Series[0].Changes
	if len(changes) != 1 || changes[0].At != 11 || changes[0].Word != analysis.WordWorse || len(changes[0].Changed) != 1 {
		t.Errorf("the changes are %+v; want one, at the twelfth run that counts, with the client's version", changes)
	}
	showtest.AllFormats(t, "history", func(b *bytes.Buffer, o report.Options) error { return h.Write(b, o) })
}

// A time between the clocks of two machines has its error in every format. In formats for people,
// such a time is a dash if it is not above its error.
func TestHistoryOfClocks(t *testing.T) {
	runs := nightly(t)[:2]
	for i, errorNs := range []int64{130_000, 1e9} {
		d := runs[i].Run.Time["e2e_response_time"]
		d.P99Ns, d.ErrorNs = 4_210_000, errorNs
		runs[i].Run.Time["e2e_response_time"] = d
	}
	h := history(t, runs, analysis.HistoryOptions{})
	write := func(b *bytes.Buffer, o report.Options) error { return h.Write(b, o) }
	for format, want := range map[report.Format][]string{
		report.AsText: {"r00001  4.21 ms ± 0.13 ms  ▪", "r00002                  –  ▪"},
		report.AsCSV:  {",e2e_response_time_p99_ns,e2e_response_time_p99_clock_error_ns\n", ",4210000,130000\n", ",4210000,1000000000\n"},
		report.AsJSON: {`"clock_errors": [`},
	} {
		got := string(showtest.Written(t, write, report.Options{Format: format}))
		for _, text := range want {
			if !strings.Contains(got, text) {
				t.Errorf("%v has no %q:\n%s", format, text, got)
			}
		}
	}
}

// A name of a branch is shown whole at 80 columns beside a whole hash, and an invalid last run is named.
func TestHistoryOfLabels(t *testing.T) {
	const hash, short = "0123456789abcdef0123456789abcdef01234567", "commit=0123456789ab, "
	for ref, want := range map[string]string{
		"main":                         "  " + short + "ref=main\n",
		"feature/longbranch":           " ms  " + short + "ref=feature/longbranch\n",
		strings.Repeat("feature/", 10): " ms  ▪▪▪▪▪▪▪▪▪▪▪▪\n      commit=0123456789ab,\n      ref=" + strings.Repeat("feature/", 10) + "\n",
	} {
		runs := nightly(t)[3:9]
		for _, r := range runs {
			r.Run.Run.Labels = map[string]string{"commit": hash, "ref": ref}
		}
		h := history(t, runs, analysis.HistoryOptions{})
		write := func(b *bytes.Buffer, o report.Options) error { return h.Write(b, o) }
		for format, wants := range map[report.Format][]string{
			report.AsText: {want, "runs/20261121T200800Z-nightly-r00009, the latest run, is invalid or did not"},
			report.AsMarkdown: {"| " + short + "ref=" + ref, "| e2e response time p99 | Labels", "the latest run, is invalid",
				"Not shown: 1 run, invalid or not finished\n"},
		} {
			got := string(showtest.Written(t, write, report.Options{Format: format, Width: 80}))
			for _, text := range wants {
				if !strings.Contains(got, text) {
					t.Errorf("%s: %v has no %q:\n%s", ref, format, text, got)
				}
			}
		}
	}
	first := history(t, nightly(t)[3:4], analysis.HistoryOptions{})
	if got := string(showtest.Written(t, func(b *bytes.Buffer, o report.Options) error { return first.Write(b, o) },
		report.Options{Format: report.AsMarkdown})); !strings.Contains(got, "`, 1 run, configuration") {
		t.Errorf("of one run it says\n%s", got)
	}
}

// If no run has the default figure, the history says why it shows another.
func TestHistoryOfAnotherFigure(t *testing.T) {
	runs := nightly(t)[3:5]
	for _, r := range runs {
		delete(r.Run.Time, "e2e_response_time")
	}
	h := history(t, runs, analysis.HistoryOptions{})
	got := string(showtest.Written(t, func(b *bytes.Buffer, o report.Options) error { return h.Write(b, o) }, report.Options{}))
	if flat := strings.Join(strings.Fields(got), " "); !strings.Contains(flat, "e2e_response_time_p99 is not shown: ") || !strings.Contains(flat, "--figure follows another figure.") {
		t.Errorf("it says\n%s", got)
	}
}

func TestHistoryOfAnotherConfiguration(t *testing.T) {
	runs := nightly(t)
	older := analysis.Configuration(&runs[0].Run)
	f, err := figure.Named("acked_per_s")
	if err != nil {
		t.Fatal(err)
	}
	h := history(t, runs, analysis.HistoryOptions{Configuration: older[:6], Figures: []figure.Figure{f}})
	if len(h.Runs) != 3 || h.Series[0].Figure != "acked_per_s" || len(h.Others) != 1 || h.Others[0].Runs != 21 {
		t.Errorf("%d runs of %s, and beside it %+v", len(h.Runs), h.Configuration, h.Others)
	}
	if _, err := analysis.Over(runs, analysis.HistoryOptions{Configuration: "zz"}); err == nil {
		t.Error("a configuration that is not there was shown")
	}
	if _, err := analysis.Over(runs[8:9], analysis.HistoryOptions{}); err == nil || err.Error() != "there is no history yet: none of 1 run is valid" {
		t.Errorf("a history of nothing valid: %v", err)
	}
}

func TestHistoryOfSmallChanges(t *testing.T) {
	h := history(t, nightly(t), analysis.HistoryOptions{MinChange: 0.5})
	if len(h.Series[0].Changes) != 0 || h.MinChange != 0.5 {
		t.Errorf("changes of 20 %% are shown where 50 %% are asked for: %+v", h.Series[0].Changes)
	}
	got := string(showtest.Written(t, func(b *bytes.Buffer, o report.Options) error { return h.Write(b, o) }, report.Options{}))
	if want := "no change of 50 % or more is shown over 21 runs"; !strings.Contains(got, want) {
		t.Errorf("the text does not say %q:\n%.200s", want, got)
	}
}

func TestHistoryAcrossVersions(t *testing.T) {
	m := showtest.NewMaker(t, 6)
	var runs []*result.Recorded
	for range 4 {
		runs = append(runs, m.Run("nightly", 1, nil))
	}
	for range 4 {
		runs = append(runs, m.Run("nightly", 1, newer(map[string]any{"from": "end"})))
	}
	h := history(t, runs, analysis.HistoryOptions{})
	if len(h.Runs) != 8 || len(h.Others) != 0 {
		t.Errorf("%d runs, and beside them %+v", len(h.Runs), h.Others)
	}
	h = history(t, append(runs, m.Run("nightly", 1, newer(map[string]any{"groups": 2}))), analysis.HistoryOptions{})
	if len(h.Runs) != 1 || len(h.Others) != 1 || h.Others[0].Runs != 8 || len(h.Others[0].Differences) != 1 {
		t.Errorf("%d runs of two groups, and beside them %+v", len(h.Runs), h.Others)
	}
}

func TestHistoryOfFew(t *testing.T) {
	m := showtest.NewMaker(t, 4)
	var runs []*result.Recorded
	for i := range 10 {
		runs = append(runs, m.Run("nightly", map[bool]float64{true: 1, false: 3}[i < 5], nil))
	}
	for n, want := range map[int]string{1: "10 runs are needed to show a change at all; there is 1.", 9: "there are 9.", 10: "1 change"} {
		from := (10 - n) / 2
		h := history(t, runs[from:from+n], analysis.HistoryOptions{})
		got := string(showtest.Written(t, func(b *bytes.Buffer, o report.Options) error { return h.Write(b, o) }, report.Options{}))
		if !strings.Contains(got, want) || strings.Count(got, "UTC") != 1 || !strings.Contains(got, "lowest to highest") {
			t.Errorf("of %d runs, no %q in\n%s", n, want, got)
		}
	}
}

func TestConfiguration(t *testing.T) {
	m := showtest.NewMaker(t, 2)
	a, b, c := m.Run("a", 1, nil), m.Run("b", 2, nil), m.Run("a", 1, showtest.Set("acks", "all"))
	if analysis.Configuration(&a.Run) != analysis.Configuration(&b.Run) || analysis.Configuration(&a.Run) == analysis.Configuration(&c.Run) {
		t.Error("the configuration is not that of the scenario without its name")
	}
}

func TestHistoryOfImported(t *testing.T) {
	h := history(t, []*result.Recorded{showtest.Imported("b-other"), showtest.Imported("a-other")}, analysis.HistoryOptions{})
	write := func(b *bytes.Buffer, o report.Options) error { return h.Write(b, o) }
	showtest.OneFootnote(t, write, "a-other and b-other")
	got := string(showtest.Written(t, write, report.Options{}))
	if h.Runs[0].Name != "a-other" || strings.Contains(got, "2026") || !strings.Contains(got, "cannot say when they were made") {
		t.Errorf("a history of runs without a time:\n%s", got)
	}
}
