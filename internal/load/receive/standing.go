package receive

import (
	"kafkabench.example/kafka-bench/internal/load"
	"kafkabench.example/kafka-bench/internal/measure/snapshot"
)

// Standing is how the group stands. With books it has what has arrived too; without them
// it costs next to nothing, so that it may be asked for many times a second.
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

// shares are what the members have had that are, or were, here.
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

// Traffic is that of all members, those that are gone included, as far as the driver
// counts it.
func (g *Group) Traffic() (sum snapshot.Traffic) {
	for _, m := range g.members.Ever() {
		sum = sum.Add(load.TrafficOf(m.client))
	}
	return sum
}
