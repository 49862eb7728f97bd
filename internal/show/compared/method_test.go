package compared_test

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"kafkabench.example/kafka-bench/internal/result"
	"kafkabench.example/kafka-bench/internal/result/figure"
	"kafkabench.example/kafka-bench/internal/show/analysis"
	"kafkabench.example/kafka-bench/internal/show/compared"
	"kafkabench.example/kafka-bench/internal/show/report"
	"kafkabench.example/kafka-bench/internal/show/showtest"
)

func ofMethods(t *testing.T, methods ...int) (sets []analysis.Set) {
	m := showtest.NewMaker(t, 7)
	for _, method := range methods {
		set := analysis.Set{Label: "set"}
		for range 5 {
			set.Runs = append(set.Runs, m.Run("baseline", 1, func(r *result.Run) { r.Run.MethodVersion = method }))
		}
		sets = append(sets, set)
	}
	return sets
}

func TestNoTestMixesMethods(t *testing.T) {
	for _, c := range []struct {
		methods []int
		tested  bool
	}{{[]int{1, 1}, true}, {[]int{2, 2}, true}, {[]int{1, 2}, false}, {[]int{2, 1}, false}, {[]int{3, 3}, false}} {
		condition, err := figure.ParseRegression("e2e_response_time_p99 worse by 10%")
		if err != nil {
			t.Fatal(err)
		}
		found, err := analysis.Compare(ofMethods(t, c.methods...), analysis.CompareOptions{FailIf: []figure.Regression{condition}})
		if err != nil {
			t.Fatal(err)
		}
		got := compared.ComparisonOf(found)
		var tested []string
		for _, f := range got.Against[0].Figures {
			tested = append(tested, f.Figure)
		}
		if slices.Contains(tested, "e2e_response_time_p99") != c.tested || slices.Contains(tested, "acked_per_s") != !slices.Equal(c.methods, []int{3, 3}) {
			t.Errorf("methods %v: %v are tested", c.methods, tested)
		}
		if undecided := got.Checks[0].Status == analysis.CheckUndecided; undecided == c.tested {
			t.Errorf("methods %v: the condition is %s: %s", c.methods, got.Checks[0].Status, got.Checks[0].Text)
		}
		const why = "e2e response time p99 was not measured in both: measured otherwise before method 2"
		if slices.Equal(c.methods, []int{1, 2}) && got.Checks[0].Text != why {
			t.Errorf("the condition says %q, want %q", got.Checks[0].Text, why)
		}
	}
}

func TestNoTableMixesMethods(t *testing.T) {
	sets := ofMethods(t, 1, 2)
	all := slices.Concat(sets[0].Runs, sets[1].Runs)
	history, err := analysis.Over(all, analysis.HistoryOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for i, run := range history.Runs {
		if known := run.Values[0] != nil; known != (i >= 5) {
			t.Errorf("run %d of 10 of the history has e2e_response_time_p99: %t", i+1, known)
		}
	}
	for _, r := range sets[0].Runs {
		r.Run.Run.Name = "before"
	}
	var text bytes.Buffer
	if err := report.SideBySide(&text, all, report.Options{}); err != nil {
		t.Fatal(err)
	}
	for _, line := range strings.Split(text.String(), "\n") {
		row, _, mixed := strings.Cut(line, "–")
		switch strings.Fields(row + "–")[0] {
		case "delivered", "e2e", "time":
			if strings.Contains(line, "÷ scheduled") {
				continue
			}
			if !mixed {
				t.Errorf("the older runs have a figure that compares with none of the others: %s", line)
			}
		}
	}
	const note = "5 runs of method 1: figures that were measured otherwise before method 2 are of the other 5."
	if !strings.Contains(text.String(), note) {
		t.Errorf("nobody says why:\n%s", text.String())
	}
}

// A run that did not drain has only a lower bound of its p99, which ranks above every drained run.
func TestBoundsAreRanked(t *testing.T) {
	m := showtest.NewMaker(t, 3)
	set := func(label string, change func(*result.Run)) analysis.Set {
		s := analysis.Set{Label: label}
		for range 5 {
			s.Runs = append(s.Runs, m.Run(label, 1, change))
		}
		return s
	}
	drained := set("drained", nil)
	bounded := func(r *result.Run) {
		e2e := r.Time["e2e_response_time"]
		e2e.NotEnded, e2e.P99Ns, e2e.AtLeast = e2e.Count/10, 19.5e9, []string{"p99_ns"}
		r.Time["e2e_response_time"] = e2e
	}
	undrained := set("undrained", bounded)
	f, err := figure.Named("e2e_response_time_p99")
	if err != nil {
		t.Fatal(err)
	}
	condition, err := figure.ParseRegression("e2e_response_time_p99 worse by 10%")
	if err != nil {
		t.Fatal(err)
	}
	options := analysis.CompareOptions{Figures: []figure.Figure{f}, FailIf: []figure.Regression{condition}}
	c, err := analysis.Compare([]analysis.Set{drained, undrained}, options)
	if err != nil {
		t.Fatal(err)
	}
	got := c.Against[0].Figures[0]
	if got.Word != analysis.WordWorse || got.Difference != nil || got.Shift != nil || got.Low != nil ||
		got.B.Median != nil || got.B.AtLeast == nil || *got.B.AtLeast != 19.5e9 {
		t.Errorf("%+v", got)
	}
	if !c.Failed() {
		t.Errorf("the condition says %+v", compared.ComparisonOf(c).Checks)
	}
	var text bytes.Buffer
	if err := compared.ComparisonOf(c).Write(&text, report.Options{}); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(text.String(), "> 19.5 s") {
		t.Errorf("the bound is not in\n%s", text.String())
	}
	if c, err = analysis.Compare([]analysis.Set{undrained, set("again", bounded)}, options); err != nil {
		t.Fatal(err)
	}
	if got := c.Against[0].Figures[0]; got.Word != analysis.WordNoDifference || got.Difference != nil {
		t.Errorf("bounds against bounds: %+v", got)
	}
	history, err := analysis.Over(append(drained.Runs, undrained.Runs...), analysis.HistoryOptions{})
	if err != nil {
		t.Fatal(err)
	}
	text.Reset()
	if err := compared.HistoryOf(history).Write(&text, report.Options{}); err != nil {
		t.Fatal(err)
	}
	const note = "e2e response time p99: of 5 runs only a lower bound is known, and no level takes it in."
	if !strings.Contains(text.String(), note) {
		t.Errorf("the history does not say that of half of its runs it has only a bound:\n%s", text.String())
	}
}
