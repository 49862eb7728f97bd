// Package stats computes what repeated runs show, and how sure that is.
//
// One run never carries a claim: the next one of the same configuration would
// have given other figures. So everything here takes the values of repeated runs
// and gives an answer with its doubt. Nothing is assumed of how the values are
// distributed, because what benchmarks measure is skewed, has long tails and
// several modes, and comes in handfuls: the laws are those of ranks and
// permutations, and they are exact for the few runs that a campaign has. Values
// are never dropped; what looks wrong is named (Warnings).
//
// The conclusions are those of golang.org/x/perf/benchmath, which the tests hold
// this package against. It does not serve as the engine: it gives no interval of
// a difference and no change points, it mirrors the tail of a distribution that
// ties have made lopsided, its interval of the median approximates from 31
// values on and may leave out the slowest run but not the fastest, and it sorts
// what it is given, which loses the order in time.
//
// All functions are pure: the same values, in the same order where order
// matters, give the same answer. Values must be finite.
//
// Files to know: summary.go, compare.go, ranks.go, warnings.go, changes.go, slope.go,
// cost.go.
package stats
