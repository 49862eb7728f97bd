package segmentio_test

import (
	"context"
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"github.com/segmentio/kafka-go"

	"kafkabench.example/kafka-bench/internal/kafka/driver"
	"kafkabench.example/kafka-bench/internal/kafka/driver/drivertest"
	"kafkabench.example/kafka-bench/internal/kafka/driver/segmentio"
)

const (
	benchLinger     = 5 * time.Millisecond
	benchBatch      = 1000 // records, as the driver passes them to the Writer
	benchBatchBytes = 64 << 10
)

// The client alone also gets benchBatch records in one call.
func BenchmarkProduce(b *testing.B) {
	b.Run("driver", func(b *testing.B) {
		cfg := driver.ProducerConfig{Linger: benchLinger, BatchBytes: benchBatchBytes}
		drivertest.BenchProducer(b, segmentio.New(), cfg, runtime.Gosched)
	})
	b.Run("client", func(b *testing.B) { benchmarkWriter(b, make([]byte, drivertest.BenchRecordBytes)) })
}

func benchmarkWriter(b *testing.B, value []byte) {
	var failed, done atomic.Int64
	w := &kafka.Writer{
		Addr: kafka.TCP(drivertest.Blackhole(b)...), Topic: drivertest.BenchTopic, Async: true, RequiredAcks: kafka.RequireOne,
		BatchTimeout: benchLinger, BatchBytes: benchBatchBytes, BatchSize: benchBatch,
		Balancer: kafka.BalancerFunc(func(m kafka.Message, _ ...int) int { return m.WriterData.(int) }),
		Completion: func(messages []kafka.Message, err error) {
			if err != nil {
				failed.Add(1)
			}
			done.Add(int64(len(messages)))
		},
	}
	defer w.Close()
	var partitions [drivertest.BenchPartitions]any
	for i := range partitions {
		partitions[i] = i
	}
	taken := int64(0)
	messages := make([]kafka.Message, 0, benchBatch)
	drivertest.Measure(b, func(n int) {
		for i := range n {
			messages = append(messages, kafka.Message{Value: value, WriterData: partitions[i%drivertest.BenchPartitions]})
			if taken++; len(messages) == benchBatch || i == n-1 {
				for taken-done.Load() > drivertest.BenchBuffered {
					runtime.Gosched()
				}
				if err := w.WriteMessages(context.Background(), messages...); err != nil {
					b.Fatal(err)
				}
				messages = messages[:0]
			}
		}
		for done.Load() < taken {
			time.Sleep(time.Millisecond)
		}
		if failed.Load() > 0 {
			b.Fatal(failed.Load())
		}
	})
}

func BenchmarkConsume(b *testing.B) {
	const batch = 1000
	b.Run("driver", func(b *testing.B) {
		starts := make(map[int32]int64)
		for i := range int32(drivertest.BenchPartitions) {
			starts[i] = 0
		}
		drivertest.BenchConsumer(b, segmentio.New(), driver.ConsumerConfig{Partitions: starts}, batch)
	})
	b.Run("client", func(b *testing.B) { benchmarkReaders(b, batch) })
}

func benchmarkReaders(b *testing.B, batch int) {
	ctx, cancel := context.WithCancel(context.Background())
	var read atomic.Int64
	brokers := drivertest.Endless(b, batch)
	for i := range drivertest.BenchPartitions {
		r := kafka.NewReader(kafka.ReaderConfig{Brokers: brokers, Topic: drivertest.BenchTopic, Partition: i, ReadLagInterval: -1})
		go func() {
			for ctx.Err() == nil {
				if _, err := r.FetchMessage(ctx); err == nil {
					read.Add(1)
				}
			}
			r.Close()
		}()
	}
	defer cancel()
	drivertest.MeasureCount(b, &read)
}
