package load

import (
	"kafkabench.example/kafka-bench/internal/measure/snapshot"
)

// Standing is how the group stands. With books it has what has arrived too; without them
// it costs next to nothing, so that it may be asked for many times a second.
func (g *Group) Standing(books bool) snapshot.Group {
	s := snapshot.Group{Reached: g.Positions(), Received: g.Received(), Counts: g.Counts(), Working: g.Working(), Traffic: g.Traffic()}
	if books {
		s.Reached = g.Reached()
	}
	if books && g.stamped {
		s.Books = snapshot.BooksOf(g.Receivers())
	}
	s.Owned, s.Idle = g.Assigned()
	return s
}

// Standing is how the consumers of the queue stand, as that of a Group.
func (g *QueueGroup) Standing(books bool) snapshot.Group {
	if !books {
		return snapshot.Group{Reached: g.Positions(), Received: g.Received(), Counts: g.Counts(), Working: g.Working()}
	}
	s := snapshot.Group{
		Reached: g.Reached(), Books: snapshot.BooksOf(g.Receivers()),
		Received: g.Received(), Counts: g.Counts(), Working: g.Working(),
		Queue: &snapshot.Queue{Total: g.Totals(), Counts: g.QueueCounts()},
	}
	s.Queue.Deliveries[0], s.Queue.Deliveries[1] = g.Tally()
	return s
}
