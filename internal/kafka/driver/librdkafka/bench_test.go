//go:build librdkafka && cgo

package librdkafka_test

import (
	"fmt"
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"github.com/confluentinc/confluent-kafka-go/v2/kafka"

	"kafkabench.example/kafka-bench/internal/kafka/driver"
	"kafkabench.example/kafka-bench/internal/kafka/driver/drivertest"
	"kafkabench.example/kafka-bench/internal/kafka/driver/librdkafka"
)

func BenchmarkProduce(b *testing.B) {
	b.Run("driver", func(b *testing.B) {
		cfg := driver.ProducerConfig{Compression: "none", Linger: 5 * time.Millisecond}
		drivertest.BenchProducer(b, librdkafka.New(), cfg, runtime.Gosched)
	})
	b.Run("client", func(b *testing.B) { benchmarkClient(b, make([]byte, drivertest.BenchRecordBytes)) })
}

func benchmarkClient(b *testing.B, value []byte) {
	client, err := kafka.NewProducer(&kafka.ConfigMap{
		"bootstrap.servers": drivertest.Blackhole(b)[0], "enable.metrics.push": false, "acks": 1,
		"go.delivery.report.fields": "none", "queue.buffering.max.messages": 2 * drivertest.BenchBuffered,
	})
	if err != nil {
		b.Fatal(err)
	}
	defer client.Close()
	var failed, done atomic.Int64
	go func() {
		for event := range client.Events() {
			if m, ok := event.(*kafka.Message); ok {
				if m.TopicPartition.Error != nil {
					failed.Add(1)
				}
				done.Add(1)
			}
		}
	}()
	topic := drivertest.BenchTopic
	var sent int64
	drivertest.Measure(b, func(n int) {
		for i := range n {
			for sent-done.Load() >= drivertest.BenchBuffered {
				runtime.Gosched()
			}
			sent++
			at := kafka.TopicPartition{Topic: &topic, Partition: int32(i % drivertest.BenchPartitions)}
			m := &kafka.Message{TopicPartition: at, Value: value, Opaque: &done}
			if err := client.Produce(m, nil); err != nil {
				b.Fatal(err)
			}
		}
		for client.Flush(10) > 0 {
		}
		if failed.Load() > 0 {
			b.Fatal(failed.Load())
		}
	})
}

func BenchmarkConsume(b *testing.B) {
	for _, batch := range []int{10, 1_000} {
		b.Run(fmt.Sprintf("driver, batches of %d", batch), func(b *testing.B) {
			drivertest.BenchConsumer(b, librdkafka.New(), driver.ConsumerConfig{Group: "bench"}, batch)
		})
		b.Run(fmt.Sprintf("client, batches of %d", batch), func(b *testing.B) { benchmarkClientPoll(b, batch) })
	}
}

func benchmarkClientPoll(b *testing.B, batch int) {
	client, err := kafka.NewConsumer(&kafka.ConfigMap{
		"bootstrap.servers": drivertest.Endless(b, batch)[0], "enable.metrics.push": false,
		"group.id": "bench", "enable.auto.commit": false, "auto.offset.reset": "earliest",
	})
	if err != nil {
		b.Fatal(err)
	}
	defer client.Close()
	if err := client.Subscribe(drivertest.BenchTopic, nil); err != nil {
		b.Fatal(err)
	}
	var bytes int
	drivertest.MeasurePolls(b, func() int {
		if m, ok := client.Poll(100).(*kafka.Message); ok {
			bytes += len(m.Value)
			return 1
		}
		return 0
	})
}
