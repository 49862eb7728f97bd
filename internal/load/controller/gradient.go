package controller

import (
	"fmt"
	"math"
	"time"

	"kafkabench.example/kafka-bench/internal/lagcontrol"
)

// GradientConfig configures a [Gradient] controller.
type GradientConfig struct {
	// MaxLag limits the lag in records; 0 is no limit.
	MaxLag int64
}

// The constants of Netflix's gradient limits.
const (
	gradientTolerance = 1.5
	gradientSmoothing = 0.2
	quarterSecond     = time.Second / 4 // with commits further apart than this, a trial doubles the bound
)

// Gradient has no target: it compares the present time from admission to consumer with the shortest
// that it saw. Sources: TCP Vegas (Brakmo and Peterson 1995) and the gradient limits of Netflix's
// concurrency-limits.
//
// Law: at each commit, if records were refused since the last commit, gradient = 1.5 × shortest
// time ÷ time, within 0.5 to 1; bound ← 0.8 × bound + 0.2 × (gradient × bound + √bound). The
// shortest time is at least the time between two readings. While most consumers wait for records,
// the bound grows as in [AIMD].
//
// Failure modes. If the group was behind at the start, its waiting time counts as the shortest for
// ever, and the bound grows without end: set MaxLag. The result also depends on how often the lag
// is read.
type Gradient struct {
	cfg      GradientConfig
	group    lagcontrol.Group
	sojourn  sojourn
	bound    float64
	shortest time.Duration // 0 before the first consumed record
	refused  int64
	last     time.Duration
}

// NewGradient returns a controller. It returns an error if the limit is negative.
func NewGradient(cfg GradientConfig) (*Gradient, error) {
	if err := lagcontrol.CheckMaxLag(cfg.MaxLag); err != nil {
		return nil, err
	}
	return &Gradient{cfg: cfg, group: lagcontrol.NewGroup(), bound: firstBound}, nil
}

// Limit implements [lagcontrol.Limiter].
func (g *Gradient) Limit() int64 { return lagcontrol.LimitOf(g.cfg.MaxLag) }

// Decide implements [lagcontrol.Controller].
func (g *Gradient) Decide(o lagcontrol.Observation) lagcontrol.Decision {
	s, stepped := g.group.See(o)
	if took, ok := g.sojourn.see(o, g.group.Progress(o.At)); ok && stepped {
		g.last = took
		if g.shortest == 0 || took < g.shortest {
			g.shortest = max(took, g.group.Elapsed)
		}
		g.adapt(o, &s)
		g.refused = o.Refused
	}
	g.bound = min(max(g.bound, 1), float64(g.Limit()))
	g.group.Hold(o, g.bound, g.cfg.MaxLag)
	d := lagcontrol.Decision{Ceiling: g.Ceiling(o.At), Bound: lagcontrol.Records(g.group.Bound)}
	d.Reason = fmt.Sprintf("%v from admission to consumer, %v at best: a bound of %d", g.last.Round(time.Millisecond),
		g.shortest.Round(time.Millisecond), d.Bound)
	return d
}

// Ceiling implements [lagcontrol.Pacer].
func (g *Gradient) Ceiling(at time.Duration) int64 { return g.group.Ceiling(at) }

func (g *Gradient) adapt(o lagcontrol.Observation, s *lagcontrol.Standing) {
	switch {
	case g.group.Hungry(s, true):
		g.bound *= s.Gain(quarterSecond)
	case o.Refused > g.refused && s.Idle <= lagcontrol.MostIdle:
		gradient := min(max(gradientTolerance*g.shortest.Seconds()/g.last.Seconds(), 0.5), 1)
		next := gradient*g.bound + math.Sqrt(g.bound)
		g.bound += (next - g.bound) * gradientSmoothing
	}
}
