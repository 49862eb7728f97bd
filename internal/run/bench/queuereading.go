package bench

import "kafkabench.example/kafka-bench/internal/measure/snapshot"

// trackerCounts returns how to read the counters of the tracker that serves all members; nil
// if each member has its own, or another process has it.
func (q *queue) trackerCounts() func() snapshot.QueueCounts {
	if q.tracker == nil {
		return nil
	}
	return func() snapshot.QueueCounts {
		s := q.tracker.Stats()
		return snapshot.QueueCounts{Tailed: s.Tailed, Missing: s.Missing}
	}
}
