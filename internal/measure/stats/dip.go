package stats

import (
	"math"
	"slices"
)

// dip returns the least distance between the cumulative distribution of xs and one with a single mode (J. A. Hartigan
// and P. M. Hartigan, The Dip Test of Unimodality, 1985). It lies between 1/(2n) and 1/4; a skewed distribution still
// has one mode. Values must differ (see spreadTies).
//
// The cumulative distribution of xs rises in steps. Left of the mode, the nearest distribution is the highest convex
// curve below these steps, right of it the lowest concave curve above them.
func dip(xs []float64) float64 {
	x := slices.Sorted(slices.Values(xs))
	low, high := 0, len(x)-1
	widest := 1.0 // in steps of 1/n
	for low < high {
		below, above := hull(x, low, high, 1), hull(x, low, high, -1)
		from, to, apart := farthest(below, above)
		if apart <= widest {
			break
		}
		for i := low; i <= from; i++ {
			widest = max(widest, float64(i+1)-below.height[i-low])
		}
		for i := to; i <= high; i++ {
			widest = max(widest, above.height[i-low]-float64(i))
		}
		if from == low && to == high {
			break
		}
		low, high = from, to
	}
	return widest / float64(2*len(x))
}

// through corners of the steps
type curve struct {
	low     int
	corners []int
	height  []float64
}

// hull returns the greatest convex curve below the steps from x[low] to x[high] (side 1), or the least concave one
// above (side -1).
func hull(x []float64, low, high int, side float64) curve {
	base := 0.0
	if side < 0 {
		base = 1
	}
	slope := func(i, j int) float64 { return side * float64(j-i) / (x[j] - x[i]) }
	c := curve{low: low, height: make([]float64, high-low+1)}
	for i := low; i <= high; i++ {
		for len(c.corners) > 1 && slope(c.corners[len(c.corners)-2],
			c.corners[len(c.corners)-1]) >= slope(c.corners[len(c.corners)-1], i) {
			c.corners = c.corners[:len(c.corners)-1]
		}
		c.corners = append(c.corners, i)
	}
	for k, to := range c.corners[1:] {
		from := c.corners[k]
		for i := from; i <= to; i++ {
			part := (x[i] - x[from]) / (x[to] - x[from])
			c.height[i-low] = base + float64(from) + part*float64(to-from)
		}
	}
	return c
}

// farthest finds the corner with the greatest gap (apart) between the curves. If it is a corner of
// below, from is that corner, and to the next corner of above. If it is a corner of above, to is
// that corner, and from the last corner of below up to there.
func farthest(below, above curve) (from, to int, apart float64) {
	gap := func(i int) float64 { return above.height[i-below.low] - below.height[i-below.low] }
	next := 0
	for _, i := range below.corners {
		for above.corners[next] < i {
			next++
		}
		if g := gap(i); g > apart {
			from, to, apart = i, above.corners[next], g
		}
	}
	last := 0
	for _, i := range above.corners {
		for last+1 < len(below.corners) && below.corners[last+1] <= i {
			last++
		}
		if g := gap(i); g > apart {
			from, to, apart = below.corners[last], i, g
		}
	}
	return from, to, apart
}

// spreadTies spreads equal values over half the least gap to either side, because coarse values
// alone do not make a sample multimodal.
func spreadTies(xs []float64) []float64 {
	sorted := slices.Sorted(slices.Values(xs))
	gap := math.Inf(1)
	for i, x := range sorted[1:] {
		if d := x - sorted[i]; d > 0 {
			gap = min(gap, d)
		}
	}
	if math.IsInf(gap, 1) {
		gap = 1
	}
	apart := make([]float64, 0, len(sorted))
	for from := 0; from < len(sorted); {
		to := from + 1
		for to < len(sorted) && sorted[to] == sorted[from] {
			to++
		}
		for i := range to - from {
			place := (float64(i)+0.5)/float64(to-from) - 0.5
			apart = append(apart, sorted[from]+gap*place)
		}
		from = to
	}
	return apart
}

// One uniform sample in a hundred has a dip above dipLimits ÷ √n. Of all distributions with one
// mode, the uniform one has the largest dip. The limits are from M. Maechler's table for R's
// package diptest, with a million samples each.
var dipLimits = []limit{
	{4, 0.4636}, {5, 0.4394}, {6, 0.4700}, {7, 0.4871}, {8, 0.4893}, {9, 0.4925}, {10, 0.5050}, {15, 0.5267},
	{20, 0.5395}, {30, 0.5558}, {50, 0.5742}, {100, 0.5902}, {200, 0.6037}, {500, 0.6138}, {1000, 0.6201},
}

// One sample in a hundred of n values exceeds dipLimit.
func dipLimit(n int) float64 {
	if n < 4 {
		return 1 // never: three values always have one mode
	}
	return limitAt(dipLimits, n) / math.Sqrt(float64(n))
}
