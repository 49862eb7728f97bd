package load

import (
	"math"
	"math/rand/v2"
	"time"
)

// Work is the simulated work for one record.
type Work struct {
	// Time is the fixed part (fixed, uniform) or the mean (exponential, lognormal).
	Time time.Duration
	// Jitter is the largest random addition (uniform) or the standard deviation (lognormal).
	Jitter time.Duration
	// Distribution is fixed, uniform, exponential or lognormal.
	Distribution string
}

// Mean returns the expected work for a record.
func (w Work) Mean() time.Duration {
	if w.Distribution == "uniform" {
		return w.Time + w.Jitter/2
	}
	return w.Time
}

// None reports whether a record takes no time.
func (w Work) None() bool { return w.Mean() == 0 }

func (w Work) draw(r *rand.Rand) int64 {
	mean := float64(w.Time)
	switch w.Distribution {
	case "uniform":
		if w.Jitter > 0 {
			return int64(w.Time) + r.Int64N(int64(w.Jitter)+1)
		}
	case "exponential":
		return int64(r.ExpFloat64() * mean)
	case "lognormal":
		if mean > 0 {
			// for the wanted mean and standard deviation
			ratio := float64(w.Jitter) / mean
			sigma2 := math.Log(1 + ratio*ratio)
			return int64(math.Exp(math.Log(mean) - sigma2/2 + math.Sqrt(sigma2)*r.NormFloat64()))
		}
	}
	return int64(w.Time)
}

// Plan is the work over a run; Changes are in ascending order of time.
type Plan struct {
	Work    Work
	Changes []Change
}

// Change replaces the work from At (nanoseconds on the run's axis).
type Change struct {
	At   int64
	Work Work
}

func (p Plan) at(now int64) Work {
	w := p.Work
	for _, c := range p.Changes {
		if now < c.At {
			break
		}
		w = c.Work
	}
	return w
}

// None reports whether no record ever takes time.
func (p Plan) None() bool {
	for _, c := range p.Changes {
		if !c.Work.None() {
			return false
		}
	}
	return p.Work.None()
}
