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

// TestSecured: clients work with every kind of access.
func TestSecured(t *testing.T) { drivertest.TestSecured(t, librdkafka.New()) }

// TestName checks the driver's name and version.
func TestName(t *testing.T) { drivertest.CheckName(t, librdkafka.New(), "librdkafka") }

// TestTables checks the settings that a scenario gives by the client's own names.
func TestTables(t *testing.T) { drivertest.CheckTables(t, librdkafka.New()) }
