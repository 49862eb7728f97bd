package report

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

// Holm's procedure on an example worked by hand: at 5 % over four tests the levels
// are 1.25 %, 1.67 % and then, as 2.6 % is above 2.5 %, 2.5 % for all that are left.
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

// A test passes at its level exactly where its adjusted p is at most alpha, no test
// is decided at more than alpha or at less than alpha over their number, and a lower
// p is never worse off.
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
