package franz_test

import (
	"testing"
	"time"

	"kafkabench.example/kafka-bench/internal/kafka/driver/drivertest"
	"kafkabench.example/kafka-bench/internal/kafka/driver/franz"
)

func TestKilledConsumerEnds(t *testing.T) {
	drivertest.TestKilledConsumer(t, franz.New(), time.Second, "franz-go/pkg/kgo.")
}
