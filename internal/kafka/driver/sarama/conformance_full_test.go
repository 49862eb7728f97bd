//go:build full

package sarama_test

import (
	"testing"
	"time"

	"kafkabench.example/kafka-bench/internal/kafka/driver"
	"kafkabench.example/kafka-bench/internal/kafka/driver/drivertest"
	"kafkabench.example/kafka-bench/internal/kafka/driver/sarama"
)

// TestConformanceFake runs the suite on fake clusters of three brokers. It uses real time. The client holds a lock
// while it waits for a broker's answer, and a goroutine that waits for a lock stops virtual time.
func TestConformanceFake(t *testing.T) {
	drivertest.RunFake(t, sarama.New(), 3*time.Second, drivertest.Loopback)
}

func TestSecured(t *testing.T) { drivertest.TestSecured(t, sarama.New()) }

// TestOffsetOutOfRangeInGroup: a group member reports a missing offset and continues like a client without a group.
func TestOffsetOutOfRangeInGroup(t *testing.T) {
	drivertest.Loopback(t, func(t *testing.T, cluster drivertest.Cluster) {
		testOffsetOutOfRange(t, cluster, func(c *driver.ConsumerConfig) { c.Group, c.Protocol = "g", "classic" })
	}, drivertest.Topics(1)...)
}
