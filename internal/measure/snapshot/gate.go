package snapshot

import "time"

// Gate is how a gate stands, or the gates of several parts, each of which reads the lag by
// itself.
type Gate struct {
	Refused int64 // records that were asked for and not granted at once
	Changes int64 // readings that opened or closed it
	// Closed is for how long records were refused, Blind for how long the lag was not known,
	// and MaxAge the oldest reading that a decision rested on; of several gates, those of
	// the one with the most.
	Closed, Blind, MaxAge time.Duration

	Open     bool   // a record would be admitted now; of several gates, by one of them
	Bound    *int64 // the lag that it allows now, in records; nil is any
	InWindow *Bound // how that moved in the measured window; nil where it did not
}

// Bound is how a bound moved, in records. Of several, each of which is a part of one
// bound, it lies between the sum of the least and the sum of the most that they ever were.
type Bound struct{ Min, Max, Last int64 }

// Sub returns what happened since an earlier snapshot. What has no difference stays.
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

// With is g with another gate's.
func (g Gate) With(o Gate) Gate { return *g.clone().merge(&o) }

// merge adds another gate: its records, changes and bounds. Either may be nil.
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
