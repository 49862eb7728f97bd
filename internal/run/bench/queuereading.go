package bench

import "kafkabench.example/kafka-bench/internal/measure/snapshot"

// trackerCounts is nil unless this process has the shared tracker.
func (q *queue) trackerCounts() func() snapshot.QueueCounts {
	if q.tracker == nil {
		return nil
	}
	return func() snapshot.QueueCounts {
		s := q.tracker.Stats()
		return snapshot.QueueCounts{Tailed: s.Moved, Missing: s.Missing}
	}
}
