package stats

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

func TestBounds(t *testing.T) {
	inf := math.Inf(1)
	bounds := func(at ...float64) Sample {
		s := Sample{AtLeast: at}
		for range at {
			s.Values = append(s.Values, inf)
		}
		return s
	}
	values := func(v ...float64) Sample { return Sample{Values: v, AtLeast: v} }
	for _, c := range []struct {
		name    string
		a, b    Sample
		verdict Verdict
		p       float64
	}{
		{"all bounds are above all values", bounds(74, 74, 75, 75, 76), values(1, 2, 3, 4, 5), Lower, 2. / 252},
		{"values at the bounds", bounds(5, 5, 5, 5, 5), values(1, 2, 3, 4, 5), Lower, 2. / 252},
		{"values above the bounds may be lower or higher", bounds(5, 5, 5, 5, 5), values(6, 7, 8, 9, 10), NoDifference, 1},
		{"two sets of bounds", bounds(5, 6, 7, 8, 9), bounds(50, 60, 70, 80, 90), NoDifference, 1},
		{"without bounds", values(1, 2, 3, 4, 5), values(6, 7, 8, 9, 10), Higher, 2. / 252},
	} {
		got := CompareSamples(c.a, c.b, 0.05)
		if got.Verdict != c.verdict || math.Abs(got.P-c.p) > 1e-12 {
			t.Errorf("%s: %v with p %v, want %v with %v", c.name, got.Verdict, got.P, c.verdict, c.p)
		}
	}
}

// Bounds below no value give the ranks of values above all others.
func TestBoundsAboveAllValues(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 5))
	for range 200 {
		var s [2]Sample
		for i := range s {
			for range 1 + r.IntN(6) {
				v := float64(r.IntN(5))
				at := v
				if r.IntN(3) == 0 {
					v, at = math.Inf(1), 9
				}
				s[i].Values, s[i].AtLeast = append(s[i].Values, v), append(s[i].AtLeast, at)
			}
		}
		want, _ := doubledRanks(slices.Concat(s[0].Values, s[1].Values))
		if got := ranksOf(s[0], s[1]); !slices.Equal(got, want) {
			t.Fatalf("ranks %v of %v, want %v", got, s, want)
		}
	}
}

// With equal limits on both sides, which cut off every value above them, a difference is called at most as often as the
// level.
func TestSameConfigurationWithBounds(t *testing.T) {
	const alpha = 0.05
	comparisons, alarms := trials(4000), 0
	r := rand.New(rand.NewPCG(6, 6))
	sample := func() (s Sample) {
		for range 8 {
			v, limit := r.ExpFloat64(), 0.5+r.Float64()
			at := v
			if v > limit {
				v, at = math.Inf(1), limit
			}
			s.Values, s.AtLeast = append(s.Values, v), append(s.AtLeast, at)
		}
		return s
	}
	for range comparisons {
		if v := CompareSamples(sample(), sample(), alpha).Verdict; v == Lower || v == Higher {
			alarms++
		}
	}
	if share := float64(alarms) / float64(comparisons); share > mostBy(alpha, comparisons) || share < alpha/4 {
		t.Errorf("%.4f false alarms at the level %v", share, alpha)
	}
}
