package sarama_test

import (
	"testing"

	"kafkabench.example/kafka-bench/internal/kafka/driver/drivertest"
	"kafkabench.example/kafka-bench/internal/kafka/driver/sarama"
)

// TestName: what selects the driver, and what it is a driver of.
func TestName(t *testing.T) { drivertest.CheckName(t, sarama.New(), "sarama") }
