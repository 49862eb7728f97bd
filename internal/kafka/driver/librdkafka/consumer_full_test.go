//go:build librdkafka && cgo && full

package librdkafka

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/confluentinc/confluent-kafka-go/v2/kafka"
	"github.com/twmb/franz-go/pkg/kfake"

	"kafkabench.example/kafka-bench/internal/kafka/driver"
)

func TestRebalanceWithinAPoll(t *testing.T) {
	const n, before = 100, 10
	brokers := broker(t)
	fill(t, brokers, n)
	returned, revokedAt := 0, -1
	opened, err := New().NewConsumer(driver.ConsumerConfig{
		Brokers: brokers, Topic: "t", Group: "g", Protocol: "classic",
		OnRevoked: func([]int32, bool) { revokedAt = returned },
	})
	if err != nil {
		t.Fatal(err)
	}
	defer opened.Close()
	c := opened.(*consumer)
	received := 0
	c.next = func(timeoutMs int) kafka.Event {
		if received == before && revokedAt < 0 {
			_ = c.onRebalance(c.client, kafka.RevokedPartitions{Partitions: []kafka.TopicPartition{c.at(0, 0)}})
		}
		event := c.client.Poll(timeoutMs)
		if _, ok := event.(*kafka.Message); ok {
			received++
		}
		return event
	}
	for deadline := time.Now().Add(20 * time.Second); revokedAt < 0; {
		if time.Now().After(deadline) {
			t.Fatal("the partition was not revoked")
		}
		returned += poll(t, c)
	}
	if revokedAt != before {
		t.Errorf("the caller had %d records when the partition was revoked, and %d were gathered", revokedAt, before)
	}
	if returned += poll(t, c); returned != before {
		t.Errorf("%d records of the partition came after it was revoked", returned-before)
	}
}

func poll(t *testing.T, c *consumer) (records int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 500*time.Millisecond)
	defer cancel()
	chunks, err := c.Poll(ctx)
	if err != nil {
		t.Fatal(err)
	}
	for _, chunk := range chunks {
		records += len(chunk.Records)
		chunk.Free()
	}
	return records
}

func TestCloseEndsAPoll(t *testing.T) {
	c, err := New().NewConsumer(driver.ConsumerConfig{Brokers: broker(t), Topic: "t", Partitions: map[int32]int64{0: 0}})
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() {
		_, err := c.Poll(context.Background())
		ended <- err
	}()
	time.Sleep(2 * pollStep) // until it waits within the client
	c.Close()
	if err := <-ended; err != nil {
		t.Errorf("the poll failed: %v", err)
	}
	if _, err := c.Poll(context.Background()); err == nil {
		t.Error("a closed consumer can be polled")
	}
}

func TestUnknownTopic(t *testing.T) {
	var p patience
	cause := is(kafka.ErrUnknownTopicOrPart)
	p.begin(cause)
	if p.over() != nil {
		t.Error("the patience is over at once")
	}
	p.since = p.since.Add(-unknownTopicPatience)
	if !errors.Is(p.over(), cause) {
		t.Error("the patience is not over")
	}
	p.end()
	if p.over() != nil {
		t.Error("a topic that is known ends the consumer")
	}
}

func broker(t *testing.T) []string {
	t.Helper()
	return newCluster(t).ListenAddrs()
}

func newCluster(t *testing.T) *kfake.Cluster {
	t.Helper()
	cluster, err := kfake.NewCluster(kfake.NumBrokers(1), kfake.SeedTopics(1, "t"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(cluster.Close)
	return cluster
}

func fill(t *testing.T, brokers []string, n int) {
	t.Helper()
	done := make(chan driver.Done, n)
	p, err := New().NewProducer(driver.ProducerConfig{
		Brokers: brokers, Topic: "t", Acks: driver.AcksAll, Linger: time.Millisecond, OnDone: func(d driver.Done) { done <- d },
	})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	for range n {
		p.Produce(&driver.Record{Value: []byte("x")})
	}
	for range n {
		if d := <-done; d.Outcome != driver.Acked {
			t.Fatal(d.Outcome, d.Err)
		}
	}
}
