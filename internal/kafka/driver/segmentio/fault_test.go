package segmentio_test

import (
	"errors"
	"testing"
	"time"

	"kafkabench.example/kafka-bench/internal/kafka/driver"
	"kafkabench.example/kafka-bench/internal/kafka/driver/drivertest"
	"kafkabench.example/kafka-bench/internal/kafka/driver/segmentio"
)

var outcomes = drivertest.Outcomes{
	Driver:          segmentio.New(),
	Place:           drivertest.Virtual,
	DeliveryTimeout: time.Second,
	Within:          10,
	HeldBack:        driver.Failed,
	Closing:         5 * time.Second,
	Acked: []string{
		"healthy", "leader moves once", "times out once", "cut off once",
	},
	Failed: []string{
		"not authorized", "too large for the broker", "not the leader, acks 1", "too few replicas",
	},
	Unknown: []string{
		"not the leader, acks all", "too few replicas after the append", "timed out after the append",
		"timed out, then refused", "storage", "unknown to the broker", "cut off after the write",
		"cut off, then refused", "silent",
	},
}

func TestOutcomeOfFaults(t *testing.T) { outcomes.TestFaults(t) }

func TestReasons(t *testing.T) { outcomes.TestReasons(t) }

func TestOutcomeOfClose(t *testing.T) { outcomes.TestClose(t) }

func TestProduceAfterClose(t *testing.T) { outcomes.TestProduceAfterClose(t) }

func TestDialer(t *testing.T) {
	d, refused := drivertest.TestDialer(t, func(dial drivertest.Dial) driver.Driver { return segmentio.New(segmentio.WithDialer(dial)) })
	if !errors.Is(d.Err, refused) {
		t.Errorf("%v (%v), want failed because of the dialer", d.Outcome, d.Err)
	}
}
