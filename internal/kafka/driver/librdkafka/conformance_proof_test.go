//go:build librdkafka && cgo && proof

package librdkafka_test

import (
	"testing"

	"kafkabench.example/kafka-bench/internal/kafka/driver/drivertest"
	"kafkabench.example/kafka-bench/internal/kafka/driver/librdkafka"
)

func TestConformanceKafka(t *testing.T) { drivertest.RunKafka(t, librdkafka.New()) }
