package franz_test

import (
	"testing"
	"time"

	"kafkabench.example/kafka-bench/internal/kafka/driver/drivertest"
	"kafkabench.example/kafka-bench/internal/kafka/driver/franz"
)

// TestKilledConsumerEnds: closing it takes no time, and nothing of it is left.
func TestKilledConsumerEnds(t *testing.T) {
	drivertest.TestKilledConsumer(t, franz.New(), time.Second, "franz-go/pkg/kgo.")
}
