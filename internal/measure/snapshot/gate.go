package snapshot

import "time"

// Gate is the state of a gate, or of the gates of several parts, each of which reads the lag by itself.
type Gate struct {
	Refused int64 // records not granted when first asked for
	Changes int64 // readings that opened or closed the gate
	// Closed is how long records were refused, Blind how long the lag was unknown, and MaxAge the age of the oldest
	// reading behind a decision. For several gates, each is the largest value.
	Closed, Blind, MaxAge time.Duration

	Open     bool   // it would admit a record now; of several gates, any of them
	Bound    *int64 // allowed lag now, in records; nil is any
	InWindow *Bound // how Bound moved in the measured window; nil if it did not
}

// Bound is how a bound moved, in records. For several parts of one bound, Min and Max are the sums of the parts' own.
type Bound struct{ Min, Max, Last int64 }

// Sub returns what happened since an earlier snapshot; fields that are no totals stay.
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

// merge adds another gate to g. Either may be nil.
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
