package bench

import (
	"kafkabench.example/kafka-bench/internal/measure/snapshot"
	"kafkabench.example/kafka-bench/internal/result"
)

// queueReading is how a queue stood at a moment.
type queueReading struct {
	totals snapshot.QueueTotal
	counts snapshot.QueueCounts
}

// readQueue is how the queue stands, by its only group's standing with books; nothing
// without one.
func (r *run) readQueue(s standings) (q queueReading) {
	if r.queue == nil {
		return q
	}
	return queueReading{s[0].Queue.Total, r.queue.counts(s[0].Queue.Counts)}
}

// counts are the queue's own counters, of its members and of a tracker beside them.
func (q *queue) counts(c snapshot.QueueCounts) snapshot.QueueCounts {
	if q.tracker != nil {
		s := q.tracker.Stats()
		c.Tailed, c.Missing = c.Tailed+s.Tailed, c.Missing+s.Missing
	}
	return c
}

// addQueue fills in what the queue did in an interval.
func (r *run) addQueue(iv *result.Interval, before, after counters) {
	if r.queue == nil {
		return
	}
	acked, again := after.queue.totals.Acked-before.queue.totals.Acked, after.queue.totals.Redelivered-before.queue.totals.Redelivered
	iv.AckedByQueue, iv.Redelivered, iv.QueueInFlight = &acked, &again, &after.queue.counts.InFlight
	r.queue.peak = max(r.queue.peak, after.queue.counts.InFlight)
}
