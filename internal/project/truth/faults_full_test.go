//go:build full

package truth

import (
	"testing"

	"kafkabench.example/kafka-bench/internal/kafka/cluster/clustertest"
)

func TestKilledConsumerOnKafka(t *testing.T) {
	t.Parallel()
	r, left := killedOn(t, clustertest.Shared(t), "killed")
	wantDuplicates(t, r, left)
}
