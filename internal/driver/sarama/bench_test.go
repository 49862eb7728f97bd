package sarama_test

import (
	"context"
	"fmt"
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	ibm "github.com/IBM/sarama"
	"github.com/twmb/franz-go/pkg/kfake"
	"golang.org/x/sys/unix"

	"kafka-bench/internal/driver"
	"kafka-bench/internal/driver/sarama"
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
	p, err := sarama.New().NewProducer(driver.ProducerConfig{
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

// bareClient is a client with the driver's settings, and a goroutine that takes what
// it reports.
func bareClient(b *testing.B, acked func(*ibm.ProducerMessage)) ibm.AsyncProducer {
	config := ibm.NewConfig()
	config.Metadata.Full = false
	config.Producer.RequiredAcks = ibm.WaitForLocal
	config.Producer.Return.Successes = true
	config.Producer.Partitioner = ibm.NewManualPartitioner
	client, err := ibm.NewAsyncProducer(blackhole(b), config)
	if err != nil {
		b.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for message := range client.Successes() {
			acked(message)
		}
	}()
	b.Cleanup(func() {
		client.AsyncClose()
		for failed := range client.Errors() {
			b.Error(failed)
		}
		<-ended
	})
	return client
}

func benchmarkNewRecords(b *testing.B, value []byte) {
	ring := newRing(func() *struct{} { return nil })
	client := bareClient(b, func(*ibm.ProducerMessage) { ring.done.Add(1) })
	measure(b, func(n int) {
		for i := range n {
			ring.next()
			client.Input() <- &ibm.ProducerMessage{Topic: benchTopic, Partition: int32(i % benchPartitions), Value: ibm.ByteEncoder(value)}
		}
		ring.drain()
	})
}

func benchmarkSameRecords(b *testing.B, value []byte) {
	ring := newRing(func() *ibm.ProducerMessage {
		return &ibm.ProducerMessage{Topic: benchTopic, Value: ibm.ByteEncoder(value)}
	})
	client := bareClient(b, func(*ibm.ProducerMessage) { ring.done.Add(1) })
	measure(b, func(n int) {
		for i := range n {
			message := ring.next()
			message.Partition = int32(i % benchPartitions)
			client.Input() <- message
		}
		ring.drain()
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
		time.Sleep(100 * time.Microsecond) // to spin would count as a cost of records
	}
	slot := r.slots[r.taken%int64(len(r.slots))]
	r.taken++
	return slot
}

// drain waits until all that was taken is done.
func (r *ring[T]) drain() {
	for r.done.Load() < r.taken {
		runtime.Gosched()
	}
}

// BenchmarkConsume gives the cost of a record of 100 bytes on the way in, from a
// broker that serves one batch again and again.
func BenchmarkConsume(b *testing.B) {
	for _, batch := range []int{10, 1_000, 10_000} {
		b.Run(fmt.Sprintf("driver, batches of %d", batch), func(b *testing.B) { benchmarkPoll(b, batch) })
		b.Run(fmt.Sprintf("client, batches of %d", batch), func(b *testing.B) { benchmarkChannels(b, batch) })
	}
}

func endless(b *testing.B, batch int) []string {
	synthetic := kfake.SyntheticBatch{Records: batch, RecordBytes: 100}
	return fake(b, kfake.NumBrokers(1), kfake.SyntheticFetch(synthetic), kfake.SeedTopics(benchPartitions, benchTopic)).ListenAddrs()
}

func benchmarkPoll(b *testing.B, batch int) {
	c, err := sarama.New().NewConsumer(driver.ConsumerConfig{
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

// benchmarkChannels reads the client's channels, as most programs do.
func benchmarkChannels(b *testing.B, batch int) {
	config := ibm.NewConfig()
	config.Consumer.Offsets.Initial = ibm.OffsetOldest
	client, err := ibm.NewConsumer(endless(b, batch), config)
	if err != nil {
		b.Fatal(err)
	}
	var records, bytes atomic.Int64
	for p := range int32(benchPartitions) {
		partition, err := client.ConsumePartition(benchTopic, p, ibm.OffsetOldest)
		if err != nil {
			b.Fatal(err)
		}
		defer partition.AsyncClose()
		go func() { // ends with the partition
			for message := range partition.Messages() {
				bytes.Add(int64(len(message.Value)))
				records.Add(1)
			}
		}()
	}
	var seen int64
	measurePolls(b, func() int {
		time.Sleep(time.Millisecond)
		before := seen
		seen = records.Load()
		return int(seen - before)
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
