package bench

import "kafkabench.example/kafka-bench/internal/measure/snapshot"

// trackerCounts returns a reader of the shared tracker's counters; nil without one in this process.
func (q *queue) trackerCounts() func() snapshot.QueueCounts {
	if q.tracker == nil {
		return nil
	}
	return func() snapshot.QueueCounts {
		s := q.tracker.Stats()
		return snapshot.QueueCounts{Tailed: s.Tailed, Missing: s.Missing}
	}
}
