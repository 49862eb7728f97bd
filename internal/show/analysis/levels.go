package analysis

import (
	"cmp"
	"math"
	"slices"
)

// tested is one test of several that are read together.
type tested struct {
	p float64 // by itself; NaN where nothing could be tested
	// level is the one that the test is decided at, and adjusted the p-value
	// that can be held against the level of the whole.
	level, adjusted float64
	together        int // tests that share the level of the whole
}

// decide gives each of several tests the level that it is decided at, so that
// the chance that anything at all is called a difference, where nothing differs, is
// at most alpha: S. Holm, A simple sequentially rejective multiple test procedure,
// Scandinavian Journal of Statistics 6, 1979. It asks nothing of the figures, which
// is what figures of one run need: they hang together.
//
// The least p-value of m is held against alpha ÷ m, the next against
// alpha ÷ (m−1), and so on; the first that does not pass stops it, and its level
// holds for all that are left. So a test is passed exactly where p is at most its
// level, and an interval of that level leaves out zero exactly there.
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
