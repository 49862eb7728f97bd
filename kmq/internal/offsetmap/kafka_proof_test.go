//go:build proof

package offsetmap

import (
	"fmt"
	"testing"

	"kafkabench.example/kafka-bench/internal/kafka/cluster/clustertest"
)

// TestLimitOfKafka repeats TestLimitOfABroker on Apache Kafka.
func TestLimitOfKafka(t *testing.T) {
	stopsAtTheLimit(t, clustertest.Own(t, 1, map[string]string{limitKey: fmt.Sprint(shortMetadata)}))
}
