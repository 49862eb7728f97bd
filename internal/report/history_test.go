package report_test

import (
	"bytes"
	"testing"

	"kafka-bench/internal/figure"
	"kafka-bench/internal/report"
	"kafka-bench/internal/result"
)

// nightly are runs of one configuration: after the twelfth there is another
// version, and everything takes longer. One is invalid, three were asked for
// something else.
func nightly(t *testing.T) []*result.Recorded {
	m := newMaker(t, 9)
	var runs []*result.Recorded
	for range 3 {
		runs = append(runs, m.run("nightly", 0.9, set("linger", "0s")))
	}
	for range 12 {
		runs = append(runs, m.run("nightly", 1, nil))
	}
	for range 10 {
		runs = append(runs, m.run("nightly", 1.2, func(r *result.Run) { r.Run.Driver.Version = "v1.23.0" }))
	}
	runs[8].Run.Verdict.Status = result.Invalid
	return runs
}

func history(t *testing.T, runs []*result.Recorded, o report.HistoryOptions) *report.History {
	t.Helper()
	h, err := report.Over(runs, o)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

func TestHistory(t *testing.T) {
	h := history(t, nightly(t), report.HistoryOptions{})
	changes := h.Series[0].Changes
	if len(changes) != 1 || changes[0].At != 11 || changes[0].Word != report.WordWorse || len(changes[0].Changed) != 1 {
		t.Errorf("the changes are %+v; want one, at the twelfth run that counts, with the client's version", changes)
	}
	allFormats(t, "history", func(b *bytes.Buffer, o report.Options) error { return h.Write(b, o) })
}

// The configuration of the latest run is shown, unless another is asked for.
func TestHistoryOfAnotherConfiguration(t *testing.T) {
	runs := nightly(t)
	older := report.Configuration(&runs[0].Run)
	f, err := figure.Named("acked_per_s")
	if err != nil {
		t.Fatal(err)
	}
	h := history(t, runs, report.HistoryOptions{Configuration: older[:6], Figures: []figure.Figure{f}})
	if len(h.Runs) != 3 || h.Series[0].Figure != "acked_per_s" || len(h.Others) != 1 || h.Others[0].Runs != 21 {
		t.Errorf("%d runs of %s, and beside it %+v", len(h.Runs), h.Configuration, h.Others)
	}
	if _, err := report.Over(runs, report.HistoryOptions{Configuration: "zz"}); err == nil {
		t.Error("a configuration that is not there was shown")
	}
	if _, err := report.Over(runs[8:9], report.HistoryOptions{}); err == nil {
		t.Error("a history of nothing valid")
	}
}

// What a run is called changes nothing about what it was asked for.
func TestConfiguration(t *testing.T) {
	m := newMaker(t, 2)
	a, b, c := m.run("a", 1, nil), m.run("b", 2, nil), m.run("a", 1, set("acks", "all"))
	if report.Configuration(&a.Run) != report.Configuration(&b.Run) || report.Configuration(&a.Run) == report.Configuration(&c.Run) {
		t.Error("the configuration is not that of the scenario without its name")
	}
}
