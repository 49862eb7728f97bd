package franz_test

import (
	"testing"
	"time"

	"kafka-bench/internal/driver/drivertest"
	"kafka-bench/internal/driver/franz"
)

// TestKilledConsumerEnds: closing it takes no time, and nothing of it is left.
func TestKilledConsumerEnds(t *testing.T) {
	drivertest.TestKilledConsumer(t, franz.New(), time.Second)
	drivertest.CheckNothingRuns(t, "franz-go/pkg/kgo.")
}
