package stats

import (
	"math"
	"slices"
)

// Summary describes repeated values of one figure.
type Summary struct {
	N      int
	Median float64
	// Low and High bound the median; NaN with too few values.
	Low, High float64
	// Confidence is the interval's, at least the requested one.
	Confidence             float64
	Min, Max, Mean, Stddev float64
	// Spread is the interquartile range ÷ |median|: the typical error of a single run. It is NaN if
	// the median is 0 and the range is not.
	Spread float64
}

// Summarise describes xs, in any order, without changing it. confidence is in (0, 1), usually 0.95. Without values
// every figure is NaN.
//
// The interval of the median comes from order statistics. The k-th smallest of n values is above the population's
// median with the chance that fewer than k of n fair coins show heads, for any distribution (W. J. Conover,
// Practical Nonparametric Statistics, 1999, section 3.2; J.-Y. Le Boudec, Performance Evaluation of Computer and
// Communication Systems, 2010, theorem 2.1). It is exact for every n, and symmetric in ranks: leaving out only the
// slowest run would flatter. At 95 % it needs six values.
func Summarise(xs []float64, confidence float64) Summary {
	nan := math.NaN()
	s := Summary{N: len(xs), Median: nan, Low: nan, High: nan, Min: nan, Max: nan, Mean: nan, Stddev: nan, Spread: nan}
	if s.N == 0 {
		return s
	}
	sorted := slices.Sorted(slices.Values(xs))
	s.Min, s.Max = sorted[0], sorted[s.N-1]
	s.Median = quantile(sorted, 0.5)
	s.Mean, s.Stddev = moments(sorted)
	s.Spread = relative(quantile(sorted, 0.75)-quantile(sorted, 0.25), s.Median)
	if math.IsInf(s.Spread, 0) {
		s.Spread = nan
	}
	if k, reached := medianRank(s.N, confidence); k > 0 {
		s.Low, s.High, s.Confidence = sorted[k-1], sorted[s.N-k], reached
	}
	return s
}

// medianRank returns the largest k for which the k-th smallest and largest values contain the median with the
// given confidence, and the confidence reached; 0 without one.
func medianRank(n int, confidence float64) (k int, reached float64) {
	all, _ := math.Lgamma(float64(n + 1))
	tail := 0.0 // P(at most i of n coins show heads)
	for i := range n / 2 {
		heads, _ := math.Lgamma(float64(i + 1))
		tails, _ := math.Lgamma(float64(n - i + 1))
		tail += math.Exp(all - heads - tails - float64(n)*math.Ln2)
		if 1-2*tail < confidence {
			break
		}
		k, reached = i+1, 1-2*tail
	}
	return k, reached
}

// moments divides the squares by n−1. stddev is 0 for one value.
func moments(xs []float64) (mean, stddev float64) {
	squares := 0.0
	for i, x := range xs { // Welford 1962: no difference of large sums
		delta := x - mean
		mean += delta / float64(i+1)
		squares += delta * (x - mean)
	}
	if len(xs) < 2 {
		return mean, 0
	}
	return mean, math.Sqrt(squares / float64(len(xs)-1))
}

// Type 7 of R. J. Hyndman and Y. Fan, Sample Quantiles in Statistical Packages, 1996.
func quantile(sorted []float64, q float64) float64 {
	at := q * float64(len(sorted)-1)
	below := int(at)
	if below == len(sorted)-1 || at == float64(below) || sorted[below] == sorted[below+1] { // may be +Inf
		return sorted[below]
	}
	return sorted[below] + (at-float64(below))*(sorted[below+1]-sorted[below])
}

func median(xs []float64) float64 { return quantile(slices.Sorted(slices.Values(xs)), 0.5) }

// relative keeps the difference's sign. If base is 0, the result is infinite unless the difference
// is 0.
func relative(difference, base float64) float64 {
	if difference == 0 {
		return 0
	}
	return difference / math.Abs(base)
}
