package sarama_test

import (
	"testing"

	"kafkabench.example/kafka-bench/internal/kafka/driver/drivertest"
	"kafkabench.example/kafka-bench/internal/kafka/driver/sarama"
)

func TestName(t *testing.T) { drivertest.CheckName(t, sarama.New(), "sarama") }

func TestTables(t *testing.T) { drivertest.CheckTables(t, sarama.New()) }
