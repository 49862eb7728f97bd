package lagcontrol

import "time"

// MostIdle is the part of the group's capacity that must wait for records before a controller tries
// a larger bound. One waiting partition is not enough, because partitions drift apart.
const MostIdle = 0.75

// Group estimates the consumers' positions from the readings, and computes the ceiling from them.
// The controllers that find their bound by themselves use it:
//
//	ceiling(t) = Settled − Lag + progress(t) + bound
//
// where progress(t) is how far the consumers are past the committed offsets at t. So the bound does
// not count records that wait only for a commit.
//
// Unless the consumers report Delivered, the admitted and uncommitted records never exceed bound +
// what the consumers are expected to take in reach (1.5) × interval, the usual time between two
// commits. A first silence without commits does not change the interval.
type Group struct {
	tracks map[place]*track
	order  []*track

	at      time.Duration
	Elapsed time.Duration // since the previous decision
	refused int64
	limited int64         // records refused since the previous decision
	pressed time.Duration // when records were last refused
	probed  time.Duration // when more than the measured capacity was last tried

	admitted int64
	least    float64 // lowest bound while no record of this gate is under way

	// committed is how many admitted records are committed; part is this gate's part of the
	// progress.
	share, committed, part, Bound, limit float64
}

// NewGroup returns an estimate that has seen nothing.
func NewGroup() Group { return Group{tracks: make(map[place]*track)} }

// See takes an observation, and reports whether a position moved since the last one.
func (g *Group) See(o Observation) (Standing, bool) {
	g.share = o.Share
	if o.Partitions == nil {
		// The totals count only this gate's records, so its share is already in them.
		g.share = 1
		o.Partitions = []Partition{{Committed: o.Committed, End: o.Committed + o.Lag}}
	}
	g.Elapsed, g.at = o.At-g.at, o.At
	g.limited, g.refused = o.Refused-g.refused, o.Refused
	if g.limited > 0 {
		g.pressed = g.at
	}
	stepped := g.follow(o)
	s := g.stand()
	g.committed, g.part = float64(o.Settled-o.Lag), g.share
	if s.lag > 0 {
		g.part = min(1, float64(o.Lag)/s.lag)
	}
	return s, stepped
}

func (g *Group) follow(o Observation) bool {
	stepped := false
	g.order = g.order[:0]
	for _, p := range o.Partitions {
		at := place{p.Topic, p.ID}
		t := g.tracks[at]
		if t == nil {
			t = &track{}
			g.tracks[at] = t
		}
		g.order = append(g.order, t)
		stepped = t.see(o.At-o.Age, p) || stepped
	}
	if len(g.tracks) > len(g.order) {
		for at, t := range g.tracks {
			if t.seen != o.At-o.Age {
				delete(g.tracks, at)
			}
		}
	}
	return stepped
}

// Standing is the state of the consumers, by the estimates of a Group.
type Standing struct {
	capacity, backlog, lag float64
	interval               time.Duration
	workers                int     // partitions whose capacity is known
	Idle                   float64 // part of the capacity that waits for records
	slowest                float64 // seconds by which the slowest busy partition is behind the mean
}

func (g *Group) stand() Standing {
	var s Standing
	for _, t := range g.order {
		s.lag += float64(t.end - t.committed)
		s.backlog += t.backlog(g.at)
		s.capacity += t.capacity
		s.interval = max(s.interval, t.interval)
		if t.capacity > 0 {
			s.workers++
		}
		if t.waits(g.at) {
			s.Idle += t.capacity
		}
	}
	if s.capacity > 0 {
		s.Idle /= s.capacity
	}
	return s
}

// Hungry reports whether the controller should try a larger bound: little is true, and records were
// refused while most consumers wait for records. Hungry returns true about once in the usual
// interval between steps, because a trial must show its effect first.
func (g *Group) Hungry(s *Standing, little bool) bool {
	if s.capacity == 0 || !little || s.Idle <= MostIdle || g.at-g.pressed > s.interval ||
		g.at-g.probed < s.interval*9/10 {
		return false
	}
	g.probed = g.at
	return true
}

// Gain returns the factor of the next trial: doubling is TCP's slow start.
func (s *Standing) Gain(apart time.Duration) float64 {
	if s.interval > apart {
		return 2
	}
	return 1.25
}

// Hold sets the bound that Ceiling enforces, within maxLag; 0 is no limit.
func (g *Group) Hold(o Observation, bound float64, maxLag int64) {
	bound *= g.share
	g.Bound = max(bound, g.starved(o, bound))
	g.limit = float64(Unlimited)
	if maxLag > 0 {
		most := part(o.Share, maxLag)
		g.Bound = min(g.Bound, float64(most))
		g.limit = float64(window(o, most))
	}
}

// starved returns the least bound that keeps a gate with a share from staying closed for ever: one
// record. While records are refused and none of the gate's is under way, this bound doubles at each
// decision, up to the number of refused records.
func (g *Group) starved(o Observation, bound float64) float64 {
	onTheWay := o.Lag > 0 || o.Settled < o.Admitted
	switch {
	case onTheWay || o.Admitted > g.admitted:
		g.least = 1
	case g.limited > 0:
		g.least = max(1, min(2*max(bound, g.least), float64(g.limited)))
	}
	g.admitted = o.Admitted
	return max(g.least, 1)
}

// Progress estimates how many of this gate's records the consumers have read and not committed.
func (g *Group) Progress(at time.Duration) float64 {
	var beyond time.Duration
	if g.limited > 0 {
		beyond = at - g.at // waiting producers follow the ceiling, so the log grows meanwhile
	}
	var sum float64
	for _, t := range g.order {
		sum += t.progress(at, beyond)
	}
	return g.part * sum
}

// Ceiling implements [Pacer] for a controller that has called Hold.
func (g *Group) Ceiling(at time.Duration) int64 {
	return Records(min(g.committed+g.Progress(at)+g.Bound, g.limit))
}
