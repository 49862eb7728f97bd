package queued

import "kafkabench.example/kafka-bench/internal/measure/snapshot"

// Standing returns the state of the consumers, like receive.Group's.
func (g *Group) Standing(books bool) snapshot.Group {
	if !books {
		return snapshot.Group{Reached: g.Positions(), Received: g.Received(), Counts: g.Counts(),
			Working: g.Working(), Shares: g.shares()}
	}
	s := snapshot.Group{
		Reached: g.Reached(), Arrived: true, Books: snapshot.BooksOf(g.Receivers()),
		Received: g.Received(), Counts: g.Counts(), Working: g.Working(),
		Shares: g.shares(),
		Queue: &snapshot.Queue{
			Total: g.Totals(), Counts: g.QueueCounts(), OldestUnackedNs: g.OldestUnacked(),
			Settled: snapshot.BooksOf(g.Settled()), Acked: snapshot.BooksOf(g.books.Acked()),
		},
	}
	s.Queue.Deliveries[0], s.Queue.Deliveries[1] = g.Tally()
	return s
}

// OldestUnacked returns when the oldest open (delivered, unacknowledged) record was due;
// snapshot.NothingDue without one. It returns nil if all open records, or all records of the run,
// come from producers that filled the topic, because those records have no due times. It also
// returns nil if other processes have members, because these members may have settled records that
// are open here. It looks at every open record.
func (g *Group) OldestUnacked() *int64 {
	scheduled := g.cfg.Producers - g.cfg.Filled
	if scheduled <= 0 || g.cfg.divided() { // another process may have acknowledged what is open here
		return nil
	}
	due, filled := snapshot.NothingDue, false
	for _, b := range g.books {
		of, others := b.oldest(scheduled)
		due, filled = min(due, of), filled || others
	}
	if filled && due == snapshot.NothingDue {
		return nil
	}
	return &due
}
