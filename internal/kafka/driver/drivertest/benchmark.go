package drivertest

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kfake"
	"golang.org/x/sys/unix"

	"kafkabench.example/kafka-bench/internal/kafka/driver"
)

// The cost of a driver is the difference between two loops that do the same work. One loop uses the
// driver. The other, in the driver's package, uses the client alone. The broker runs on the same
// processors.

// A benchmark's topic, and how many records it keeps in the client.
const (
	BenchTopic      = "bench"
	BenchPartitions = 6
	BenchBuffered   = 10_000
)

// BenchRecordBytes is the size of a record's value.
const BenchRecordBytes = 100

// Blackhole starts a broker that accepts records and keeps none.
func Blackhole(b *testing.B) (brokers []string) {
	return Fake(b, kfake.NumBrokers(1), kfake.BlackholeProduce(),
		kfake.SeedTopics(BenchPartitions, BenchTopic)).ListenAddrs()
}

// Endless starts a broker that serves the same batch again and again; batch is its number of
// records.
func Endless(b *testing.B, batch int) (brokers []string) {
	synthetic := kfake.SyntheticBatch{Records: batch, RecordBytes: BenchRecordBytes}
	return Fake(b, kfake.NumBrokers(1), kfake.SyntheticFetch(synthetic),
		kfake.SeedTopics(BenchPartitions, BenchTopic)).ListenAddrs()
}

// BenchProducer measures the cost of a record through the driver's producer, opened with cfg.
func BenchProducer(b *testing.B, d driver.Driver, cfg driver.ProducerConfig, full func()) {
	value := make([]byte, BenchRecordBytes)
	ring := NewRing(func() *driver.Record { return &driver.Record{Value: value} }, full)
	var failed atomic.Int64
	cfg.Brokers, cfg.Topic, cfg.Acks, cfg.MaxBuffered = Blackhole(b), BenchTopic, driver.AcksLeader, BenchBuffered
	cfg.OnDone = func(d driver.Done) {
		if d.Outcome != driver.Acked {
			failed.Add(1)
		}
		ring.Done(1)
	}
	p := Producer(b, d, cfg)
	produce := func(n int) int {
		for i := range n {
			r := ring.Next()
			r.Partition = int32(i % BenchPartitions)
			p.Produce(r)
		}
		return n
	}
	// As many records are in flight at the end as at the begin: the last batches would only wait for their linger.
	produce(2 * BenchBuffered)
	measure(b, func() int { return produce(b.N) })
	ring.Drain()
	if failed.Load() > 0 {
		b.Fatal(failed.Load())
	}
}

// BenchConsumer measures the cost of a record through the driver's consumer, opened with cfg. batch
// is the number of records in each fetched batch.
func BenchConsumer(b *testing.B, d driver.Driver, cfg driver.ConsumerConfig, batch int) {
	cfg.Brokers, cfg.Topic = Endless(b, batch), BenchTopic
	c := Consumer(b, d, cfg)
	var bytes int
	MeasurePolls(b, func() (records int) {
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

// Measure warms up, so that pools are filled, and then times b.N records.
func Measure(b *testing.B, produce func(n int)) {
	b.Helper()
	produce(2 * BenchBuffered)
	measure(b, func() int {
		produce(b.N)
		return b.N
	})
}

// MeasurePolls warms up, and then polls until b.N records have come.
func MeasurePolls(b *testing.B, poll func() (records int)) {
	b.Helper()
	const warmUp = 100_000
	for records := 0; records < warmUp; records += poll() {
	}
	measure(b, func() (records int) {
		for records < b.N {
			records += poll()
		}
		return records
	})
}

// MeasureCount is MeasurePolls for a client whose own goroutines count the records.
func MeasureCount(b *testing.B, taken *atomic.Int64) {
	b.Helper()
	var seen int64
	MeasurePolls(b, func() int {
		time.Sleep(time.Millisecond)
		before := seen
		seen = taken.Load()
		return int(seen - before)
	})
}

// measure also reports the processor time per record, including the broker's, because a busy machine hardly changes it.
func measure(b *testing.B, run func() (records int)) {
	b.Helper()
	b.ReportAllocs()
	before := cpuTime(b)
	b.ResetTimer()
	records := run()
	b.StopTimer()
	b.ReportMetric(float64(cpuTime(b)-before)/float64(records), "cpu-ns/record")
	b.ReportMetric(float64(records)/b.Elapsed().Seconds(), "records/s")
}

func cpuTime(b *testing.B) time.Duration {
	var usage unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &usage); err != nil {
		b.Fatal(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

// Ring provides records in turn and reuses each after its completion. It has many more records than
// may be in flight, and they complete nearly in order. So the number of completed records is enough
// to know that the oldest record is free. One goroutine calls Next.
type Ring[T any] struct {
	slots []T
	taken int64
	done  atomic.Int64
	full  func()
}

// NewRing makes a ring of records from fill. Next calls full repeatedly while too many are in flight:
// runtime.Gosched, or a short sleep.
func NewRing[T any](fill func() T, full func()) *Ring[T] {
	r := &Ring[T]{slots: make([]T, 8*BenchBuffered), full: full}
	for i := range r.slots {
		r.slots[i] = fill()
	}
	return r
}

// Next returns a record when fewer than BenchBuffered are in flight.
func (r *Ring[T]) Next() T {
	for r.taken-r.done.Load() > BenchBuffered {
		r.full()
	}
	slot := r.slots[r.taken%int64(len(r.slots))]
	r.taken++
	return slot
}

// Done counts completed records. It may be called on any goroutine.
func (r *Ring[T]) Done(n int) { r.done.Add(int64(n)) }

// Drain waits until all records are complete. It sleeps, because full may keep a CPU busy while the last
// batches linger.
func (r *Ring[T]) Drain() {
	for r.done.Load() < r.taken {
		time.Sleep(time.Millisecond)
	}
}
