package snapshot

import "time"

// Gate is the state of one gate, or of several gates together.
type Gate struct {
	Refused int64 // not granted when first asked for
	Changes int64 // readings that opened or closed the gate
	// Closed is how long records were refused, Blind how long the lag was unknown, MaxAge the age of the oldest
	// reading behind a decision. Of several gates, each is the largest.
	Closed, Blind, MaxAge time.Duration

	Open     bool   // of several gates, any of them
	Bound    *int64 // allowed lag in records; nil: unlimited
	InWindow *Bound // nil if it did not move
}

// Bound is how a bound moved, in records. Of several gates, Min and Max are sums.
type Bound struct{ Min, Max, Last int64 }

// Sub returns what happened since an earlier snapshot. Fields that are not totals keep their values.
func (g Gate) Sub(earlier Gate) Gate {
	g.Refused -= earlier.Refused
	g.Changes -= earlier.Changes
	g.Closed -= earlier.Closed
	g.Blind -= earlier.Blind
	return g
}

func (g *Gate) clone() *Gate {
	if g == nil {
		return nil
	}
	c := *g
	c.Bound, c.InWindow = copied(g.Bound), copied(g.InWindow)
	return &c
}

// With returns g merged with o.
func (g Gate) With(o Gate) Gate { return *g.clone().merge(&o) }

// Either gate of merge may be nil.
func (g *Gate) merge(o *Gate) *Gate {
	switch {
	case o == nil:
		return g
	case g == nil:
		return o.clone()
	}
	g.Refused += o.Refused
	g.Changes += o.Changes
	g.Closed, g.Blind, g.MaxAge = max(g.Closed, o.Closed), max(g.Blind, o.Blind), max(g.MaxAge, o.MaxAge)
	g.Open = g.Open || o.Open
	if g.Bound == nil || o.Bound == nil {
		g.Bound = nil
	} else {
		sum := *g.Bound + *o.Bound
		g.Bound = &sum
	}
	g.InWindow = mergeIf(g.InWindow, o.InWindow, Bound.add)
	return g
}

func (b Bound) add(o Bound) Bound { return Bound{b.Min + o.Min, b.Max + o.Max, b.Last + o.Last} }
