package main

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"kafkabench.example/kafka-bench/internal/result"
)

func TestListOfRuns(t *testing.T) {
	t.Chdir(t.TempDir())
	cannot := func(open ...string) *result.Imported { return &result.Imported{Format: "ssp", CannotSay: open} }
	ended := time.Date(2026, 11, 21, 20, 0, 0, 0, time.UTC)
	listed := map[string]struct {
		change func(*result.Run)
		want   string
	}{
		"ours":        {func(*result.Run) {}, "valid overloaded 9,769/s offered"},
		"closed":      {func(r *result.Run) { r.Load.ClosedLoop = true }, "valid not judged 9,512/s acked"},
		"reader":      {func(r *result.Run) { r.Load = result.Load{} }, "valid not judged 43,455/s delivered"},
		"interrupted": {func(r *result.Run) { r.Run.Interrupted = true }, "interrupted, valid overloaded 9,769/s offered"},
		"abandoned": {func(r *result.Run) {
			r.Run.FinishedAt, r.Verdict.Status, r.Load = time.Time{}, result.Invalid, result.Load{}
		}, "invalid, not finished – –"},
		"producer": {func(r *result.Run) { r.Run.Imported = cannot("load.offered_per_s") }, "imported not judged 9,512/s acked"},
		"consumer": {func(r *result.Run) { r.Run.Imported = cannot("load") }, "imported not judged 43,455/s delivered"},
		"hlog":     {func(r *result.Run) { r.Run.Imported = cannot("load", "delivery") }, "imported not judged –"},
	}
	for name, c := range listed {
		run := result.Run{
			SchemaVersion: 1, Run: result.Info{Name: name, FinishedAt: ended}, Verdict: result.Verdict{Status: result.Valid},
			Load:     result.Load{Scheduled: 97_690, Admitted: 97_690, OfferedPerS: 9769, AckedPerS: 9512},
			Delivery: result.Delivery{DeliveredPerS: 43_455},
		}
		c.change(&run)
		newRecorder(t).write(filepath.Join("runs", name, result.SummaryFile), run)
	}
	got := strings.Join(strings.Fields(invoke(t, "list").stdout), " ")
	for name, c := range listed {
		if want := "runs/" + name + " " + c.want; !strings.Contains(got+" runs/", want+" runs/") {
			t.Errorf("%s is not listed as %q:\n%s", name, want, got)
		}
	}
}

func TestListFigures(t *testing.T) {
	got := invoke(t, "list", "--figures")
	for _, name := range figureNames() {
		if !strings.Contains(got.stdout, "\n"+name+" ") {
			t.Errorf("it does not list %s:\n%s", name, got.stdout)
		}
	}
}

func TestListSaysWhatItLeavesOut(t *testing.T) {
	t.Chdir(t.TempDir())
	r := newRecorder(t)
	for i := range 17 {
		r.run(fmt.Sprintf("runs/baseline-%02d", i), "baseline", 1)
	}
	got := invoke(t, "list").stdout
	if !strings.Contains(got, "Latest runs (15 of 17, --all shows all):\n  runs/baseline-02") || strings.Contains(got, "baseline-01") {
		t.Errorf("it lists\n%s", got)
	}
	if got := invoke(t, "list", "--all").stdout; !strings.Contains(got, "All runs:\n  runs/baseline-00") {
		t.Errorf("--all lists\n%s", got)
	}
}
