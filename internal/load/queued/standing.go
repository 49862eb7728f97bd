package queued

import "kafkabench.example/kafka-bench/internal/measure/snapshot"

// Standing is how the consumers of the queue stand, as that of a receive.Group.
func (g *Group) Standing(books bool) snapshot.Group {
	if !books {
		return snapshot.Group{Reached: g.Positions(), Received: g.Received(), Counts: g.Counts(),
			Working: g.Working(), Shares: g.shares()}
	}
	s := snapshot.Group{
		Reached: g.Reached(), Arrived: true, Books: snapshot.BooksOf(g.Receivers()),
		Received: g.Received(), Counts: g.Counts(), Working: g.Working(),
		Shares: g.shares(),
		Queue:  &snapshot.Queue{Total: g.Totals(), Counts: g.QueueCounts()},
	}
	s.Queue.Deliveries[0], s.Queue.Deliveries[1] = g.Tally()
	return s
}

// OldestUnacked returns when the oldest record was due that was handed over and is not
// acknowledged, those of a fill left out; snapshot.NothingDue if there is none, nil if all records
// are of a fill, which has no schedule. It looks at each such record.
func (g *Group) OldestUnacked() *int64 {
	scheduled := g.cfg.Producers - g.cfg.Filled
	if scheduled <= 0 {
		return nil
	}
	due := snapshot.NothingDue
	for _, b := range g.books {
		due = min(due, b.oldest(scheduled))
	}
	return &due
}
