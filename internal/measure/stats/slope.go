package stats

import "math"

// Slope is the least-squares line through a series, with bounds of its slope.
type Slope struct {
	N int
	// Slope is the change of y for each unit of x. Slope and its bounds are NaN with fewer than fewestOfSlope values or
	// a single x.
	Slope, Low, High float64
	// MeanX and MeanY are a point of the line.
	MeanX, MeanY float64
	// Memory is the correlation of neighbouring residuals, from 0 to below 1. Independent is the effective number
	// of values.
	Memory, Independent float64
}

// fewest values that can separate memory from a slope
const fewestOfSlope = 10

// at 1 there would be no interval
const mostMemory = 0.97

// SlopeOf fits a line through ys, in order of time, over xs. confidence is in (0, 1).
//
// Values of one run are not independent: what slows one second slows the next. So the usual
// interval is far too narrow: at a Memory of 0.6, one interval in three misses the true slope.
// SlopeOf takes the residuals for an autoregression of the first order. Its covariances replace σ²,
// and the degrees of freedom are those of the effective number of values n(1−ρ)/(1+ρ) (B. D. Santer
// et al., Statistical significance of trends and trend differences in layer-average atmospheric
// temperature time series, Journal of Geophysical Research 105, 2000). ρ is corrected for what the
// fitted line hides (F. H. C. Marriott and J. A. Pope, Bias in the estimation of autocorrelations,
// Biometrika 41, 1954). Negative memory counts as none, because it would narrow the interval.
func SlopeOf(xs, ys []float64, confidence float64) Slope {
	nan := math.NaN()
	s := Slope{N: min(len(xs), len(ys)), Slope: nan, Low: nan, High: nan, Independent: nan}
	if s.N == 0 {
		return s
	}
	n := float64(s.N)
	xs, ys = xs[:s.N], ys[:s.N]
	s.MeanX, _ = moments(xs)
	s.MeanY, _ = moments(ys)
	away, sumXX, sumXY := make([]float64, s.N), 0.0, 0.0
	for i := range xs {
		away[i] = xs[i] - s.MeanX
		sumXX += away[i] * away[i]
		sumXY += away[i] * (ys[i] - s.MeanY)
	}
	if s.N < fewestOfSlope || sumXX == 0 {
		return s
	}
	s.Slope = sumXY / sumXX
	squares, neighbours, before := 0.0, 0.0, 0.0
	for i := range ys {
		off := ys[i] - s.MeanY - s.Slope*away[i]
		squares += off * off
		neighbours += off * before
		before = off
	}
	if squares > 0 {
		s.Memory = min(mostMemory, max(0, (n*neighbours/squares+2)/(n-4)))
	}
	s.Independent = n * (1 - s.Memory) / (1 + s.Memory)
	// A line takes two degrees of freedom, and memory makes each cost more.
	variance := squares / max(1, n-2*n/s.Independent)
	half := StudentQuantile(1-confidence,
		max(2, int(s.Independent)-2)) * math.Sqrt(variance*remembered(away, s.Memory)) / sumXX
	s.Low, s.High = s.Slope-half, s.Slope+half
	return s
}

// remembered returns the variance of the weighted sum of an autoregression with variance 1.
func remembered(weights []float64, memory float64) (sum float64) {
	earlier := 0.0 // each times its remaining memory
	for _, w := range weights {
		sum += w * (w + 2*earlier)
		earlier = memory * (earlier + w)
	}
	return sum
}
