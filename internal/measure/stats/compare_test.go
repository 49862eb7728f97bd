package stats

import (
	"math"
	"math/bits"
	"math/rand/v2"
	"slices"
	"testing"

	"golang.org/x/perf/benchmath"
	"pgregory.net/rapid"
)

// Comparing a configuration with itself shows a difference at most as often as the level.
func TestSameConfigurationTwice(t *testing.T) {
	const pairs = 10
	comparisons := trials(4000)
	for _, alpha := range []float64{0.05, 0.01} {
		for i, kind := range noises {
			r := rand.New(rand.NewPCG(1, uint64(i)))
			alarms := 0
			for range comparisons {
				c := Compare(kind.sample(r, pairs), kind.sample(r, pairs), alpha)
				if c.Verdict == Lower || c.Verdict == Higher {
					alarms++
				}
			}
			share := float64(alarms) / float64(comparisons)
			t.Logf("A/A, %d comparisons of %d runs with %d, %-12s: %.2f %% false alarms at the level %.0f %%",
				comparisons, pairs, pairs, kind.name, 100*share, 100*alpha)
			if share > mostBy(alpha, comparisons) {
				t.Errorf("%s: %.4f false alarms at the level %v", kind.name, share, alpha)
			}
			if share < alpha/4 {
				t.Errorf("%s: %.4f false alarms at the level %v: the test is blind", kind.name, share, alpha)
			}
		}
	}
}

func TestShiftIsWithinItsInterval(t *testing.T) {
	const pairs, alpha, moved = 10, 0.05, 7.0
	comparisons := trials(4000)
	for i, kind := range noises {
		r := rand.New(rand.NewPCG(2, uint64(i)))
		within := 0
		for range comparisons {
			a, b := kind.sample(r, pairs), kind.sample(r, pairs)
			for i := range b {
				b[i] += moved
			}
			if _, low, high := shift(a, b, alpha); low <= moved+1e-9 && moved-1e-9 <= high {
				within++
			}
		}
		share := float64(within) / float64(comparisons)
		t.Logf("shift, %d comparisons of %d runs with %d, %-12s: %.2f %% of the intervals of 95 %% hold it",
			comparisons, pairs, pairs, kind.name, 100*share)
		if 1-share > mostBy(alpha, comparisons) {
			t.Errorf("%s: only %.4f of the intervals hold the shift", kind.name, share)
		}
	}
}

func TestCompare(t *testing.T) {
	ten := []float64{101, 102, 103, 104, 105, 106, 107, 108, 109, 110}
	times := func(xs []float64, by float64) []float64 {
		ys := make([]float64, len(xs))
		for i, x := range xs {
			ys[i] = by * x
		}
		return ys
	}
	for _, c := range []struct {
		name             string
		a, b             []float64
		verdict          Verdict
		more             int
		shift            float64
		difference, p    float64
		moreToShowAtMost int
	}{
		{name: "nothing", verdict: TooFew, more: 4, shift: math.NaN(), difference: math.NaN(), p: 1},
		{name: "one each", a: ten[:1], b: ten[9:], verdict: TooFew, more: 3, shift: 9, difference: 9. / 101, p: 1},
		{name: "three each", a: ten[:3], b: ten[5:8], verdict: TooFew, more: 1, shift: 5, difference: 5. / 102, p: 0.1},
		{name: "four each", a: ten[:4], b: ten[5:9], verdict: Higher, shift: 5, difference: 5. / 102.5, p: 2. / 70},
		{name: "five, two", a: ten[:5], b: ten[8:], verdict: Higher, shift: 6.5, difference: 6.5 / 103, p: 2. / 21},
		{name: "lower", a: ten[5:], b: ten[:5], verdict: Lower, shift: -5, difference: -5. / 108, p: 2. / 252},
		{name: "the same", a: ten, b: ten, verdict: NoDifference, p: 1},
		{name: "all equal", a: times(ten, 0), b: times(ten, 0), verdict: NoDifference, p: 1},
		{name: "from nothing", a: times(ten, 0), b: ten, verdict: Higher, shift: 105.5, difference: math.Inf(1), p: 2. / 184756},
		{name: "a negative base", a: times(ten[5:], -1), b: times(ten[:5], -1), verdict: Higher, shift: 5, difference: 5. / 108, p: 2. / 252},
		{name: "a hint of one", a: ten, b: times(ten, 1.02), verdict: NoDifference, shift: 2.1, difference: 2.1 / 105.5, p: 0.1, moreToShowAtMost: 40},
	} {
		alpha := 0.05
		if c.name == "five, two" {
			alpha = 0.1
		}
		got := Compare(c.a, c.b, alpha)
		if got.Verdict != c.verdict || got.More != c.more {
			t.Errorf("%s: %v and %d more, want %v and %d", c.name, got.Verdict, got.More, c.verdict, c.more)
		}
		if !near(got.Shift, c.shift, 0.05) || !near(got.Difference, c.difference, 0.001) {
			t.Errorf("%s: a shift of %v, relative %v, want %v, %v", c.name, got.Shift, got.Difference, c.shift, c.difference)
		}
		if c.moreToShowAtMost == 0 {
			if !near(got.P, c.p, 1e-12) || got.MoreToShow != 0 {
				t.Errorf("%s: p %v and %d more to show it, want %v and none", c.name, got.P, got.MoreToShow, c.p)
			}
		} else if got.MoreToShow == 0 || got.MoreToShow > c.moreToShowAtMost {
			t.Errorf("%s: %d more to show it", c.name, got.MoreToShow)
		}
	}
}

