package sarama_test

import (
	"testing"

	"kafkabench.example/kafka-bench/internal/kafka/driver/drivertest"
	"kafkabench.example/kafka-bench/internal/kafka/driver/sarama"
)

// TestName checks the driver's name and version.
func TestName(t *testing.T) { drivertest.CheckName(t, sarama.New(), "sarama") }

// TestTables checks the settings that a scenario gives by the client's own names.
func TestTables(t *testing.T) { drivertest.CheckTables(t, sarama.New()) }
