package stats

import "math"

// Cost is a cost with a fixed part and a part for each unit of size: y = Fixed + PerUnit·x.
type Cost struct {
	N                                int
	Fixed, FixedLow, FixedHigh       float64
	PerUnit, PerUnitLow, PerUnitHigh float64
	// Knee is the size at which both parts are equal; below it the fixed part is larger. Its low bound is 0 if
	// Fixed is not shown to be above 0, and its high one +Inf if PerUnit is not. Neither shown, or an
	// estimate of 0 or less, is NaN.
	Knee, KneeLow, KneeHigh float64
}

// fewest values that give Fixed and PerUnit an interval
const fewestOfCost = 4

// CostOf fits both parts to costs ys of sizes xs, all above 0, in any order. confidence is in (0, 1). With fewer
// than four values or two sizes everything is NaN.
//
// Costs over several orders of magnitude have relative errors. So the fit minimises their squares: 1 = Fixed·(1/y)
// + PerUnit·(x/y), with weights as in C. R. Rao, Linear Statistical Inference, 1973, section 4a. The knee's bounds
// are those of E. C. Fieller, Some Problems in Interval Estimation, Journal of the Royal Statistical Society B 16,
// 1954.
func CostOf(xs, ys []float64, confidence float64) Cost {
	nan := math.NaN()
	c := Cost{
		N: min(len(xs), len(ys)), Fixed: nan, FixedLow: nan, FixedHigh: nan,
		PerUnit: nan, PerUnitLow: nan, PerUnitHigh: nan, Knee: nan, KneeLow: nan, KneeHigh: nan,
	}
	var uu, uv, vv, u1, v1 float64
	for i := range c.N {
		u, v := 1/ys[i], xs[i]/ys[i]
		uu, uv, vv, u1, v1 = uu+u*u, uv+u*v, vv+v*v, u1+u, v1+v
	}
	det := uu*vv - uv*uv
	if c.N < fewestOfCost || det <= 1e-12*uu*vv { // one size
		return c
	}
	c.Fixed, c.PerUnit = (u1*vv-v1*uv)/det, (v1*uu-u1*uv)/det
	squares := 0.0
	for i := range c.N {
		off := 1 - (c.Fixed+c.PerUnit*xs[i])/ys[i]
		squares += off * off
	}
	degrees := c.N - 2
	t := StudentQuantile(1-confidence, degrees)
	scale := squares / float64(degrees) / det
	ff, pp, fp := scale*vv, scale*uu, -scale*uv
	c.FixedLow, c.FixedHigh = around(c.Fixed, t*math.Sqrt(ff))
	c.PerUnitLow, c.PerUnitHigh = around(c.PerUnit, t*math.Sqrt(pp))
	if c.Fixed > 0 && c.PerUnit > 0 {
		c.Knee = c.Fixed / c.PerUnit
		c.KneeLow, c.KneeHigh = fieller(c.Fixed, c.PerUnit, t*t*ff, t*t*pp, t*t*fp)
	}
	return c
}

func around(x, half float64) (low, high float64) { return x - half, x + half }

// fieller bounds a ÷ b, both above 0, given their variances and covariance times t². The interval
// has all ratios r for which a − r·b may be 0.
func fieller(a, b, aa, bb, ab float64) (low, high float64) {
	// (a − r·b)² ≤ aa − 2r·ab + r²·bb is square·r² − 2·middle·r + rest ≤ 0 with
	square, middle, rest := b*b-bb, a*b-ab, a*a-aa
	root := math.Sqrt(max(0, middle*middle-square*rest))
	switch {
	case square > 0:
		return max(0, (middle-root)/square), (middle + root) / square
	case rest > 0: // b may be 0: no upper bound
		return max(0, rest/(middle+root)), math.Inf(1)
	}
	return math.NaN(), math.NaN()
}
