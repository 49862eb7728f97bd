package segmentio_test

import (
	"context"
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"github.com/segmentio/kafka-go"
	"github.com/twmb/franz-go/pkg/kfake"
	"golang.org/x/sys/unix"

	"kafka-bench/internal/driver"
	"kafka-bench/internal/driver/segmentio"
)

const (
	benchTopic      = "bench"
	benchPartitions = 6
	benchBuffered   = 10_000
	benchLinger     = 5 * time.Millisecond
	benchBatch      = 1000 // records, which is what the driver gives the Writer
	benchBatchBytes = 64 << 10
)

// BenchmarkProduce gives the cost of a record of 100 bytes through the driver and
// through the client alone, on a broker that keeps nothing. The difference is the
// driver's overhead; the broker runs on the same processors and has its share of both.
// The client is given as many records in one call as the driver gives it.
func BenchmarkProduce(b *testing.B) {
	value := make([]byte, 100)
	b.Run("driver", func(b *testing.B) { benchmarkDriver(b, value) })
	b.Run("client", func(b *testing.B) { benchmarkWriter(b, value) })
}

func blackhole(b *testing.B) []string {
	return fake(b, kfake.NumBrokers(1), kfake.BlackholeProduce(), kfake.SeedTopics(benchPartitions, benchTopic)).ListenAddrs()
}

func benchmarkDriver(b *testing.B, value []byte) {
	var failed, done atomic.Int64
	p, err := segmentio.New().NewProducer(driver.ProducerConfig{
		Brokers: blackhole(b), Topic: benchTopic, Acks: driver.AcksLeader,
		Linger: benchLinger, BatchBytes: benchBatchBytes, MaxBuffered: benchBuffered,
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
	slots := make([]driver.Record, 8*benchBuffered)
	taken := int64(0)
	measure(b, func(n int) {
		for i := range n {
			for taken-done.Load() > benchBuffered {
				runtime.Gosched()
			}
			r := &slots[taken%int64(len(slots))]
			taken++
			r.Value, r.Partition = value, int32(i%benchPartitions)
			p.Produce(r)
		}
		if err := p.Flush(context.Background()); err != nil || failed.Load() > 0 {
			b.Fatal(err, failed.Load())
		}
	})
}

func benchmarkWriter(b *testing.B, value []byte) {
	var failed, done atomic.Int64
	w := &kafka.Writer{
		Addr: kafka.TCP(blackhole(b)...), Topic: benchTopic, Async: true, RequiredAcks: kafka.RequireOne,
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
	var partitions [benchPartitions]any
	for i := range partitions {
		partitions[i] = i
	}
	taken := int64(0)
	messages := make([]kafka.Message, 0, benchBatch)
	measure(b, func(n int) {
		for i := range n {
			messages = append(messages, kafka.Message{Value: value, WriterData: partitions[i%benchPartitions]})
			if taken++; len(messages) == benchBatch || i == n-1 {
				for taken-done.Load() > benchBuffered {
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

// measure warms up, so that pools are filled, and then times b.N records.
func measure(b *testing.B, produce func(n int)) {
	produce(2 * benchBuffered)
	timed(b, func() int {
		produce(b.N)
		return b.N
	})
}

// timed reports, beside the time, the processor time for each record: it is what a busy
// machine does not change much. The broker's share is in it.
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

// BenchmarkConsume gives the cost of a record of 100 bytes on the way in, from a broker
// that serves one batch again and again: through the driver, and through the client's
// Reader alone, one for each partition as the driver has them.
func BenchmarkConsume(b *testing.B) {
	b.Run("driver", benchmarkPoll)
	b.Run("client", benchmarkReaders)
}

func endless(b *testing.B) []string {
	synthetic := kfake.SyntheticBatch{Records: 1000, RecordBytes: 100}
	return fake(b, kfake.NumBrokers(1), kfake.SyntheticFetch(synthetic), kfake.SeedTopics(benchPartitions, benchTopic)).ListenAddrs()
}

func benchmarkPoll(b *testing.B) {
	starts := make(map[int32]int64)
	for i := range int32(benchPartitions) {
		starts[i] = 0
	}
	c, err := segmentio.New().NewConsumer(driver.ConsumerConfig{Brokers: endless(b), Topic: benchTopic, Partitions: starts})
	if err != nil {
		b.Fatal(err)
	}
	defer c.Close()
	poll := func() (records int) {
		chunks, err := c.Poll(context.Background())
		if err != nil {
			b.Fatal(err)
		}
		for _, chunk := range chunks {
			records += len(chunk.Records)
			chunk.Free()
		}
		return records
	}
	for records := 0; records < 50_000; records += poll() {
	}
	timed(b, func() (records int) {
		for records < b.N {
			records += poll()
		}
		return records
	})
}

func benchmarkReaders(b *testing.B) {
	ctx, cancel := context.WithCancel(context.Background())
	var read atomic.Int64
	brokers := endless(b)
	for i := range benchPartitions {
		r := kafka.NewReader(kafka.ReaderConfig{Brokers: brokers, Topic: benchTopic, Partition: i, ReadLagInterval: -1})
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
	await := func(n int64) {
		for from := read.Load(); read.Load()-from < n; {
			time.Sleep(100 * time.Microsecond)
		}
	}
	await(50_000)
	timed(b, func() int {
		await(int64(b.N))
		return b.N
	})
}
