package segmentio_test

import (
	"testing"
	"time"

	"kafkabench.example/kafka-bench/internal/kafka/driver/drivertest"
	"kafkabench.example/kafka-bench/internal/kafka/driver/segmentio"
)

func TestConformanceFake(t *testing.T) {
	drivertest.RunFake(t, segmentio.New(), 6*time.Second, drivertest.Virtual)
}

func TestSecured(t *testing.T) { drivertest.TestSecured(t, segmentio.New()) }

func TestName(t *testing.T) { drivertest.CheckName(t, segmentio.New(), "segmentio") }

func TestTables(t *testing.T) { drivertest.CheckTables(t, segmentio.New()) }
