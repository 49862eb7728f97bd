package backpressure

import (
	"fmt"
	"math"
	"time"
)

// GradientConfig says what limits a [Gradient] controller.
type GradientConfig struct {
	// MaxLag is a limit of the lag in records; 0 is none.
	MaxLag int64
}

// The constants of Netflix's Gradient2.
const (
	gradientTolerance = 1.5 // how much longer than usual is still as usual
	gradientSmoothing = 0.2 // weight of the new bound
	gradientWindow    = 600 // samples in the long-term time
	gradientWarmup    = 10  // samples of which it is the plain mean at first
)

// Gradient needs no target: it compares the time of now with that of long, as
// the Gradient2 limit of Netflix's concurrency-limits does.
//
// Law: at each commit that is seen, gradient = 1.5 × long-term time ÷ time, within 0.5 to
// 1; bound ← 0.8 × bound + 0.2 × (gradient × bound + √bound), if records were
// refused since the commit before.
//
// Failure modes. It asks whether times grow, and not whether they are long. Behind
// a log the time is bound ÷ capacity, which the bound itself makes: each growth
// makes the long-term time longer, and so the next growth is as usual again. Under
// lasting overload the bound drifts upward without end; give it a MaxLag. It is
// here because it works well where the resource has a time of its own, and to
// show what becomes of it here.
type Gradient struct {
	cfg     GradientConfig
	sojourn sojourn
	bound   float64
	long    float64 // seconds
	samples float64
	refused int64
	last    time.Duration
}

// NewGradient returns a controller. It is an error if the limit is negative.
func NewGradient(cfg GradientConfig) (*Gradient, error) {
	if err := checkMaxLag(cfg.MaxLag); err != nil {
		return nil, err
	}
	return &Gradient{cfg: cfg, bound: firstBound}, nil
}

// Limit implements [Limiter].
func (g *Gradient) Limit() int64 { return limitOf(g.cfg.MaxLag) }

// Decide implements [Controller].
func (g *Gradient) Decide(o Observation) Decision {
	if took, ok := g.sojourn.see(o); ok && took > 0 {
		g.last = took
		g.average(took.Seconds())
		if o.Refused > g.refused {
			g.adapt(took.Seconds())
		}
		g.refused = o.Refused
	}
	g.bound = min(max(g.bound, 1), float64(g.Limit()))
	bound := part(o.Share, records(g.bound))
	return Decision{
		Ceiling: window(o, bound), Bound: bound,
		Reason: fmt.Sprintf("%v from admission to commit, %.0fms in the long term: a bound of %d", g.last.Round(time.Millisecond), g.long*1e3, bound),
	}
}

// average takes a time into the long-term one. After a time of load it comes down
// faster than it went up.
func (g *Gradient) average(took float64) {
	g.samples++
	weight := 2.0 / (gradientWindow + 1)
	if g.samples <= gradientWarmup {
		weight = 1 / g.samples
	}
	g.long += (took - g.long) * weight
	if g.long > 2*took {
		g.long *= 0.95
	}
}

func (g *Gradient) adapt(took float64) {
	gradient := min(max(gradientTolerance*g.long/took, 0.5), 1)
	next := gradient*g.bound + math.Sqrt(g.bound)
	g.bound += (next - g.bound) * gradientSmoothing
}
