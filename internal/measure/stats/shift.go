package stats

import (
	"math"
	"slices"
)

// shift returns how much b is higher than a: the median of all differences of a value of b and one
// of a (J. L. Hodges and E. L. Lehmann, Estimates of Location Based on Rank Tests, 1963). Even if
// the difference of the means is the best estimate, the shift is almost as precise.
//
// The interval has the shifts that the rank test would not reject at alpha (L. E. Moses, in Walker and Lev,
// Statistical Inference, 1953; M. Hollander and D. A. Wolfe, Nonparametric Statistical Methods, 1999, section
// 4.3). It goes from the k-th smallest to the k-th largest difference; k follows from the distribution of U. It is
// exact without ties, and assumes distributions of the same shape. If the samples are too small, low and high are
// NaN. If a value is infinite, all three are NaN, because it has a rank but no distance.
func shift(a, b []float64, alpha float64) (estimate, low, high float64) {
	m, n := len(a), len(b)
	infinite := func(v float64) bool { return math.IsInf(v, 0) }
	if m == 0 || n == 0 || slices.ContainsFunc(a, infinite) || slices.ContainsFunc(b, infinite) {
		return math.NaN(), math.NaN(), math.NaN()
	}
	differences := make([]float64, 0, m*n)
	for _, x := range a {
		for _, y := range b {
			differences = append(differences, y-x)
		}
	}
	slices.Sort(differences)
	estimate = quantile(differences, 0.5)
	k := mosesRank(m, n, alpha)
	if k == 0 {
		return estimate, math.NaN(), math.NaN()
	}
	return estimate, differences[k-1], differences[m*n-k]
}

// mosesRank returns the rank at which the interval begins; 0 without one.
func mosesRank(m, n int, alpha float64) int {
	if m+n > exactLimit {
		pairs := float64(m) * float64(n)
		return max(0, int(pairs/2-normalQuantile(alpha)*math.Sqrt(pairs/12*float64(m+n+1))))
	}
	k, tail := 0, 0.0
	for _, chance := range inversions(m, n) {
		tail += chance
		if 2*tail > alpha {
			break
		}
		k++
	}
	return k
}
