//go:build proof

package conformance

import (
	"testing"

	"kafkabench.example/kafka-bench/kmq"
)

// TestAllOnKafka runs the other laws on Apache Kafka.
func TestAllOnKafka(t *testing.T) {
	onKafka(t, func(e kmq.Engine, l law) bool { return !ofKafka(e, l) })
}
