package stats

import (
	"cmp"
	"math"
	"slices"
)

// Sample has the values of one figure. A value of +Inf is unknown: it is at least the entry of AtLeast with the same
// index. If AtLeast is nil, +Inf is above every other value.
type Sample struct {
	Values, AtLeast []float64
}

// ranksOf returns the doubled ranks of the values of a, then of b. An unknown value ranks above the values up to its
// bound. Two values tie if their order is unknown: both are only bounds, or a value is above another's bound (E. A.
// Gehan, A Generalized Wilcoxon Test for Comparing Arbitrarily Singly-Censored Samples, Biometrika 52, 1965).
func ranksOf(a, b Sample) []int {
	values, atLeast := slices.Concat(a.Values, b.Values), slices.Concat(a.AtLeast, b.AtLeast)
	unknown := func(i int) bool { return math.IsInf(values[i], 1) && len(atLeast) == len(values) }
	if !slices.ContainsFunc(values, func(v float64) bool { return math.IsInf(v, 1) }) || len(atLeast) != len(values) {
		ranks, _ := doubledRanks(values)
		return ranks
	}
	ranks := make([]int, len(values))
	for i := range ranks {
		ranks[i] = len(values) + 1
		for j := range values {
			switch {
			case unknown(i) && unknown(j):
			case unknown(i) && values[j] <= atLeast[i]:
				ranks[i]++
			case unknown(j) && values[i] <= atLeast[j]:
				ranks[i]--
			case !unknown(i) && !unknown(j):
				ranks[i] += cmp.Compare(values[i], values[j])
			}
		}
	}
	return ranks
}
