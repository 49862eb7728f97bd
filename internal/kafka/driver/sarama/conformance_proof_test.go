//go:build proof

package sarama_test

import (
	"testing"

	"kafkabench.example/kafka-bench/internal/kafka/driver/drivertest"
	"kafkabench.example/kafka-bench/internal/kafka/driver/sarama"
)

func TestConformanceKafka(t *testing.T) { drivertest.RunKafka(t, sarama.New()) }
