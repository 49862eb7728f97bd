package sarama_test

import (
	"testing"

	"kafkabench.example/kafka-bench/internal/kafka/driver/drivertest"
	"kafkabench.example/kafka-bench/internal/kafka/driver/sarama"
)

// TestName: what selects the driver, and what it is a driver of.
func TestName(t *testing.T) { drivertest.CheckName(t, sarama.New(), "sarama") }

// TestTables: what becomes of the settings that a scenario gives by the client's own names.
func TestTables(t *testing.T) { drivertest.CheckTables(t, sarama.New()) }
