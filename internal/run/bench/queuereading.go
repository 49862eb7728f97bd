package bench

import (
	"kafkabench.example/kafka-bench/internal/measure/snapshot"
	"kafkabench.example/kafka-bench/internal/run/observe"
)

// standing returns how the queue stands, by its only group's standing with books.
func (q *queue) standing(g snapshot.Group) observe.QueueReading {
	return observe.QueueReading{
		Totals: g.Queue.Total, Counts: q.counts(g.Queue.Counts), OldestUnackedNs: q.group.OldestUnacked(),
		Dead: g.Queue.Deliveries[0].Dead + g.Queue.Deliveries[1].Dead,
	}
}

// counts returns the queue's own counters: those of its members, and of the one tracker
// that serves them all, if there is one.
func (q *queue) counts(c snapshot.QueueCounts) snapshot.QueueCounts {
	if q.tracker != nil {
		s := q.tracker.Stats()
		c.Tailed, c.Missing = c.Tailed+s.Tailed, c.Missing+s.Missing
	}
	return c
}
