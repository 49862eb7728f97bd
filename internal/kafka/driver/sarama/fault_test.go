package sarama_test

import (
	"testing"
	"time"

	"kafkabench.example/kafka-bench/internal/kafka/driver"
	"kafkabench.example/kafka-bench/internal/kafka/driver/drivertest"
	"kafkabench.example/kafka-bench/internal/kafka/driver/sarama"
)

const topic = drivertest.Topic

// A record takes up to 4/3 of the delivery timeout; see patience.go.
var outcomes = drivertest.Outcomes{
	Driver:          sarama.New(),
	Place:           drivertest.Virtual,
	DeliveryTimeout: 1500 * time.Millisecond,
	Within:          2,
	HeldBack:        driver.Failed,
	Closing:         2 * time.Second,
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

func TestProduceAfterClose(t *testing.T) { outcomes.TestProduceAfterClose(t) }

// TestIdempotentUnreachable: if no broker gives an idempotent client a producer ID, its records fail at the
// delivery timeout or at Close.
func TestIdempotentUnreachable(t *testing.T) {
	drivertest.Virtual(t, testIdempotentUnreachable, drivertest.Topics(1)...)
}

func testIdempotentUnreachable(t *testing.T, cluster drivertest.Cluster) {
	cfg := unreachable(cluster)
	d, took := outcomes.ProduceOne(t, cfg)
	if d.Outcome != driver.Failed || d.Err == nil || took < cfg.DeliveryTimeout {
		t.Errorf("%v (%v) after %v, want failed after %v", d.Outcome, d.Err, took, cfg.DeliveryTimeout)
	}
	p, done := outcomes.Open(t, cfg)
	p.Produce(&driver.Record{Value: []byte("value")})
	p.Close()
	if len(done) != 1 {
		t.Fatalf("handed back %d times when Close returned", len(done))
	}
}

func TestOwnAge(t *testing.T) { drivertest.Virtual(t, testOwnAge, drivertest.Topics(1)...) }

func testOwnAge(t *testing.T, cluster drivertest.Cluster) {
	cfg := unreachable(cluster)
	p, done := outcomes.Open(t, cfg)
	var began [2]time.Time
	for tag := range began {
		began[tag] = time.Now()
		p.Produce(&driver.Record{Tag: uint64(tag), Value: []byte("value")})
		time.Sleep(cfg.DeliveryTimeout / 2)
	}
	for range 2 {
		d := <-done
		age := time.Since(began[d.Tag])
		if age < cfg.DeliveryTimeout || age > cfg.DeliveryTimeout*4/3 {
			t.Errorf("record %d was given up after %v, with a delivery timeout of %v", d.Tag, age, cfg.DeliveryTimeout)
		}
	}
}

func unreachable(cluster drivertest.Cluster) driver.ProducerConfig {
	cfg := outcomes.Config(cluster)
	cfg.Idempotent = true
	cluster.Close()
	return cfg
}
