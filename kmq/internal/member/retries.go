package member

import (
	"context"

	"kafkabench.example/kafka-bench/kmq/internal/lease"
)

// DeleteRetries deletes the records of the retry topic below what the group has committed, of the owned partitions. It is
// for an engine that commits only settled records.
func (m *Member) DeleteRetries(ctx context.Context) error {
	below := make(map[int32]int64)
	for number, at := range m.offsets.committed() {
		if lease.IsRetry(number) {
			below[lease.NumberInTopic(number)] = at
		}
	}
	return m.deletions.DeleteBelow(ctx, below)
}
