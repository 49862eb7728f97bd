package queued

import "kafkabench.example/kafka-bench/internal/measure/snapshot"

// Standing is how the consumers of the queue stand, as that of a receive.Group.
func (g *Group) Standing(books bool) snapshot.Group {
	if !books {
		return snapshot.Group{Reached: g.Positions(), Received: g.Received(), Counts: g.Counts(), Working: g.Working()}
	}
	s := snapshot.Group{
		Reached: g.Reached(), Arrived: true, Books: snapshot.BooksOf(g.Receivers()),
		Received: g.Received(), Counts: g.Counts(), Working: g.Working(),
		Queue: &snapshot.Queue{
			Total: g.Totals(), Counts: g.QueueCounts(), OldestUnackedNs: g.books.oldest(g.cfg.Producers - g.cfg.Filled),
		},
	}
	s.Queue.Deliveries[0], s.Queue.Deliveries[1] = g.Tally()
	return s
}
