package chart

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"kafkabench.example/kafka-bench/internal/result"
	"kafkabench.example/kafka-bench/internal/result/resulttest"
	"kafkabench.example/kafka-bench/internal/show/draw"
	"kafkabench.example/kafka-bench/internal/show/showtest"
)

func drawn(t *testing.T, name string, in Input) draw.Spec {
	t.Helper()
	c, err := Named(name)
	if err != nil {
		t.Fatal(err)
	}
	spec, err := c.Draw(in)
	if err != nil {
		t.Fatal(err)
	}
	for _, fault := range faultsOf(spec) {
		t.Errorf("%s: %s", name, fault)
	}
	return spec
}

func faultsOf(spec draw.Spec) (faults []string) {
	fault := func(format string, args ...any) { faults = append(faults, fmt.Sprintf(format, args...)) }
	if spec.Title == "" || spec.Alt == "" {
		fault("title %q, alternative text %q", spec.Title, spec.Alt)
	}
	if len(spec.Panels) == 0 {
		fault("no panels")
	}
	if err := spec.Check(); err != nil {
		fault("%v", err)
	}
	for n, p := range spec.Panels {
		if len(p.Series) == 0 {
			fault("panel %d has no series", n)
		}
		for _, s := range p.Series {
			if why := faultOf(s, p.Y); why != "" {
				fault("panel %d, %s: %s", n, s.Name, why)
			}
		}
	}
	for _, m := range spec.Marks {
		if m.Words == "" || strings.ContainsAny(m.Words, "→−≤") {
			fault("mark %q", m.Words)
		}
	}
	return faults
}

func faultOf(s draw.Series, y draw.Axis) string {
	if len(s.X0) == 0 {
		return "it has no values"
	}
	for i := range s.X1 {
		if s.X1[i] < s.X0[i] {
			return fmt.Sprintf("value %d ends at %g, before it begins at %g", i, s.X1[i], s.X0[i])
		}
	}
	for i, v := range s.Y {
		if y.Categories != nil && (v < -0.5 || v > float64(len(y.Categories))-0.5) {
			return fmt.Sprintf("value %d is in row %g of %d", i, v, len(y.Categories))
		}
	}
	for i := range s.Low {
		if s.Low[i] > s.High[i] {
			return fmt.Sprintf("value %d is from %g to %g", i, s.Low[i], s.High[i])
		}
	}
	if s.Name == "" {
		return "it has no name"
	}
	return ""
}

func seriesOf(t *testing.T, spec draw.Spec, name, figure string) draw.Series {
	t.Helper()
	var have []string
	for _, p := range spec.Panels {
		for _, s := range p.Series {
			if s.Name == name && s.Figure == figure {
				return s
			}
			have = append(have, s.Name+" ("+s.Figure+")")
		}
	}
	t.Fatalf("there is no series %s (%s); there are %s", name, figure, strings.Join(have, ", "))
	return draw.Series{}
}

func same(t *testing.T, what string, got, want []float64) {
	t.Helper()
	if len(got) != len(want) {
		t.Errorf("%s: %d values, expected %d: %v, %v", what, len(got), len(want), got, want)
		return
	}
	for i := range got {
		if got[i] != want[i] && !(math.IsNaN(got[i]) && math.IsNaN(want[i])) {
			t.Errorf("%s: value %d is %v, expected %v", what, i, got[i], want[i])
		}
	}
}

func lacking(t *testing.T, name string, in Input, field, file string) {
	t.Helper()
	c, err := Named(name)
	if err != nil {
		t.Fatal(err)
	}
	_, err = c.Draw(in)
	var missing *Missing
	if !errors.As(err, &missing) || missing.Field != field || missing.File != file {
		t.Errorf("chart %s: error %v, expected one that %s is missing in %s", name, err, field, file)
	}
}

func of1(r ...*result.Recorded) Input { return Input{Runs: r} }

func TestNamed(t *testing.T) {
	seen := map[string]bool{}
	for _, c := range All() {
		found, err := Named(c.Name)
		if err != nil || found.Title == "" || seen[c.Name] {
			t.Errorf("chart %s: %v, title %q, twice %t", c.Name, err, found.Title, seen[c.Name])
		}
		seen[c.Name] = true
		if _, err := c.Draw(Input{}); err == nil {
			t.Errorf("chart %s is drawn of nothing", c.Name)
		}
	}
	_, err := Named("timelime")
	if err == nil || !strings.Contains(err.Error(), "did you mean timeline? The charts are timeline, lag,") {
		t.Errorf("an unknown chart: %v", err)
	}
}

func TestDrawsWhatThereIs(t *testing.T) {
	killed := &result.Recorded{Dir: "runs/killed", Run: result.Run{Run: result.Info{ID: "x", Name: "killed"}}}
	imported := showtest.Simulate(t, resulttest.Baseline())
	imported.Run.Run.Imported = &result.Imported{Format: "hlog", CannotSay: []string{
		"intervals.acked", "intervals.delivered", "intervals.scheduled", "intervals.backlog_records", "load", "delivery"}}
	for _, r := range []*result.Recorded{killed, imported} {
		for _, c := range All() {
			spec, err := c.Draw(of1(r))
			if err == nil {
				for _, fault := range faultsOf(spec) {
					t.Errorf("%s, chart %s: %s", r.Run.Run.Name, c.Name, fault)
				}
			}
		}
	}
	lacking(t, "timeline", of1(killed), "", "intervals.ndjson")
	lacking(t, "books", of1(imported), "load.scheduled", "run.json")
	lacking(t, "drain", of1(imported), "fill", "run.json")
}

func TestManyRuns(t *testing.T) {
	made := showtest.NewMaker(t, 1)
	var runs []*result.Recorded
	for range MaxRuns + 2 {
		runs = append(runs, made.Run("baseline", 1, nil))
	}
	spec := drawn(t, "timeline", of1(runs...))
	if n := len(spec.Panels[0].Series); n != MaxRuns || !slices.Contains(spec.Notes, "Not drawn: 2 runs more.") {
		t.Errorf("%d runs are drawn, with the notes %q", n, spec.Notes)
	}
	if name := spec.Panels[0].Series[0].Name; name != "baseline-r00001" {
		t.Errorf("a run of a name that others share is called %s", name)
	}
	c, _ := Named("resources")
	if _, err := c.Draw(of1(runs...)); err == nil || !strings.Contains(err.Error(), "it draws one run") {
		t.Errorf("several runs of a chart of one: %v", err)
	}
}
