//go:build proof

package truth

import (
	"testing"

	"kafkabench.example/kafka-bench/internal/kafka/cluster/clustertest"
)

var many = []string{"load.rate=5k/s", "phases.measure=4s"}

// The test is TestQueueDrops on Kafka, with all ways to drop, without exact numbers.
func TestQueueDropsOnKafka(t *testing.T) {
	for _, d := range []dropping{
		{"markers-silent", "markers", "drop: {share: 50%}, visibility: 2s", 0},
		{"markers-external", "markers", "drop: {share: 50%}, visibility: 2s, tracker: external", 0},
		{"markers-nack", "markers", "drop: {share: 50%, how: nack}, backoff: {min: 50ms, max: 200ms}", 0},
		{"markers-four", "markers", "drop: {share: 50%}, visibility: 2s, max_deliveries: 4", 4},
		{"offsetmap-silent", "offsetmap", "drop: {share: 50%}, visibility: 2s", 0},
		{"offsetmap-nack", "offsetmap", "drop: {share: 50%, how: nack}", 0},
		{"offsetmap-five", "offsetmap", "drop: {share: 50%}, visibility: 2s, max_deliveries: 5", 5},
		{"offsetmap-keys", "offsetmap", "drop: {share: 50%, how: nack}, order: partition, max_deliveries: 4", 4},
		{"share-silent", "share", "drop: {share: 50%}, visibility: 1s, max_deliveries: 5", 5},
		{"share-nack", "share", "drop: {share: 50%, how: nack}, max_deliveries: 4", 4},
	} {
		t.Run(d.name, func(t *testing.T) {
			t.Parallel()
			wantDrops(t, clustertest.Shared(t), d, 20_000, many...)
		})
	}
}

func TestQueueFillOnKafka(t *testing.T) {
	for _, engine := range engines {
		t.Run(engine, func(t *testing.T) {
			t.Parallel()
			wantFillDrained(t, clustertest.Shared(t), engine, 20_000)
		})
	}
}

func TestQueueLosesOnKafka(t *testing.T) { wantLosses(t, clustertest.Shared(t)) }
