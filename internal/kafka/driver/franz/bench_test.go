package franz_test

import (
	"context"
	"fmt"
	"runtime"
	"sync/atomic"
	"testing"

	"github.com/twmb/franz-go/pkg/kgo"

	"kafkabench.example/kafka-bench/internal/kafka/driver"
	"kafkabench.example/kafka-bench/internal/kafka/driver/drivertest"
	"kafkabench.example/kafka-bench/internal/kafka/driver/franz"
)

// "client, new records" is the loop of most programs; "client, same records" reuses each completed record.
func BenchmarkProduce(b *testing.B) {
	value := make([]byte, drivertest.BenchRecordBytes)
	b.Run("driver", func(b *testing.B) {
		drivertest.BenchProducer(b, franz.New(), driver.ProducerConfig{Compression: "none"}, runtime.Gosched)
	})
	b.Run("client, new records", func(b *testing.B) { benchmarkNewRecords(b, value) })
	b.Run("client, same records", func(b *testing.B) { benchmarkSameRecords(b, value) })
}

func bareClient(b *testing.B) *kgo.Client {
	client, err := kgo.NewClient(
		kgo.SeedBrokers(drivertest.Blackhole(b)...), kgo.DisableClientMetrics(),
		kgo.RequiredAcks(kgo.LeaderAck()), kgo.DisableIdempotentWrite(),
		kgo.ProducerBatchCompression(kgo.NoCompression()), kgo.ProducerLinger(0),
		kgo.MaxBufferedRecords(drivertest.BenchBuffered), kgo.RecordPartitioner(kgo.ManualPartitioner()),
	)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(client.Close)
	return client
}

func benchmarkNewRecords(b *testing.B, value []byte) {
	client := bareClient(b)
	var failed atomic.Int64
	drivertest.Measure(b, func(n int) {
		for i := range n {
			r := &kgo.Record{Topic: drivertest.BenchTopic, Partition: int32(i % drivertest.BenchPartitions), Value: value}
			client.Produce(context.Background(), r, func(_ *kgo.Record, err error) {
				if err != nil {
					failed.Add(1)
				}
			})
		}
		if err := client.Flush(context.Background()); err != nil || failed.Load() > 0 {
			b.Fatal(err, failed.Load())
		}
	})
}

func benchmarkSameRecords(b *testing.B, value []byte) {
	client := bareClient(b)
	var failed atomic.Int64
	ring := drivertest.NewRing(func() *kgo.Record { return &kgo.Record{Topic: drivertest.BenchTopic, Value: value} }, runtime.Gosched)
	promise := func(_ *kgo.Record, err error) {
		if err != nil {
			failed.Add(1)
		}
		ring.Done(1)
	}
	drivertest.Measure(b, func(n int) {
		for i := range n {
			r := ring.Next()
			*r = kgo.Record{Topic: drivertest.BenchTopic, Partition: int32(i % drivertest.BenchPartitions), Value: value}
			client.Produce(context.Background(), r, promise)
		}
		if err := client.Flush(context.Background()); err != nil || failed.Load() > 0 {
			b.Fatal(err, failed.Load())
		}
	})
}

func BenchmarkConsume(b *testing.B) {
	for _, batch := range []int{10, 1_000, 10_000} {
		b.Run(fmt.Sprintf("driver, batches of %d", batch), func(b *testing.B) {
			drivertest.BenchConsumer(b, franz.New(), driver.ConsumerConfig{Group: "bench"}, batch)
		})
		b.Run(fmt.Sprintf("client, batches of %d", batch), func(b *testing.B) { benchmarkPollFetches(b, batch) })
	}
}

func benchmarkPollFetches(b *testing.B, batch int) {
	client, err := kgo.NewClient(
		kgo.SeedBrokers(drivertest.Endless(b, batch)...), kgo.DisableClientMetrics(),
		kgo.ConsumerGroup("bench"), kgo.ConsumeTopics(drivertest.BenchTopic), kgo.DisableAutoCommit(),
	)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(client.Close)
	var bytes int
	poll := func() (records int) {
		client.PollFetches(context.Background()).EachRecord(func(r *kgo.Record) {
			bytes += len(r.Value)
			records++
		})
		return records
	}
	drivertest.MeasurePolls(b, poll)
}
