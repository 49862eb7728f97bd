package franz_test

import (
	"context"
	"fmt"
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"golang.org/x/sys/unix"

	"kafka-bench/internal/driver"
	"kafka-bench/internal/driver/franz"
)

const (
	benchTopic      = "bench"
	benchPartitions = 6
	benchBuffered   = 10_000
)

// BenchmarkProduce gives the cost of a record of 100 bytes through the driver
// and through the client alone, on a broker that keeps nothing. The difference
// is the driver's overhead; the broker runs on the same processors and has its
// share of both. "client, new records" is the loop that most programs have,
// "client, same records" uses a record again as soon as it is done.
func BenchmarkProduce(b *testing.B) {
	value := make([]byte, 100)
	b.Run("driver", func(b *testing.B) { benchmarkDriver(b, value) })
	b.Run("client, new records", func(b *testing.B) { benchmarkNewRecords(b, value) })
	b.Run("client, same records", func(b *testing.B) { benchmarkSameRecords(b, value) })
}

func blackhole(b *testing.B) []string {
	return fake(b, kfake.NumBrokers(1), kfake.BlackholeProduce(), kfake.SeedTopics(benchPartitions, benchTopic)).ListenAddrs()
}

func benchmarkDriver(b *testing.B, value []byte) {
	var failed atomic.Int64
	ring := newRing(func() *driver.Record { return &driver.Record{Value: value} })
	p, err := franz.New().NewProducer(driver.ProducerConfig{
		Brokers: blackhole(b), Topic: benchTopic,
		Acks: driver.AcksLeader, Compression: "none", MaxBuffered: benchBuffered,
		OnDone: func(d driver.Done) {
			if d.Outcome != driver.Acked {
				failed.Add(1)
			}
			ring.done.Add(1)
		},
	})
	if err != nil {
		b.Fatal(err)
	}
	defer p.Close()
	produce := func(n int) {
		for i := range n {
			r := ring.next()
			r.Partition = int32(i % benchPartitions)
			p.Produce(r)
		}
		if err := p.Flush(context.Background()); err != nil || failed.Load() > 0 {
			b.Fatal(err, failed.Load())
		}
	}
	measure(b, produce)
}

func bareClient(b *testing.B) *kgo.Client {
	client, err := kgo.NewClient(
		kgo.SeedBrokers(blackhole(b)...), kgo.DisableClientMetrics(),
		kgo.RequiredAcks(kgo.LeaderAck()), kgo.DisableIdempotentWrite(),
		kgo.ProducerBatchCompression(kgo.NoCompression()), kgo.ProducerLinger(0),
		kgo.MaxBufferedRecords(benchBuffered), kgo.RecordPartitioner(kgo.ManualPartitioner()),
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
	measure(b, func(n int) {
		for i := range n {
			r := &kgo.Record{Topic: benchTopic, Partition: int32(i % benchPartitions), Value: value}
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
	ring := newRing(func() *kgo.Record { return &kgo.Record{Topic: benchTopic, Value: value} })
	promise := func(_ *kgo.Record, err error) {
		if err != nil {
			failed.Add(1)
		}
		ring.done.Add(1)
	}
	measure(b, func(n int) {
		for i := range n {
			r := ring.next()
			*r = kgo.Record{Topic: benchTopic, Partition: int32(i % benchPartitions), Value: value}
			client.Produce(context.Background(), r, promise)
		}
		if err := client.Flush(context.Background()); err != nil || failed.Load() > 0 {
			b.Fatal(err, failed.Load())
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

// ring is a supply of records that are used in turn, each again when it is done.
// They come back nearly in the order in which they went, so the count of those
// that came back is enough to know when the oldest is free: the ring is much
// longer than what is in flight.
type ring[T any] struct {
	slots []T
	taken int64
	done  atomic.Int64
}

func newRing[T any](make_ func() T) *ring[T] {
	r := &ring[T]{slots: make([]T, 8*benchBuffered)}
	for i := range r.slots {
		r.slots[i] = make_()
	}
	return r
}

func (r *ring[T]) next() T {
	for r.taken-r.done.Load() > benchBuffered {
		runtime.Gosched()
	}
	slot := r.slots[r.taken%int64(len(r.slots))]
	r.taken++
	return slot
}

// BenchmarkConsume gives the cost of a record of 100 bytes on the way in, from a
// broker that serves one batch again and again.
func BenchmarkConsume(b *testing.B) {
	for _, batch := range []int{10, 1_000, 10_000} {
		b.Run(fmt.Sprintf("driver, batches of %d", batch), func(b *testing.B) { benchmarkPoll(b, batch) })
		b.Run(fmt.Sprintf("client, batches of %d", batch), func(b *testing.B) { benchmarkPollFetches(b, batch) })
	}
}

func endless(b *testing.B, batch int) []string {
	synthetic := kfake.SyntheticBatch{Records: batch, RecordBytes: 100}
	return fake(b, kfake.NumBrokers(1), kfake.SyntheticFetch(synthetic), kfake.SeedTopics(benchPartitions, benchTopic)).ListenAddrs()
}

func benchmarkPoll(b *testing.B, batch int) {
	c, err := franz.New().NewConsumer(driver.ConsumerConfig{
		Brokers: endless(b, batch), Topic: benchTopic, Group: "bench", Protocol: "classic",
	})
	if err != nil {
		b.Fatal(err)
	}
	defer c.Close()
	var bytes int
	poll := func() (records int) {
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
	}
	measurePolls(b, poll)
}

func benchmarkPollFetches(b *testing.B, batch int) {
	client, err := kgo.NewClient(
		kgo.SeedBrokers(endless(b, batch)...), kgo.DisableClientMetrics(),
		kgo.ConsumerGroup("bench"), kgo.ConsumeTopics(benchTopic), kgo.DisableAutoCommit(),
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
	measurePolls(b, poll)
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
