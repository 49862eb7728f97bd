//go:build proof

package segmentio_test

import (
	"testing"

	"kafkabench.example/kafka-bench/internal/kafka/driver/drivertest"
	"kafkabench.example/kafka-bench/internal/kafka/driver/segmentio"
)

// TestConformanceKafka runs the suite on Apache Kafka itself.
func TestConformanceKafka(t *testing.T) { drivertest.RunKafka(t, segmentio.New()) }
