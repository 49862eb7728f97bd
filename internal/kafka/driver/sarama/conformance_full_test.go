//go:build full

package sarama_test

import (
	"testing"
	"time"

	"kafkabench.example/kafka-bench/internal/kafka/driver"
	"kafkabench.example/kafka-bench/internal/kafka/driver/drivertest"
	"kafkabench.example/kafka-bench/internal/kafka/driver/sarama"
)

// The suite runs in real time: the client holds a lock while it waits for an answer, which stops virtual time.
func TestConformanceFake(t *testing.T) {
	drivertest.RunFake(t, sarama.New(), 3*time.Second, drivertest.Loopback)
}

func TestSecured(t *testing.T) { drivertest.TestSecured(t, sarama.New()) }

func TestOffsetOutOfRangeInGroup(t *testing.T) {
	drivertest.Loopback(t, func(t *testing.T, cluster drivertest.Cluster) {
		testOffsetOutOfRange(t, cluster, func(c *driver.ConsumerConfig) { c.Group, c.Protocol = "g", "classic" })
	}, drivertest.Topics(1)...)
}
