package sarama_test

import (
	"bytes"
	"context"
	"runtime/pprof"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kfake"

	"kafka-bench/internal/driver"
	"kafka-bench/internal/driver/sarama"
)

// TestKilledConsumerEnds: whatever it was doing when it was killed, closing it takes
// little time, and nothing of it is left. It is killed at several moments of its
// joining.
func TestKilledConsumerEnds(t *testing.T) {
	cluster := fake(t, kfake.NumBrokers(1), kfake.SeedTopics(4, topic))
	for _, after := range []time.Duration{0, 5 * time.Millisecond, 50 * time.Millisecond, time.Second} {
		c, err := sarama.New().NewConsumer(driver.ConsumerConfig{
			Brokers: cluster.ListenAddrs(), Topic: topic, Group: "g-" + after.String(), Protocol: "classic",
			FetchMaxWait: 100 * time.Millisecond,
		})
		if err != nil {
			t.Fatal(err)
		}
		polled := make(chan error)
		go func() {
			for {
				if _, err := c.Poll(context.Background()); err != nil {
					polled <- err
					return
				}
			}
		}()
		time.Sleep(after)
		c.(driver.Killer).Kill()
		if err := <-polled; !strings.Contains(err.Error(), "killed") {
			t.Errorf("after %v: the poll says %v", after, err)
		}
		began := time.Now()
		c.Close()
		if took := time.Since(began); took > 2*time.Second {
			t.Errorf("after %v: closing it took %v", after, took)
		}
	}
	wantNoClient(t)
}

// TestNothingIsLeft: of clients that were closed, whatever they were.
func TestNothingIsLeft(t *testing.T) {
	cluster := fake(t, kfake.NumBrokers(1), kfake.SeedTopics(4, topic))
	done := make(chan driver.Done, 10)
	for _, change := range []func(*driver.ProducerConfig){func(*driver.ProducerConfig) {}, idempotent, func(c *driver.ProducerConfig) { c.Linger = time.Minute }} {
		cfg := config(cluster, done)
		change(&cfg)
		p, err := sarama.New().NewProducer(cfg)
		if err != nil {
			t.Fatal(err)
		}
		p.Produce(&driver.Record{Value: []byte("value")})
		if err := p.Flush(context.Background()); err != nil {
			t.Fatal(err)
		}
		p.Close()
	}
	for _, byHand := range []map[int32]int64{nil, {0: 0, 3: 0}} {
		cfg := driver.ConsumerConfig{Brokers: cluster.ListenAddrs(), Topic: topic, Partitions: byHand, FetchMaxWait: 100 * time.Millisecond}
		if byHand == nil {
			cfg.Group, cfg.Protocol = "g", "classic"
		}
		c, err := sarama.New().NewConsumer(cfg)
		if err != nil {
			t.Fatal(err)
		}
		if chunks, err := c.Poll(context.Background()); err != nil || len(chunks) == 0 {
			t.Fatal(len(chunks), err)
		}
		c.Close()
	}
	wantNoClient(t)
}

// wantNoClient fails the test if a goroutine of a client is left after a moment. The
// test must not run beside others.
func wantNoClient(t *testing.T) {
	t.Helper()
	var stacks bytes.Buffer
	for range 100 {
		stacks.Reset()
		if err := pprof.Lookup("goroutine").WriteTo(&stacks, 1); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(stacks.String(), "IBM/sarama.") && !strings.Contains(stacks.String(), "driver/sarama.(") {
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
	t.Errorf("goroutines are left:\n%s", &stacks)
}
