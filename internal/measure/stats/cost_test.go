package stats

import (
	"math"
	"math/rand/v2"
	"testing"
)

func TestCostIsWithinItsIntervals(t *testing.T) {
	const trials, fixed, perUnit = 1000, 600e-9, 9e-9
	sizes := []float64{10, 100, 1e3, 10e3, 100e3}
	for _, repeats := range []int{1, 3, 5} {
		r := rand.New(rand.NewPCG(uint64(repeats), 3))
		var held [3]int
		for range trials {
			var xs, ys []float64
			for range repeats {
				for _, size := range sizes {
					xs, ys = append(xs, size), append(ys, (fixed+perUnit*size)*math.Exp(0.05*r.NormFloat64()))
				}
			}
			c := CostOf(xs, ys, 0.95)
			for i, in := range []bool{
				c.FixedLow <= fixed && fixed <= c.FixedHigh,
				c.PerUnitLow <= perUnit && perUnit <= c.PerUnitHigh,
				c.KneeLow <= fixed/perUnit && fixed/perUnit <= c.KneeHigh,
			} {
				if in {
					held[i]++
				}
			}
		}
		for i, what := range []string{"the fixed part", "the part for each unit", "the knee"} {
			if share := float64(held[i]) / trials; share < 0.92 || share > 0.98 {
				t.Errorf("%d runs of each: %s is held by %.3f of its intervals", repeats, what, share)
			}
		}
	}
}

func TestCostWithoutAKnee(t *testing.T) {
	sizes := []float64{10, 100, 1e3, 10e3}
	r := rand.New(rand.NewPCG(1, 1))
	flat := make([]float64, len(sizes))
	for i := range flat {
		flat[i] = 1 + 0.2*r.NormFloat64()
	}
	if c := CostOf(sizes, flat, 0.95); !math.IsNaN(c.KneeHigh) && !math.IsInf(c.KneeHigh, 1) {
		t.Errorf("costs that size does not change have a knee up to %g", c.KneeHigh)
	}
	for name, xs := range map[string][]float64{"too few": {10, 20, 30}, "one size": {10, 10, 10, 10, 10}} {
		if c := CostOf(xs, xs, 0.95); !math.IsNaN(c.Knee) || !math.IsNaN(c.Fixed) || c.N != len(xs) {
			t.Errorf("%s: %+v", name, c)
		}
	}
}

func TestCostOfALine(t *testing.T) {
	for _, unit := range []float64{1, 1e-9, 1e9} {
		var xs, ys []float64
		for _, x := range []float64{10, 1e3, 5e3, 1e6} {
			xs, ys = append(xs, x), append(ys, unit*(3+0.01*x))
		}
		c := CostOf(xs, ys, 0.95)
		if !near(c.Fixed/unit, 3, 1e-6) || !near(c.PerUnit/unit, 0.01, 1e-9) || !near(c.Knee, 300, 1e-3) || !near(c.KneeLow, 300, 1) || !near(c.KneeHigh, 300, 1) {
			t.Errorf("unit %g: %+v", unit, c)
		}
	}
}
