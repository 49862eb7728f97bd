package stats

import "math"

// Ratio returns how many times as high b is as a: the median of all quotients of a value of b and
// one of a. Its bounds enclose the quotients that the rank test would not reject at alpha. It is
// the shift between the logarithms, so it assumes distributions that differ by a factor. Without
// ties the bounds exclude 1 if and only if the rank test shows a difference; with too few values
// they are NaN. If a value is not positive and finite, all three are NaN.
func Ratio(a, b []float64, alpha float64) Estimate {
	value, low, high := shift(logarithms(a), logarithms(b), alpha)
	return Estimate{Value: math.Exp(value), Low: math.Exp(low), High: math.Exp(high)}
}

// logarithms returns −Inf for a value without a logarithm, so that the shift is not known.
func logarithms(values []float64) []float64 {
	logs := make([]float64, len(values))
	for i, v := range values {
		logs[i] = math.Log(max(v, 0))
	}
	return logs
}
