//go:build librdkafka && cgo && full

package librdkafka_test

import (
	"testing"
	"time"

	"kafkabench.example/kafka-bench/internal/kafka/driver/drivertest"
	"kafkabench.example/kafka-bench/internal/kafka/driver/librdkafka"
)

// TestConformanceFake runs the suite on fake clusters of three brokers.
func TestConformanceFake(t *testing.T) {
	drivertest.RunFake(t, librdkafka.New(), 3*time.Second, drivertest.Loopback)
}

// TestSecured: records pass wherever a cluster lets its clients in.
func TestSecured(t *testing.T) { drivertest.TestSecured(t, librdkafka.New()) }

// TestName: what selects the driver, and what it is a driver of.
func TestName(t *testing.T) { drivertest.CheckName(t, librdkafka.New(), "librdkafka") }

// TestTables: what becomes of the settings that a scenario gives by the client's own names.
func TestTables(t *testing.T) { drivertest.CheckTables(t, librdkafka.New()) }
