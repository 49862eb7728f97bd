// Package stats computes what repeated runs show, and how sure that is.
//
// One run proves nothing: the next one of the same configuration gives other figures. So every function takes
// values of repeated runs and returns an answer with its uncertainty. It assumes no distribution, because
// benchmark figures are skewed, have long tails and several modes, and are few. Tests and intervals use ranks and
// permutations, and are exact for few runs. Values are never dropped; Warnings name odd ones.
//
// The tests compare this package with golang.org/x/perf/benchmath. That package has no interval of a difference
// and no change points. From 31 values on it approximates the median's interval, and may leave out the slowest run
// but not the fastest.
//
// All functions are pure, and depend on the order of values only if order matters. Values must be finite.
//
// Files to know: summary.go, compare.go, ratio.go, ranks.go, warnings.go, changes.go, slope.go, cost.go.
package stats
