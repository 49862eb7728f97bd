package stats

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"golang.org/x/perf/benchmath"
	"pgregory.net/rapid"
)

func ExampleSummarise() {
	s := Summarise([]float64{9.8, 9.1, 9.4, 31.5, 9.5, 9.2}, 0.95)
	fmt.Printf("median %.2f, from %.1f to %.1f with %.1f %% confidence\n", s.Median, s.Low, s.High, 100*s.Confidence)
	// Output: median 9.45, from 9.1 to 31.5 with 96.9 % confidence
}

func TestSummarise(t *testing.T) {
	nan := math.NaN()
	for _, c := range []struct {
		xs   []float64
		want Summary
	}{
		{nil, Summary{0, nan, nan, nan, 0, nan, nan, nan, nan, nan}},
		{[]float64{7}, Summary{1, 7, nan, nan, 0, 7, 7, 7, 0, 0}},
		{[]float64{5, 1, 4, 2, 3}, Summary{5, 3, nan, nan, 0, 1, 5, 3, math.Sqrt(2.5), 2. / 3}},
		{[]float64{6, 5, 1, 4, 2, 3}, Summary{6, 3.5, 1, 6, 0.96875, 1, 6, 3.5, math.Sqrt(3.5), 2.5 / 3.5}},
		{[]float64{0, 0, 0, 0, 0, 0}, Summary{6, 0, 0, 0, 0.96875, 0, 0, 0, 0, 0}},
		{[]float64{-1, 0, 1}, Summary{3, 0, nan, nan, 0, -1, 1, 0, 1, nan}},
		{[]float64{-5, -1, -4, -2, -3}, Summary{5, -3, nan, nan, 0, -5, -1, -3, math.Sqrt(2.5), 2. / 3}},
	} {
		got, want := fields(Summarise(c.xs, 0.95)), fields(c.want)
		if !slices.EqualFunc(got, want, func(g, w float64) bool { return near(g, w, 1e-12) }) {
			t.Errorf("%v: %v, want %v", c.xs, got, want)
		}
	}
}

func fields(s Summary) []float64 {
	return []float64{float64(s.N), s.Median, s.Low, s.High, s.Confidence, s.Min, s.Max, s.Mean, s.Stddev, s.Spread}
}

func TestSummariseLeavesTheOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		xs := rapid.SliceOf(rapid.Float64Range(-1e9, 1e9)).Draw(t, "xs")
		before := slices.Clone(xs)
		s := Summarise(xs, 0.95)
		if !slices.Equal(xs, before) {
			t.Fatalf("%v became %v", before, xs)
		}
		if s.Confidence > 0 && (s.Low > s.Median || s.Median > s.High || s.Low < s.Min || s.High > s.Max || s.Confidence < 0.95) {
			t.Fatalf("%+v", s)
		}
	})
}

func TestMedianIsWithinItsInterval(t *testing.T) {
	const campaigns, size = 10_000, 10
	for i, kind := range noises {
		r := rand.New(rand.NewPCG(6, uint64(i)))
		within, confidence := 0, 0.0
		for range campaigns {
			s := Summarise(kind.sample(r, size), 0.95)
			confidence = s.Confidence
			if s.Low <= kind.median && kind.median <= s.High {
				within++
			}
		}
		share := float64(within) / campaigns
		t.Logf("median, %d campaigns of %d runs, %-12s: %.2f %% of the intervals of %.2f %% hold it", campaigns, size, kind.name, 100*share, 100*confidence)
		if 1-share > mostBy(1-confidence, campaigns) {
			t.Errorf("%s: only %.4f of the intervals hold the median", kind.name, share)
		}
	}
}

// The next narrower interval must not reach the confidence.
func TestMedianRank(t *testing.T) {
	for _, confidence := range []float64{0.5, 0.9, 0.95, 0.99} {
		for n := range 200 {
			k, reached := medianRank(n, confidence)
			if k > 0 && (reached < confidence || !near(reached, coverage(n, k), 1e-9)) {
				t.Errorf("%d values: rank %d reaches %v, in truth %v", n, k, reached, coverage(n, k))
			}
			if 2*(k+1) <= n && coverage(n, k+1) >= confidence {
				t.Errorf("%d values: rank %d of %v, and one more reaches %v", n, k, confidence, coverage(n, k+1))
			}
		}
	}
	if k, reached := medianRank(100_000, 0.95); k != 49690 || !near(reached, 0.95, 0.001) {
		t.Errorf("of 100,000 values rank %d, %v", k, reached)
	}
}

// coverage is 1 − 2 P(X < k) for X heads of n coins.
func coverage(n, k int) float64 {
	tail := new(big.Int)
	for i := range k {
		tail.Add(tail, new(big.Int).Binomial(int64(n), int64(i)))
	}
	share, _ := new(big.Rat).SetFrac(tail, new(big.Int).Lsh(big.NewInt(1), uint(n))).Float64()
	return 1 - 2*share
}

func TestSummariseHoldsTheIntervalOfBenchmath(t *testing.T) {
	r := rand.New(rand.NewPCG(42, 7))
	for n := 1; n <= 30; n++ {
		xs := noises[1].sample(r, n)
		got := Summarise(xs, 0.95)
		want := benchmath.AssumeNothing.Summary(benchmath.NewSample(slices.Clone(xs), &benchmath.DefaultThresholds), 0.95)
		if !near(got.Median, want.Center, 1e-9) || got.Low > want.Lo || got.High < want.Hi { //nolint:misspell // as benchmath spells it
			t.Errorf("%d values: %+v, benchmath has %+v", n, got, want)
		}
	}
}
