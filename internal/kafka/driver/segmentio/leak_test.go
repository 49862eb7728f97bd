package segmentio_test

import (
	"context"
	"testing"
	"time"

	"kafkabench.example/kafka-bench/internal/kafka/driver"
	"kafkabench.example/kafka-bench/internal/kafka/driver/drivertest"
	"kafkabench.example/kafka-bench/internal/kafka/driver/segmentio"
)

func TestNothingIsLeftRunning(t *testing.T) {
	drivertest.Virtual(t, testNothingIsLeft, drivertest.Topics(2)...)
	drivertest.Virtual(t, testClosedInFlight, drivertest.Topics(1)...)
}

func testNothingIsLeft(t *testing.T, cluster drivertest.Cluster) {
	for _, brokers := range [][]string{cluster.ListenAddrs(), {"127.0.0.1:1"}} {
		cfg := outcomes.Config(cluster)
		cfg.Brokers = brokers
		p, done := outcomes.Open(t, cfg)
		p.Produce(&driver.Record{Value: []byte("value")})
		<-done
		p.Close()
		for _, kill := range []bool{false, true} {
			consumer := driver.ConsumerConfig{Brokers: brokers, Access: cluster.Access, Group: "g"}
			consumeAndClose(t, consumer, kill)
			consumer.Group, consumer.Partitions = "", map[int32]int64{0: 0, 1: 0}
			consumeAndClose(t, consumer, kill)
		}
	}
	// The transport's last connections end shortly after it is closed.
	drivertest.CheckNothingRuns(t, "segmentio")
}

func testClosedInFlight(t *testing.T, cluster drivertest.Cluster) {
	written := drivertest.Silence(cluster)
	cfg := outcomes.Config(cluster)
	cfg.DeliveryTimeout = 0 // the client's own is 10 s
	p, _ := outcomes.Open(t, cfg)
	p.Produce(&driver.Record{Value: []byte("value")})
	<-written
	p.Close()
	drivertest.CheckNothingRuns(t, "segmentio")
}

func consumeAndClose(t *testing.T, cfg driver.ConsumerConfig, kill bool) {
	t.Helper()
	c := drivertest.Consumer(t, segmentio.New(), cfg)
	ctx, cancel := context.WithTimeout(context.Background(), 300*time.Millisecond)
	defer cancel()
	if _, err := c.Poll(ctx); err != nil {
		t.Error(err)
	}
	if kill {
		c.(driver.Killer).Kill()
	}
	started := time.Now()
	c.Close()
	if took := time.Since(started); took != 0 {
		t.Errorf("closing took %v, want no time", took)
	}
}
