package stats

import "math"

// Verdict is what a comparison shows of b against a.
type Verdict int8

// Verdicts. Whether lower is better only the figure knows.
const (
	TooFew       Verdict = iota // values: no outcome could have shown a difference
	NoDifference                // was shown; that there is none never can be
	Lower                       // b is lower than a
	Higher                      // b is higher than a
)

// Comparison sets values b against values a.
type Comparison struct {
	A, B Summary
	// Shift is by how much b is higher than a, in the figure's unit: the
	// estimate of Hodges and Lehmann. ShiftLow and ShiftHigh bound it with the
	// confidence 1 − alpha, by ranks (Moses). NaN where there are too few values.
	Shift, ShiftLow, ShiftHigh float64
	// Difference, Low and High are Shift and its bounds as parts of |A.Median|:
	// 0.1 is 10 % of it higher, whatever its sign. Where A's median is 0 they
	// are 0 for no shift and infinite for any other; Shift then says how much.
	// The uncertainty of A's median itself is not in them.
	Difference, Low, High float64
	// P is the chance that values of one population come out at least as far
	// apart as these, by the rank test of Mann and Whitney: exact up to 60 values
	// in all, with ties too.
	P       float64
	Verdict Verdict
	// More, with TooFew, is how many further runs of each would be enough for
	// the test to show a difference at all: as many as make two samples without
	// overlap rarer than alpha. Otherwise 0.
	More int
	// MoreToShow, with NoDifference, is how many further runs of each would show
	// a difference like the one seen in four of five campaigns, if it is real (G.
	// E. Noether, Sample Size Determination for Some Common Nonparametric Tests,
	// 1987); 0 where that is beyond a thousand. Plan the next campaign with it:
	// who adds runs until a difference shows will find one.
	MoreToShow int
}

// power is the chance to be shown that MoreToShow is to give a difference.
const power = 0.8

// mostRuns is the number of further runs beyond which nobody is told one.
const mostRuns = 1000

// Compare sets b against a at the level alpha, as a rule 0.05: of comparisons of
// a configuration with itself, at most this share says Lower or Higher. The
// verdict is that of the rank test; with ties or outliers the interval of the
// shift may touch 0 nevertheless.
func Compare(a, b []float64, alpha float64) Comparison {
	c := Comparison{A: Summarise(a, 1-alpha), B: Summarise(b, 1-alpha)}
	c.Shift, c.ShiftLow, c.ShiftHigh = shift(a, b, alpha)
	c.Difference = relative(c.Shift, c.A.Median)
	c.Low, c.High = relative(c.ShiftLow, c.A.Median), relative(c.ShiftHigh, c.A.Median)
	var greater float64
	c.P, greater = rankTest(a, b)
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

// leastP is the p of two samples that do not overlap, the least there is: two of
// the ways to choose which values are a's.
func leastP(m, n int) float64 {
	ways := 1.0
	for i := 1; i <= n; i++ {
		ways *= float64(m+i) / float64(i)
	}
	return min(1, 2/ways)
}

// Enough reports whether n values of each of two samples can show a difference at the level
// alpha at all.
func Enough(n int, alpha float64) bool { return leastP(n, n) <= alpha }

// runsToReach is the least number of runs more of each with which a difference
// could be shown; 0 where a thousand are not enough.
func runsToReach(m, n int, alpha float64) int {
	for more := 1; more <= mostRuns; more++ {
		if leastP(m+more, n+more) <= alpha {
			return more
		}
	}
	return 0
}

// runsToShow is Noether's size of each of two equal samples, less what there is.
// Greater is the share of pairs in which the value of b is the greater.
func runsToShow(m, n int, greater, alpha float64) int {
	z := normalQuantile(alpha) + normalQuantile(2*(1-power))
	each := z * z / (6 * (greater - 0.5) * (greater - 0.5))
	more := math.Ceil(each) - float64(min(m, n))
	if more > mostRuns {
		return 0
	}
	return max(1, int(more))
}

// String is the verdict in words.
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
