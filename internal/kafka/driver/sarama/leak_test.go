package sarama_test

import (
	"context"
	"testing"
	"time"

	"kafkabench.example/kafka-bench/internal/kafka/driver"
	"kafkabench.example/kafka-bench/internal/kafka/driver/drivertest"
	"kafkabench.example/kafka-bench/internal/kafka/driver/sarama"
)

func TestKilledConsumerEnds(t *testing.T) {
	drivertest.TestKilledConsumer(t, sarama.New(), 2*time.Second, ours...)
}

func TestNothingIsLeft(t *testing.T) {
	drivertest.Virtual(t, testNothingIsLeft, drivertest.Topics(4)...)
}

func testNothingIsLeft(t *testing.T, cluster drivertest.Cluster) {
	for _, change := range []func(*driver.ProducerConfig){
		func(*driver.ProducerConfig) {},
		func(c *driver.ProducerConfig) { c.Idempotent = true },
		func(c *driver.ProducerConfig) { c.Linger = time.Minute },
	} {
		cfg := outcomes.Config(cluster)
		change(&cfg)
		p, _ := outcomes.Open(t, cfg)
		p.Produce(&driver.Record{Value: []byte("value")})
		if err := p.Flush(context.Background()); err != nil {
			t.Fatal(err)
		}
		p.Close()
	}
	for _, byHand := range []map[int32]int64{nil, {0: 0, 3: 0}} {
		c := drivertest.Consumer(t, sarama.New(), driver.ConsumerConfig{
			Brokers: cluster.ListenAddrs(), Access: cluster.Access, Partitions: byHand,
			FetchMaxWait: 100 * time.Millisecond,
		})
		if chunks, err := c.Poll(context.Background()); err != nil || len(chunks) == 0 {
			t.Fatal(len(chunks), err)
		}
		c.Close()
	}
	drivertest.CheckNothingRuns(t, ours...)
}

var ours = []string{"IBM/sarama.", "driver/sarama.("}
