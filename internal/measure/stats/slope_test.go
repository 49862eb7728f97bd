package stats

import (
	"math"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"
)

var memories = []struct {
	name string
	next func(r *rand.Rand, before float64, i int) float64
}{
	{"none", func(r *rand.Rand, _ float64, _ int) float64 { return r.NormFloat64() }},
	{"some", func(r *rand.Rand, before float64, _ int) float64 { return 0.4*before + r.NormFloat64() }},
	{"much", func(r *rand.Rand, before float64, _ int) float64 { return 0.8*before + r.NormFloat64() }},
	{"skewed", func(r *rand.Rand, before float64, _ int) float64 { return 0.5*before - r.ExpFloat64() + 1 }},
	{"a dip every seven", func(r *rand.Rand, _ float64, i int) float64 {
		if i%7 == 0 {
			return -3 + 0.5*r.NormFloat64()
		}
		return 0.5 * r.NormFloat64()
	}},
	{"opposite", func(r *rand.Rand, before float64, _ int) float64 { return r.NormFloat64() - 0.4*before }},
}

// The interval contains the true slope about as often as it should; without memory it may be too wide.
func TestSlopeIsWithinItsInterval(t *testing.T) {
	const trials, slope = 600, -0.25
	for _, m := range memories {
		for _, size := range []int{30, 60, 240} {
			r := rand.New(rand.NewPCG(uint64(size), 7))
			held := 0
			for range trials {
				xs, ys, off, x := make([]float64, size), make([]float64, size), 0.0, 0.0
				for range 50 { // until the start has no influence
					off = m.next(r, off, 1)
				}
				for i := range xs {
					off = m.next(r, off, i)
					x += 1 + 0.2*r.Float64()
					xs[i], ys[i] = x, 100+slope*x+off
				}
				if s := SlopeOf(xs, ys, 0.95); s.Low <= slope && slope <= s.High {
					held++
				}
			}
			if share := float64(held) / trials; share < 0.89 {
				t.Errorf("memory %s, %d values: the interval holds the slope in %.3f of all series", m.name, size, share)
			} else {
				t.Logf("memory %s, %d values: %.3f", m.name, size, share)
			}
		}
	}
}

func TestSlopeOfALine(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(fewestOfSlope, 100).Draw(t, "n")
		slope, level := rapid.Float64Range(-100, 100).Draw(t, "slope"), rapid.Float64Range(-1e6, 1e6).Draw(t, "level")
		xs, ys := make([]float64, n), make([]float64, n)
		for i := range xs {
			xs[i] = float64(i)
			ys[i] = level + slope*xs[i]
		}
		s := SlopeOf(xs, ys, 0.95)
		if tolerance := 1e-6 * (1 + math.Abs(slope) + math.Abs(level)/1e3); !near(s.Slope, slope, tolerance) || s.Low > s.Slope || s.High < s.Slope || s.High-s.Low > tolerance {
			t.Fatalf("%+v", s)
		}
	})
}

func TestSlopeOfTooFew(t *testing.T) {
	for _, xs := range [][]float64{nil, {1}, {1, 2, 3}, make([]float64, 50)} {
		if s := SlopeOf(xs, xs, 0.95); !math.IsNaN(s.Slope) || !math.IsNaN(s.Low) || !math.IsNaN(s.High) || s.N != len(xs) {
			t.Errorf("of %d values: %+v", len(xs), s)
		}
	}
}

// From published tables.
func TestStudentQuantile(t *testing.T) {
	for _, c := range []struct {
		tail    float64
		degrees int
		want    float64
	}{
		{0.05, 1, 12.706}, {0.05, 2, 4.303}, {0.05, 3, 3.182}, {0.05, 4, 2.776}, {0.05, 9, 2.262}, {0.05, 10, 2.228},
		{0.05, 30, 2.042}, {0.01, 5, 4.032}, {0.1, 7, 1.895}, {0.05, 120, 1.980}, {0.05, 1 << 20, 1.960},
	} {
		if got := StudentQuantile(c.tail, c.degrees); !near(got, c.want, 0.0006) {
			t.Errorf("t of %d degrees at %g is %.4f, want %.3f", c.degrees, c.tail, got, c.want)
		}
	}
}
