package stats

import "math"

// Verdict is what a comparison of b with a shows.
type Verdict int8

// Whether lower is better depends on the figure.
const (
	TooFew       Verdict = iota // no outcome could have shown a difference
	NoDifference                // which does not show that there is none
	Lower                       // b is lower than a
	Higher                      // b is higher than a
)

// Comparison compares values b with values a.
type Comparison struct {
	A, B Summary
	// Shift is how much b is higher than a, in the figure's unit: the Hodges–Lehmann estimate. ShiftLow and
	// ShiftHigh bound it with confidence 1 − alpha (Moses); NaN with too few values.
	Shift, ShiftLow, ShiftHigh float64
	// Difference, Low and High are Shift and its bounds as parts of |A.Median|. If A.Median is 0,
	// they are 0 without a shift, else infinite. They ignore the uncertainty of A's median.
	Difference, Low, High float64
	// P is the chance that two samples of one population differ at least this much, by the Mann–Whitney test. It
	// is exact up to 60 values in all.
	P       float64
	Verdict Verdict
	// More, with TooFew, is how many more runs of each could show a difference at all.
	More int
	// MoreToShow, with NoDifference, is how many more runs of each show the difference seen here,
	// if it is real, in 4 of 5 campaigns; 0 stands for more than 1000 (G. E. Noether, Sample Size
	// Determination for Some Common Nonparametric Tests, 1987). Use it for the next campaign: if
	// you add runs until a difference shows, you always find one.
	MoreToShow int
}

const power = 0.8

const mostRuns = 1000

// Compare compares b with a at the level alpha, usually 0.05. Comparing a configuration with itself
// gives Lower or Higher in at most this part of the comparisons. The rank test decides; with ties
// or outliers the interval of the shift may still touch 0.
func Compare(a, b []float64, alpha float64) Comparison {
	return CompareSamples(Sample{Values: a}, Sample{Values: b}, alpha)
}

// CompareSamples is Compare for values of which some are only lower bounds.
func CompareSamples(a, b Sample, alpha float64) Comparison {
	c := Comparison{A: Summarise(a.Values, 1-alpha), B: Summarise(b.Values, 1-alpha)}
	c.Shift, c.ShiftLow, c.ShiftHigh = shift(a.Values, b.Values, alpha)
	c.Difference = relative(c.Shift, c.A.Median)
	c.Low, c.High = relative(c.ShiftLow, c.A.Median), relative(c.ShiftHigh, c.A.Median)
	var greater float64
	c.P, greater = testOfRanks(ranksOf(a, b), c.A.N)
	switch {
	case leastP(c.A.N, c.B.N) > alpha:
		c.Verdict, c.More = TooFew, runsToReach(c.A.N, c.B.N, alpha)
	case c.P > alpha:
		c.Verdict, c.MoreToShow = NoDifference, runsToShow(c.A.N, c.B.N, greater, alpha)
	case greater < 0.5:
		c.Verdict = Lower
	default:
		c.Verdict = Higher
	}
	return c
}

// leastP returns the p of two samples without overlap.
func leastP(m, n int) float64 {
	ways := 1.0
	for i := 1; i <= n; i++ {
		ways *= float64(m+i) / float64(i)
	}
	return min(1, 2/ways)
}

// Enough reports whether two samples of n values can show a difference at the level alpha.
func Enough(n int, alpha float64) bool { return leastP(n, n) <= alpha }

// runsToReach returns the fewest further runs of each that can show a difference; 0 above mostRuns.
func runsToReach(m, n int, alpha float64) int {
	for more := 1; more <= mostRuns; more++ {
		if leastP(m+more, n+more) <= alpha {
			return more
		}
	}
	return 0
}

// runsToShow returns Noether's size minus the present runs; greater is the part of pairs in which b's value is
// greater.
func runsToShow(m, n int, greater, alpha float64) int {
	z := normalQuantile(alpha) + normalQuantile(2*(1-power))
	each := z * z / (6 * (greater - 0.5) * (greater - 0.5))
	more := math.Ceil(each) - float64(min(m, n))
	if more > mostRuns {
		return 0
	}
	return max(1, int(more))
}

// String returns the verdict in words.
func (v Verdict) String() string {
	switch v {
	case TooFew:
		return "too few runs"
	case NoDifference:
		return "no difference shown"
	case Lower:
		return "lower"
	case Higher:
		return "higher"
	}
	return "unknown"
}
