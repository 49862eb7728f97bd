//go:build librdkafka && cgo

package librdkafka_test

import (
	"context"
	"fmt"
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"github.com/confluentinc/confluent-kafka-go/v2/kafka"
	"github.com/twmb/franz-go/pkg/kfake"
	"golang.org/x/sys/unix"

	"kafka-bench/internal/driver"
	"kafka-bench/internal/driver/librdkafka"
)

const (
	benchTopic      = "bench"
	benchPartitions = 6
	benchBuffered   = 10_000
)

// BenchmarkProduce gives the cost of a record of 100 bytes through the driver
// and through the client alone, on a broker that keeps nothing. The difference
// is the driver's overhead; the broker runs on the same processors and has its
// share of both.
func BenchmarkProduce(b *testing.B) {
	value := make([]byte, 100)
	b.Run("driver", func(b *testing.B) { benchmarkDriver(b, value) })
	b.Run("client", func(b *testing.B) { benchmarkClient(b, value) })
}

func blackhole(b *testing.B) []string {
	return fake(b, kfake.NumBrokers(1), kfake.BlackholeProduce(), kfake.SeedTopics(benchPartitions, benchTopic)).ListenAddrs()
}

func benchmarkDriver(b *testing.B, value []byte) {
	var failed, done atomic.Int64
	records := make([]*driver.Record, 2*benchBuffered)
	for i := range records {
		records[i] = &driver.Record{Value: value}
	}
	p, err := librdkafka.New().NewProducer(driver.ProducerConfig{
		Brokers: blackhole(b), Topic: benchTopic,
		Acks: driver.AcksLeader, Compression: "none", MaxBuffered: benchBuffered, Linger: 5 * time.Millisecond,
		OnDone: func(d driver.Done) {
			if d.Outcome != driver.Acked {
				failed.Add(1)
			}
			done.Add(1)
		},
	})
	if err != nil {
		b.Fatal(err)
	}
	defer p.Close()
	var sent int64
	measure(b, func(n int) {
		for i := range n {
			for sent-done.Load() >= benchBuffered {
				runtime.Gosched()
			}
			r := records[sent%int64(len(records))]
			sent++
			r.Partition = int32(i % benchPartitions)
			p.Produce(r)
		}
		if err := p.Flush(context.Background()); err != nil || failed.Load() > 0 {
			b.Fatal(err, failed.Load())
		}
	})
}

func benchmarkClient(b *testing.B, value []byte) {
	client, err := kafka.NewProducer(&kafka.ConfigMap{
		"bootstrap.servers": blackhole(b)[0], "enable.metrics.push": false, "acks": 1,
		"go.delivery.report.fields": "none", "queue.buffering.max.messages": 2 * benchBuffered,
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
	topic := benchTopic
	var sent int64
	measure(b, func(n int) {
		for i := range n {
			for sent-done.Load() >= benchBuffered {
				runtime.Gosched()
			}
			sent++
			at := kafka.TopicPartition{Topic: &topic, Partition: int32(i % benchPartitions)}
			m := &kafka.Message{TopicPartition: at, Value: value, Opaque: &done} // to know it again by
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

// measure warms up, so that pools are filled, and then times b.N records.
func measure(b *testing.B, produce func(n int)) {
	produce(2 * benchBuffered)
	timed(b, func() int {
		produce(b.N)
		return b.N
	})
}

// timed reports, beside the time, the processor time for each record: it is what
// a busy machine does not change much. The broker's share is in it.
func timed(b *testing.B, run func() (records int)) {
	b.Helper()
	b.ReportAllocs()
	before := cpuTime(b)
	b.ResetTimer()
	records := run()
	b.StopTimer()
	b.ReportMetric(float64(cpuTime(b)-before)/float64(records), "cpu-ns/record")
	b.ReportMetric(float64(records)/b.Elapsed().Seconds(), "records/s")
}

// cpuTime is the processor time that this process has used.
func cpuTime(b *testing.B) time.Duration {
	var usage unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &usage); err != nil {
		b.Fatal(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

// BenchmarkConsume gives the cost of a record of 100 bytes on the way in, from a
// broker that serves one batch again and again.
func BenchmarkConsume(b *testing.B) {
	for _, batch := range []int{10, 1_000} {
		b.Run(fmt.Sprintf("driver, batches of %d", batch), func(b *testing.B) { benchmarkPoll(b, batch) })
		b.Run(fmt.Sprintf("client, batches of %d", batch), func(b *testing.B) { benchmarkClientPoll(b, batch) })
	}
}

func endless(b *testing.B, batch int) []string {
	synthetic := kfake.SyntheticBatch{Records: batch, RecordBytes: 100}
	return fake(b, kfake.NumBrokers(1), kfake.SyntheticFetch(synthetic), kfake.SeedTopics(benchPartitions, benchTopic)).ListenAddrs()
}

func benchmarkPoll(b *testing.B, batch int) {
	c, err := librdkafka.New().NewConsumer(driver.ConsumerConfig{
		Brokers: endless(b, batch), Topic: benchTopic, Group: "bench", Protocol: "classic",
	})
	if err != nil {
		b.Fatal(err)
	}
	defer c.Close()
	var bytes int
	measurePolls(b, func() (records int) {
		chunks, err := c.Poll(context.Background())
		if err != nil {
			b.Fatal(err)
		}
		for _, chunk := range chunks {
			for i := range chunk.Records {
				bytes += len(chunk.Records[i].Value)
			}
			records += len(chunk.Records)
			chunk.Free()
		}
		return records
	})
}

func benchmarkClientPoll(b *testing.B, batch int) {
	client, err := kafka.NewConsumer(&kafka.ConfigMap{
		"bootstrap.servers": endless(b, batch)[0], "enable.metrics.push": false,
		"group.id": "bench", "enable.auto.commit": false, "auto.offset.reset": "earliest",
	})
	if err != nil {
		b.Fatal(err)
	}
	defer client.Close()
	if err := client.Subscribe(benchTopic, nil); err != nil {
		b.Fatal(err)
	}
	var bytes int
	measurePolls(b, func() int {
		if m, ok := client.Poll(100).(*kafka.Message); ok {
			bytes += len(m.Value)
			return 1
		}
		return 0
	})
}

// measurePolls polls until b.N records came.
func measurePolls(b *testing.B, poll func() int) {
	for records := 0; records < 100_000; records += poll() {
	}
	timed(b, func() (records int) {
		for records < b.N {
			records += poll()
		}
		return records
	})
}
