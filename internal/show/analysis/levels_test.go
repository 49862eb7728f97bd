package analysis

import (
	"cmp"
	"math"
	rand "math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"kafkabench.example/kafka-bench/internal/result/figure"
)

// Holm's example at 5 % over four tests. The first levels are 1.25 %, 1.67 % and 2.5 %. The third
// p-value, 2.6 %, is above 2.5 %, so the fourth test has this level too.
func TestDecide(t *testing.T) {
	tests := []tested{{p: 0.030}, {p: 0.001}, {p: math.NaN()}, {p: 0.026}, {p: 0.016}}
	decide(tests, 0.05)
	for i, want := range []tested{
		{level: 0.025, adjusted: 0.052}, {level: 0.0125, adjusted: 0.004}, {level: 0.05, adjusted: math.NaN()},
		{level: 0.025, adjusted: 0.052}, {level: 0.05 / 3, adjusted: 0.048},
	} {
		if got := tests[i]; !near(got.level, want.level) || !near(got.adjusted, want.adjusted) {
			t.Errorf("test %d: level %v, adjusted p %v, want %v and %v", i, got.level, got.adjusted, want.level, want.adjusted)
		}
	}
}

func near(a, b float64) bool { return math.IsNaN(a) && math.IsNaN(b) || math.Abs(a-b) < 1e-12 }

func TestDecideLaws(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var tests []tested
		for _, p := range rapid.SliceOfN(rapid.Float64Range(0, 1), 1, 20).Draw(t, "p") {
			tests = append(tests, tested{p: p * p * p})
		}
		alpha := rapid.Float64Range(0.001, 0.3).Draw(t, "alpha")
		decide(tests, alpha)
		for _, a := range tests {
			if !near(a.adjusted, alpha) && (a.p <= a.level) != (a.adjusted <= alpha) {
				t.Fatalf("p %v at level %v has the adjusted p %v, at %v", a.p, a.level, a.adjusted, alpha)
			}
			if a.level > alpha*(1+1e-12) || a.level < alpha/float64(len(tests))*(1-1e-12) {
				t.Fatalf("level %v of %d tests at %v", a.level, len(tests), alpha)
			}
			for _, b := range tests {
				if a.p < b.p && a.adjusted > b.adjusted {
					t.Fatalf("p %v has the adjusted p %v, and %v has %v", a.p, a.adjusted, b.p, b.adjusted)
				}
			}
		}
	})
}

// Two of the nine cells are tied and the others far off, so calling a cell best is always false. It
// may happen in at most 5 % of campaigns, plus two standard errors.
func TestFalseBest(t *testing.T) {
	campaigns := 4000
	if testing.Short() {
		campaigns = 1000
	}
	random := rand.New(rand.NewPCG(9, 2))
	by := FigureCalled(PrimaryName)
	d := &Study{By: by}
	called := 0
	for range campaigns {
		cells := make([]Cell, 9)
		for i := range cells {
			level := 1.0
			if i >= 2 {
				level = 100
			}
			values := make([]float64, 5)
			for k := range values {
				values[k] = level * math.Exp(0.1*random.NormFloat64())
			}
			cells[i].Figures = map[string]Repeated{by.Name: FromValues(values)}
		}
		slices.SortFunc(cells, func(a, b Cell) int {
			return cmp.Compare(a.Figures[by.Name].Summary.Median, b.Figures[by.Name].Summary.Median)
		})
		if !slices.ContainsFunc(d.Against(cells), func(c Contender) bool { return c.Word != WordWorse }) {
			called++
		}
	}
	share, most := float64(called)/float64(campaigns), 0.05+2*math.Sqrt(0.05*0.95/float64(campaigns))
	if share > most || called == 0 {
		t.Errorf("%d of %d campaigns call a best one, at most %.4f may", called, campaigns, most)
	}
	t.Logf("%.2f %% call a best one that is tied", 100*share)
}

func TestPrimaryFigure(t *testing.T) {
	apart := func(name string) ComparedFigure { // no overlap of five runs each: p is 2 ÷ 252
		a, b := FromValues([]float64{1, 2, 3, 4, 5}), FromValues([]float64{6, 7, 8, 9, 10})
		f := ComparedFigure{Figure: name, A: a, B: b, Of: FigureCalled(name)}
		f.Test.P = 2.0 / 252
		return f
	}
	all := []Against{{}}
	for _, f := range figure.Headline() {
		all[0].Figures = append(all[0].Figures, apart(f.Name))
	}
	primary, others := decideAll(all, 0.05, FigureCalled(PrimaryName))
	if primary != 1 || others != len(figure.Headline())-1 {
		t.Fatalf("%d tests of the primary figure and %d others", primary, others)
	}
	for _, f := range all[0].Figures {
		word, level := WordTooFew, 0.05/float64(others)
		if f.Figure == PrimaryName {
			word, level = WordWorse, 0.05
		}
		if f.Word != word || !near(f.Level, level) {
			t.Errorf("%s is %q at %v, want %q at %v", f.Figure, f.Word, f.Level, word, level)
		}
	}
}