// 4 values of each are the fewest that can show a difference at 5 %.
func TestEnough(t *testing.T) {
	for _, c := range []struct {
		n     int
		alpha float64
		want  bool
	}{{1, 0.05, false}, {3, 0.05, false}, {4, 0.05, true}, {5, 0.05 / 7, false}, {6, 0.05 / 7, true}, {4, 2. / 70, true}} {
		if got := Enough(c.n, c.alpha); got != c.want {
			t.Errorf("%d values at %v: %v, want %v", c.n, c.alpha, got, c.want)
		}
	}
}

func TestMoreToShow(t *testing.T) {
	r := rand.New(rand.NewPCG(42, 3))
	const greater = 0.75 // P(B > A) of two unit normals √2 × 0.6745 apart
	n := runsToShow(0, 0, greater, 0.05)
	shown := 0
	campaigns := trials(1000)
	for range campaigns {
		a, b := make([]float64, n), make([]float64, n)
		for i := range n {
			a[i], b[i] = r.NormFloat64(), r.NormFloat64()+0.6745*math.Sqrt2
		}
		if Compare(a, b, 0.05).Verdict == Higher {
			shown++
		}
	}
	t.Logf("%d runs of each show it in %d of %d campaigns", n, shown, campaigns)
	if share := float64(shown) / float64(campaigns); share < 0.75 || share > 0.9 {
		t.Errorf("%d runs of each show it in %v of the campaigns", n, share)
	}
}

func TestRankTestCountsEveryDeal(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		some := rapid.SliceOfN(rapid.Map(rapid.IntRange(0, 4), func(i int) float64 { return float64(i) }), 1, 6)
		a, b := some.Draw(t, "a"), some.Draw(t, "b")
		all := slices.Concat(a, b)
		wins := func(isB func(i int) bool) (w float64) {
			for i, y := range all {
				for j, x := range all {
					if isB(i) && !isB(j) && y > x {
						w++
					} else if isB(i) && !isB(j) && y == x {
						w += 0.5
					}
				}
			}
			return w
		}
		middle := float64(len(a)*len(b)) / 2
		seen := wins(func(i int) bool { return i >= len(a) })
		far, deals := 0, 0
		for deal := range uint(1) << len(all) {
			if bits.OnesCount(deal) == len(b) {
				deals++
				if math.Abs(wins(func(i int) bool { return deal>>i&1 == 1 })-middle) >= math.Abs(seen-middle) {
					far++
				}
			}
		}
		p, greater := rankTest(a, b)
		if want := float64(far) / float64(deals); !near(p, want, 1e-9) || !near(greater, seen/2/middle, 1e-9) {
			t.Fatalf("p is %v and %v are greater, want %v and %v", p, greater, want, seen/2/middle)
		}
	})
}

