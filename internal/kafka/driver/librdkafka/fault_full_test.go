//go:build librdkafka && cgo && full

package librdkafka_test

import (
	"testing"
	"time"

	"kafkabench.example/kafka-bench/internal/kafka/driver"
	"kafkabench.example/kafka-bench/internal/kafka/driver/drivertest"
	"kafkabench.example/kafka-bench/internal/kafka/driver/librdkafka"
)

// What the client's Go API does not report is Unknown; see outcome.go.
var outcomes = drivertest.Outcomes{
	Driver:          librdkafka.New(),
	Place:           drivertest.Loopback,
	DeliveryTimeout: time.Second,
	Within:          10,
	DropsReasons:    true,
	HeldBack:        driver.Unknown,
	Closing:         5 * time.Second,
	Acked: []string{
		"healthy", "leader moves once", "times out once", "cut off once", "cut off once, idempotent",
	},
	Failed: []string{
		"not authorized", "too large for the broker", "too large, idempotent", "too large, requests overtake",
		"timed out, then refused",
	},
	Unknown: []string{
		"not the leader, acks 1", "not the leader, acks all", "too few replicas", "too few replicas after the append",
		"timed out after the append", "storage", "unknown to the broker", "data loss, idempotent",
		"cut off after the write", "cut off after the write, idempotent", "cut off, then refused", "silent",
		"silent, idempotent",
	},
}

func TestOutcomeOfFaults(t *testing.T) { outcomes.TestFaults(t) }

func TestReasons(t *testing.T) { outcomes.TestReasons(t) }

func TestOutcomeOfClose(t *testing.T) { outcomes.TestClose(t) }
