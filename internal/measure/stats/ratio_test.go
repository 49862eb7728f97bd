package stats

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func TestRatio(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		some := rapid.SliceOfN(rapid.Float64Range(1e-3, 1e6), 1, 8)
		a, b := some.Draw(t, "a"), some.Draw(t, "b")
		unit := rapid.Float64Range(1e-6, 1e6).Draw(t, "unit")
		in := func(values []float64) []float64 {
			scaled := slices.Clone(values)
			for i := range scaled {
				scaled[i] *= unit
			}
			return scaled
		}
		there, back, otherUnit := Ratio(a, b, 0.05), Ratio(b, a, 0.05), Ratio(in(a), in(b), 0.05)
		if !alike(there, Estimate{1 / back.Value, 1 / back.High, 1 / back.Low}) {
			t.Fatalf("there %+v, back %+v", there, back)
		}
		if !alike(there, otherUnit) {
			t.Fatalf("%+v, in another unit %+v", there, otherUnit)
		}
		if there.Value < slices.Min(b)/slices.Max(a)*(1-1e-9) || there.Value > slices.Max(b)/slices.Min(a)*(1+1e-9) {
			t.Fatalf("%+v is outside all quotients of %v and %v", there, b, a)
		}
		c := Compare(a, b, 0.05)
		if math.IsNaN(there.Low) {
			if c.Verdict != TooFew {
				t.Fatalf("no bounds, although %v", c.Verdict)
			}
			return
		}
		if there.Low <= 0 || there.Low > there.Value || there.Value > there.High {
			t.Fatalf("%+v", there)
		}
		if shown := c.Verdict == Lower || c.Verdict == Higher; distinct(a, b) && shown != (there.Low > 1 || there.High < 1) {
			t.Fatalf("%v, but %+v", c.Verdict, there)
		}
	})
}

func alike(a, b Estimate) bool {
	same := func(x, y float64) bool { return near(x, y, 1e-9*math.Abs(x)) }
	return same(a.Value, b.Value) && same(a.Low, b.Low) && same(a.High, b.High)
}

func distinct(a, b []float64) bool {
	all := slices.Sorted(slices.Values(slices.Concat(a, b)))
	return len(slices.Compact(slices.Clone(all))) == len(all)
}

func TestNoRatio(t *testing.T) {
	few := []float64{1, 2, 3, 4, 5}
	for _, none := range [][]float64{nil, {0, 1, 2, 3, 4}, {-1, 1, 2, 3, 4}, {1, 2, 3, 4, math.Inf(1)}} {
		if e := Ratio(few, none, 0.05); !math.IsNaN(e.Value) || !math.IsNaN(e.Low) || !math.IsNaN(e.High) {
			t.Errorf("%v: %+v", none, e)
		}
		if e := Ratio(none, few, 0.05); !math.IsNaN(e.Value) || !math.IsNaN(e.Low) || !math.IsNaN(e.High) {
			t.Errorf("of %v: %+v", none, e)
		}
	}
	if e := Ratio([]float64{2, 2}, []float64{8, 8}, 0.05); !near(e.Value, 4, 1e-12) || !math.IsNaN(e.Low) {
		t.Errorf("two runs of each: %+v", e)
	}
}

func TestRatioIsWithinItsInterval(t *testing.T) {
	const runs, factor = 5, 0.1
	r, comparisons := rand.New(rand.NewPCG(3, 1)), trials(4000)
	noisy := func(by float64) (values []float64) {
		for range runs {
			values = append(values, by*math.Exp(0.3*r.NormFloat64()))
		}
		return values
	}
	within := 0
	for range comparisons {
		if e := Ratio(noisy(1), noisy(factor), 0.05); e.Low <= factor && factor <= e.High {
			within++
		}
	}
	share := float64(within) / float64(comparisons)
	t.Logf("%.2f %% of the intervals of 95 %% hold the ratio", 100*share)
	if 1-share > mostBy(0.05, comparisons) {
		t.Errorf("only %.4f of the intervals hold the ratio", share)
	}
}
