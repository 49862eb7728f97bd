package stats

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"
)

func TestAcrossHoldsTheSlope(t *testing.T) {
	const trials, size, slope = 500, 60, -0.25
	for _, between := range []float64{0, 0.01, 0.2} {
		for _, n := range []int{1, 2, 3, 5} {
			if n == 1 && between > 0 {
				continue
			}
			t.Run(fmt.Sprintf("%d runs, %g", n, between), func(t *testing.T) {
				r := rand.New(rand.NewPCG(uint64(n), 11))
				held := 0
				for range trials {
					runs := make([]Estimate, n)
					for i := range runs {
						runs[i] = slopeOfRun(r, size, slope+between*r.NormFloat64())
					}
					if e := Across(runs, 0.95); e.Low <= slope && slope <= e.High {
						held++
					}
				}
				share := float64(held) / trials
				t.Logf("%.3f", share)
				if share < 0.92 {
					t.Errorf("the interval holds the slope in %.3f of all", share)
				}
			})
		}
	}
}

func slopeOfRun(r *rand.Rand, size int, slope float64) Estimate {
	xs, ys, off := make([]float64, size), make([]float64, size), 0.0
	for i := range xs {
		off = 0.4*off + 0.2*r.NormFloat64()
		xs[i] = float64(i)
		ys[i] = 100 + slope*xs[i] + off
	}
	s := SlopeOf(xs, ys, 0.95)
	return Estimate{s.Slope, s.Low, s.High}
}

func TestAcross(t *testing.T) {
	if e := Across(nil, 0.95); !math.IsNaN(e.Value) || !math.IsNaN(e.Low) || !math.IsNaN(e.High) {
		t.Errorf("of nothing: %+v", e)
	}
	if one := (Estimate{3, 1, 5}); Across([]Estimate{one}, 0.95) != one {
		t.Errorf("of one: %+v", Across([]Estimate{one}, 0.95))
	}
	// Student's interval of 1 and 3: 2 ± 12.706·√2/√2.
	if e := Across([]Estimate{{1, 0.9, 1.1}, {3, 2.9, 3.1}}, 0.95); e.Value != 2 || !near(e.Low, 2-12.706, 0.001) || !near(e.High, 2+12.706, 0.001) {
		t.Errorf("of 1 and 3: %+v", e)
	}
	rapid.Check(t, func(t *rapid.T) {
		value, half := rapid.Float64Range(-1e3, 1e3).Draw(t, "value"), rapid.Float64Range(0, 10).Draw(t, "half")
		n := rapid.IntRange(2, 9).Draw(t, "n")
		runs := make([]Estimate, n)
		for i := range runs {
			runs[i] = Estimate{value, value - half, value + half}
		}
		e := Across(runs, 0.95)
		if want := half / math.Sqrt(float64(n)); !near(e.Value, value, 1e-9) || !near(e.High-e.Value, want, 1e-6) || !near(e.Value-e.Low, want, 1e-6) {
			t.Fatalf("%d runs that agree on %g ± %g: %+v", n, value, half, e)
		}
	})
}
