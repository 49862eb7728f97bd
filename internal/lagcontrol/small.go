package lagcontrol

import (
	"fmt"
	"time"
)

// mostWaits is how many steps of the group in a row must show that the bound is too small.
const mostWaits = 3

// smallBound detects a constant bound below rate × commit interval. Such a bound holds back a group
// that keeps up: the group takes all records of the bound, and the gate has room only after the next
// commit.
type smallBound struct {
	group Group
	waits int
	told  bool
}

// see returns the group's commit interval, and whether it is too long for the bound.
func (s *smallBound) see(o Observation) (time.Duration, bool) {
	standing, stepped := s.group.See(o)
	if s.told || !stepped {
		return 0, false
	}
	s.waits++
	if standing.Idle <= MostIdle || s.group.pressed == 0 || s.group.at-s.group.pressed > standing.interval {
		s.waits = 0
	}
	s.told = s.waits >= mostWaits
	return standing.interval, s.told
}

// watchBound is for controllers with a bound that does not move. The lock is held.
func (g *Gate) watchBound(now time.Duration) {
	if g.pacer != nil || g.ruling.bound == Unlimited {
		return
	}
	if interval, small := g.small.see(g.ruling.seen); small {
		g.note(g.change(now, Small, fmt.Sprintf(
			"the group waits for records although the bound of %d is used up, because it commits only each %v: raise the bound above rate × commit interval, or commit more often",
			g.ruling.bound, interval.Round(10*time.Millisecond))))
	}
}
