package franz_test

import (
	"testing"
	"time"

	"kafkabench.example/kafka-bench/internal/kafka/driver/drivertest"
	"kafkabench.example/kafka-bench/internal/kafka/driver/franz"
)

func TestConformanceFake(t *testing.T) {
	drivertest.RunFake(t, franz.New(), 3*time.Second, drivertest.Virtual)
}

func TestSecured(t *testing.T) { drivertest.TestSecured(t, franz.New()) }

func TestName(t *testing.T) { drivertest.CheckName(t, franz.New(), "franz") }

func TestTables(t *testing.T) { drivertest.CheckTables(t, franz.New()) }
