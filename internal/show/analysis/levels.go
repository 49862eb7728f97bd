package analysis

import (
	"cmp"
	"math"
	"slices"

	"kafkabench.example/kafka-bench/internal/result/figure"
)

// decidingNames are the figures that a comparison tests by default: so few that five runs of each of
// two sets can show a difference in all of them. Of each row, the first that the sets have is tested.
var decidingNames = [][]string{
	{PrimaryName, "acked_per_s"},
	{"delivered_per_s", "send_response_time_p99"},
	{"lag_peak", "e2e_service_time_p99"},
	{"delivered_to_acked_ratio"},
}

// deciding returns the figures to test; all figures if the sets have none of decidingNames.
func deciding(figures []figure.Figure, has func(name string) bool) []figure.Figure {
	var names []string
	for _, row := range decidingNames {
		if at := slices.IndexFunc(row, has); at >= 0 {
			names = append(names, row[at])
		}
	}
	if len(names) == 0 {
		return figures
	}
	return slices.DeleteFunc(slices.Clone(figures),
		func(f figure.Figure) bool { return !slices.Contains(names, f.Name) })
}

type tested struct {
	p float64 // of the single test; NaN if nothing could be tested
	// level is the level at which the single test is decided. adjusted is the p-value to compare
	// with the level of all tests together.
	level, adjusted float64
	together        int // tests that share the level of the whole
}

// decide sets the level of each test, so that the chance of any false difference is at most alpha:
// S. Holm, A simple sequentially rejective multiple test procedure, Scandinavian Journal of
// Statistics 6, 1979. The tests need not be independent.
//
// The least p-value of m is compared with alpha ÷ m, the next with alpha ÷ (m−1), and so on. The
// first test that does not pass ends this, and its level holds for the remaining ones. A test
// passes if and only if the interval of its level excludes zero.
func decide(tests []tested, alpha float64) {
	var order []int
	for i, t := range tests {
		tests[i].level, tests[i].adjusted = alpha, math.NaN()
		if !math.IsNaN(t.p) {
			order = append(order, i)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(tests[a].p, tests[b].p) })
	level, adjusted, stopped := alpha, 0.0, false
	for rank, i := range order {
		left := float64(len(order) - rank)
		if !stopped {
			level = alpha / left
			stopped = tests[i].p > level
		}
		adjusted = max(adjusted, min(tests[i].p*left, 1))
		tests[i].together = len(order)
		tests[i].level, tests[i].adjusted = level, adjusted
	}
}
