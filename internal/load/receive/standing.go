package receive

import (
	"kafkabench.example/kafka-bench/internal/load"
	"kafkabench.example/kafka-bench/internal/measure/snapshot"
)

// Standing is how the group stands. With books it has what has arrived too; without them
// it costs next to nothing, so that it may be asked for many times a second.
func (g *Group) Standing(books bool) snapshot.Group {
	s := snapshot.Group{Reached: g.Positions(), Received: g.Received(), Counts: g.Counts(), Working: g.Working(), Traffic: g.Traffic()}
	if books {
		s.Reached, s.Arrived = g.Reached(), true
	}
	if books && g.cfg.Stamped {
		s.Books = snapshot.BooksOf(g.Receivers())
	}
	s.Owned, s.Idle = g.Assigned()
	return s
}

// Traffic is that of all members, those that are gone included, as far as the driver
// counts it.
func (g *Group) Traffic() (sum snapshot.Traffic) {
	for _, m := range g.members.Ever() {
		sum = sum.Add(load.TrafficOf(m.client))
	}
	return sum
}
