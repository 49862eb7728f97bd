package franz_test

import (
	"testing"
	"time"

	"kafkabench.example/kafka-bench/internal/kafka/driver"
	"kafkabench.example/kafka-bench/internal/kafka/driver/drivertest"
	"kafkabench.example/kafka-bench/internal/kafka/driver/franz"
)

const topic = drivertest.Topic

// outcomes are what becomes of records with this client, and how soon. It reads
// metadata every 5 s at most, so that a record may outlast its delivery timeout.
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
		"timed out, then refused", // the refusal is all that is told, and it may be in the log
	},
	Unknown: []string{
		"too large, requests overtake", "not the leader, acks 1", "not the leader, acks all", "too few replicas",
		"too few replicas after the append", "timed out after the append", "storage", "unknown to the broker",
		"data loss, idempotent", "cut off after the write", "cut off after the write, idempotent",
		"cut off, then refused", "silent", "silent, idempotent",
	},
}

// TestOutcomeOfFaults: what becomes of a record when a broker misbehaves.
func TestOutcomeOfFaults(t *testing.T) { outcomes.TestFaults(t) }

// TestOutcomeOfClose: and when the producer is closed.
func TestOutcomeOfClose(t *testing.T) { outcomes.TestClose(t) }

func TestProduceAfterClose(t *testing.T) { outcomes.TestProduceAfterClose(t) }

func TestDialer(t *testing.T) {
	drivertest.TestDialer(t, func(dial drivertest.Dial) driver.Driver { return franz.New(franz.WithDialer(dial)) })
}
