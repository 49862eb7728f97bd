//go:build librdkafka && cgo && full

package librdkafka_test

import (
	"testing"
	"time"

	"kafkabench.example/kafka-bench/internal/kafka/driver/drivertest"
	"kafkabench.example/kafka-bench/internal/kafka/driver/librdkafka"
)

func TestConformanceFake(t *testing.T) {
	drivertest.RunFake(t, librdkafka.New(), 3*time.Second, drivertest.Loopback)
}

func TestSecured(t *testing.T) { drivertest.TestSecured(t, librdkafka.New()) }

func TestName(t *testing.T) { drivertest.CheckName(t, librdkafka.New(), "librdkafka") }

func TestTables(t *testing.T) { drivertest.CheckTables(t, librdkafka.New()) }
