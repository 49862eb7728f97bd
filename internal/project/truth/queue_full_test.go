//go:build full

package truth

import (
	"testing"

	"kafkabench.example/kafka-bench/internal/kafka/cluster/clustertest"
)

// The test is TestQueueKill on Kafka, with a restarted consumer. How many records it had when it
// was killed depends on the clock.
func TestQueueKillOnKafka(t *testing.T) {
	t.Parallel()
	for _, engine := range engines {
		t.Run(engine, func(t *testing.T) {
			t.Parallel()
			f, _ := wantKilled(t, clustertest.Shared(t), engine, "consume.consumers=3",
				"faults=[{at: 2s, kill: consumer 0, for: 500ms}]")
			if f.EndNs == nil {
				t.Errorf("the consumer did not come back: %+v", f)
			}
		})
	}
}