func TestRankTestAgreesWithBenchmath(t *testing.T) {
	r := rand.New(rand.NewPCG(42, 4))
	check := func(a, b []float64, tolerance float64) {
		t.Helper()
		got, _ := rankTest(a, b)
		want := benchmath.AssumeNothing.Compare(
			benchmath.NewSample(slices.Clone(a), &benchmath.DefaultThresholds),
			benchmath.NewSample(slices.Clone(b), &benchmath.DefaultThresholds)).P
		if !near(got, want, tolerance) {
			t.Errorf("%d and %d values: p is %v, benchmath has %v", len(a), len(b), got, want)
		}
	}
	for range 50 {
		m, n := 1+r.IntN(30), 1+r.IntN(30)
		check(noises[0].sample(r, m), noises[1].sample(r, n), 1e-9)
		check(noises[3].sample(r, 8), noises[3].sample(r, 8), 1e-9)
		check(noises[0].sample(r, 40), noises[0].sample(r, 45), 0.005)
		check(noises[3].sample(r, 70), noises[3].sample(r, 90), 1e-9)
	}
}

func TestIntervalAndTestAgree(t *testing.T) {
	r := rand.New(rand.NewPCG(42, 5))
	for range 2000 {
		a, b := noises[0].sample(r, 4+r.IntN(8)), noises[0].sample(r, 4+r.IntN(8))
		by := 12 * r.Float64()
		for i := range b {
			b[i] += by
		}
		p, _ := rankTest(a, b)
		if _, low, high := shift(a, b, 0.05); (p <= 0.05) != (low > 0 || high < 0) {
			t.Fatalf("p is %v and the interval from %v to %v, of %v and %v", p, low, high, a, b)
		}
	}
}

func TestCompareMovesWithItsValues(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		some := rapid.SliceOfN(rapid.Float64Range(-1e6, 1e6), 1, 12)
		a, b := some.Draw(t, "a"), some.Draw(t, "b")
		c, back := Compare(a, b, 0.05), Compare(b, a, 0.05)
		if !near(c.Shift, -back.Shift, 1e-6) || !near(c.P, back.P, 1e-9) || c.Verdict != opposite(back.Verdict) {
			t.Fatalf("there %+v, back %+v", c, back)
		}
		if !math.IsNaN(c.ShiftLow) && (c.ShiftLow > c.Shift || c.Shift > c.ShiftHigh) {
			t.Fatalf("the shift %v is not within %v and %v", c.Shift, c.ShiftLow, c.ShiftHigh)
		}
	})
}

func opposite(v Verdict) Verdict {
	switch v {
	case Lower:
		return Higher
	case Higher:
		return Lower
	}
	return v
}

func near(got, want, tolerance float64) bool {
	return got == want || math.IsNaN(got) && math.IsNaN(want) || math.Abs(got-want) <= tolerance
}

// +Inf stands for a figure that is only a lower bound. It ranks above every value, ties with other
// bounds, and has no distance from any value.
func TestCompareWithBounds(t *testing.T) {
	bound := math.Inf(1)
	values, bounds := []float64{1, 2, 3, 4, 5}, []float64{bound, bound, bound, bound, bound}
	for _, c := range []struct {
		a, b []float64
		want Verdict
		p    float64
	}{
		{values, bounds, Higher, 2. / 252},
		{bounds, values, Lower, 2. / 252},
		{bounds, bounds, NoDifference, 1},
		{values, []float64{1, 2, 3, 4, bound}, NoDifference, 244. / 252},
	} {
		got := Compare(c.a, c.b, 0.05)
		if got.Verdict != c.want || math.Abs(got.P-c.p) > 1e-9 {
			t.Errorf("%v against %v: %v with p %v, want %v with %v", c.b, c.a, got.Verdict, got.P, c.want, c.p)
		}
		for _, v := range []float64{got.Shift, got.ShiftLow, got.ShiftHigh, got.Difference, got.Low, got.High} {
			if !math.IsNaN(v) {
				t.Errorf("%v against %v: %v is a distance from a bound", c.b, c.a, v)
			}
		}
	}
	for _, c := range []struct {
		values       []float64
		median, high float64
	}{{[]float64{1, 2, bound}, 2, bound}, {[]float64{1, bound}, bound, bound}, {bounds, bound, bound}} {
		if got := Summarise(c.values, 0.5); got.Median != c.median || got.Max != c.high {
			t.Errorf("the median of %v is %v and the highest %v", c.values, got.Median, got.Max)
		}
	}
}
