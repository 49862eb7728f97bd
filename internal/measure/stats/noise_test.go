package stats

import (
	"math"
	"math/rand/v2"
	"testing"
)

type noise struct {
	name   string
	draw   func(*rand.Rand) float64
	median float64
}

var noises = []noise{
	{"normal", func(r *rand.Rand) float64 { return 100 + 5*r.NormFloat64() }, 100},
	{"lognormal", func(r *rand.Rand) float64 { return 100 * math.Exp(r.NormFloat64()) }, 100},
	{"heavy-tailed", func(r *rand.Rand) float64 { return 100 + r.NormFloat64()/r.NormFloat64() }, 100},
	{"discrete", func(r *rand.Rand) float64 { return float64(100 + r.IntN(3) + r.IntN(3) - 2) }, 100},
	{"bimodal", func(r *rand.Rand) float64 { return 100 + 20*float64(2*r.IntN(2)-1) + 3*r.NormFloat64() }, 100},
}

func (n noise) sample(r *rand.Rand, size int) []float64 {
	xs := make([]float64, size)
	for i := range xs {
		xs[i] = n.draw(r)
	}
	return xs
}

// With -short, trials notices only gross errors.
func trials(n int) int {
	if testing.Short() {
		return n / 10
	}
	return n
}

// A simulation exceeds mostBy once in 30,000 times.
func mostBy(chance float64, n int) float64 {
	return chance + 4*math.Sqrt(chance*(1-chance)/float64(n))
}
