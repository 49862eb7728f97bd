//go:build proof

package segmentio_test

import (
	"testing"

	"kafkabench.example/kafka-bench/internal/kafka/driver/drivertest"
	"kafkabench.example/kafka-bench/internal/kafka/driver/segmentio"
)

func TestConformanceKafka(t *testing.T) { drivertest.RunKafka(t, segmentio.New()) }
