package franz_test

import (
	"testing"
	"time"

	"kafkabench.example/kafka-bench/internal/kafka/driver"
	"kafkabench.example/kafka-bench/internal/kafka/driver/drivertest"
	"kafkabench.example/kafka-bench/internal/kafka/driver/franz"
)

const topic = drivertest.Topic

// The client reads metadata at most every 5 s, so a record may exceed its delivery timeout.
var outcomes = drivertest.Outcomes{
	Driver:          franz.New(),
	Place:           drivertest.Virtual,
	DeliveryTimeout: time.Second,
	Within:          10,
	HeldBack:        driver.Failed,
	Closing:         2 * time.Second,
	Acked: []string{
		"healthy", "leader moves once", "times out once", "cut off once", "cut off once, idempotent",
	},
	Failed: []string{
		"not authorized", "too large for the broker", "too large, idempotent",
		"timed out, then refused",
	},
	Unknown: []string{
		"too large, requests overtake", "not the leader, acks 1", "not the leader, acks all", "too few replicas",
		"too few replicas after the append", "timed out after the append", "storage", "unknown to the broker",
		"data loss, idempotent", "cut off after the write", "cut off after the write, idempotent",
		"cut off, then refused", "silent", "silent, idempotent",
	},
}

func TestOutcomeOfFaults(t *testing.T) { outcomes.TestFaults(t) }

func TestReasons(t *testing.T) { outcomes.TestReasons(t) }

func TestOutcomeOfClose(t *testing.T) { outcomes.TestClose(t) }

func TestProduceAfterClose(t *testing.T) { outcomes.TestProduceAfterClose(t) }

func TestDialer(t *testing.T) {
	drivertest.TestDialer(t, func(dial drivertest.Dial) driver.Driver { return franz.New(franz.WithDialer(dial)) })
}
