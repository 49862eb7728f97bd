package stats

import "math"

// trend is the test of H. B. Mann (Nonparametric Tests Against Trend, 1945) and M. G. Kendall. s is the number of
// rising pairs minus falling ones. p is the chance of an s at least as far from 0 if the order is random.
//
// The number of falling pairs over all orders has the generating function of a Gaussian multinomial
// coefficient, a product of the distributions of U. Above exactLimit p is approximated, with ties
// and continuity (M. G. Kendall, Rank Correlation Methods, 1975, chapter 4).
func trend(xs []float64) (s int, p float64) {
	n := len(xs)
	for i, x := range xs {
		for _, later := range xs[i+1:] {
			switch {
			case later > x:
				s++
			case later < x:
				s--
			}
		}
	}
	if s == 0 {
		return 0, 1
	}
	_, ties := doubledRanks(xs)
	if n > exactLimit {
		size := func(k int) float64 { return float64(k) * float64(k-1) * float64(2*k+5) }
		variance := size(n)
		for _, t := range ties {
			variance -= size(t)
		}
		return s, normalTail(math.Abs(float64(s))-1, math.Sqrt(variance/18))
	}
	falling := []float64{1}
	before := 0
	for _, t := range ties {
		falling = convolve(falling, inversions(before, t))
		before += t
	}
	pairs := len(falling) - 1
	for k, chance := range falling {
		if abs(pairs-2*k) >= abs(s) {
			p += chance
		}
	}
	return s, min(p, 1)
}

func convolve(a, b []float64) []float64 {
	sum := make([]float64, len(a)+len(b)-1)
	for i, x := range a {
		for j, y := range b {
			sum[i+j] += x * y
		}
	}
	return sum
}
