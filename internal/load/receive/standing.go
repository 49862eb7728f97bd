package receive

import (
	"kafkabench.example/kafka-bench/internal/load"
	"kafkabench.example/kafka-bench/internal/measure/snapshot"
)

// Standing returns the group's state. Without books it is cheap enough to call many times a second; with books it
// also has what has arrived.
func (g *Group) Standing(books bool) snapshot.Group {
	s := snapshot.Group{
		Reached: g.Positions(), Received: g.Received(), Counts: g.Counts(), Working: g.Working(), Traffic: g.Traffic(),
		Shares: g.shares(),
	}
	if books {
		s.Reached, s.Arrived = g.Reached(), true
	}
	if books && g.cfg.Stamped {
		s.Books = snapshot.BooksOf(g.Receivers())
	}
	s.Owned, s.Idle = g.Assigned()
	return s
}

func (g *Group) shares() (all []snapshot.Share) {
	here := make([]bool, len(g.places))
	for _, m := range g.members.Ever() {
		here[m.id] = true
	}
	for number, p := range g.places {
		if here[number] {
			p.mu.Lock()
			all = append(all, p.share)
			p.mu.Unlock()
		}
	}
	return all
}

// Traffic returns the traffic of all members, former ones included.
func (g *Group) Traffic() (sum snapshot.Traffic) {
	for _, m := range g.members.Ever() {
		sum = sum.Add(load.TrafficOf(m.client))
	}
	return sum
}
