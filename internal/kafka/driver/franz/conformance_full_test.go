//go:build full

package franz_test

import (
	"testing"

	"kafkabench.example/kafka-bench/internal/kafka/driver/drivertest"
	"kafkabench.example/kafka-bench/internal/kafka/driver/franz"
)

func TestConformanceKafka(t *testing.T) { drivertest.RunKafka(t, franz.New()) }
