package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"kafkabench.example/kafka-bench/internal/kafka/probe"
	"kafkabench.example/kafka-bench/internal/result"
)

// Other settings have the client's defaults.
const (
	recordBytes = 100
	partitions  = 6
	batchBytes  = 64 << 10
	linger      = 5 * time.Millisecond
	maxBuffered = 10_000
)

func (l *lab) produce(ctx context.Context) error {
	fmt.Fprintf(l.stdout, `
## Producing, closed loop

%d B values, %d partitions, acks 1, no compression, batches of %d KiB, linger %v, one client, %v each after %v of
warm-up. "franz-go's benchmark" is the loop of the client's own example: a new record for each Produce, whose value is
written with its number, the client's own partitioner (the next partition once a batch is full) and a promise that
counts; "with its pool" uses records again, so that what is allocated is the client's own; "bare" does not even write the
values. At most %d records are buffered, as in ours, which stamps every record and enters it into histograms and books,
samples every interval and writes it to disk. kafka-producer-perf-test sends %d million records.

`, recordBytes, partitions, batchBytes>>10, linger, l.plan.measure, warmup, maxBuffered, javaRecords/1_000_000)
	all, err := l.inRounds(ctx, "produce", []contender{
		{"franz-go's benchmark", func(ctx context.Context) (sample, error) { return l.produceLoop(ctx, newNumbered) }},
		{"ours, everything measured, 1 worker", func(ctx context.Context) (sample, error) { return l.produceOurs(ctx, 1) }},
		{"ours, everything measured, 2 workers", func(ctx context.Context) (sample, error) { return l.produceOurs(ctx, 2) }},
		{"franz-go's benchmark, with its pool", func(ctx context.Context) (sample, error) { return l.produceLoop(ctx, newPooled) }},
		{"bare franz-go", func(ctx context.Context) (sample, error) { return l.produceLoop(ctx, newBare) }},
		{"kafka-producer-perf-test, linger 0", func(ctx context.Context) (sample, error) { return l.produceJava(ctx, 0) }},
		{"kafka-producer-perf-test, linger 5 ms", func(ctx context.Context) (sample, error) { return l.produceJava(ctx, linger) }},
	})
	if err != nil {
		return err
	}
	l.compare(all, recordBytes)
	return nil
}

// A maker makes the records of a loop. Its back takes back a finished record, and may be nil.
type maker struct {
	make func(number int64) *kgo.Record
	back func(*kgo.Record)
}

func newNumbered() maker {
	return maker{make: func(number int64) *kgo.Record {
		r := kgo.SliceRecord(make([]byte, recordBytes))
		write(r.Value, number)
		return r
	}}
}

func newPooled() maker {
	pool := sync.Pool{New: func() any { return kgo.SliceRecord(make([]byte, recordBytes)) }}
	return maker{
		make: func(number int64) *kgo.Record {
			r := pool.Get().(*kgo.Record)
			write(r.Value, number)
			return r
		},
		back: func(r *kgo.Record) { pool.Put(r) },
	}
}

func newBare() maker {
	values := madeBefore(recordBytes)
	return maker{make: func(number int64) *kgo.Record { return kgo.SliceRecord(values[number%int64(len(values))]) }}
}

func write(value []byte, number int64) {
	var digits [20]byte
	text := append(strconv.AppendInt(digits[:0], number, 10), ' ')
	for n := 0; n < len(value); {
		n += copy(value[n:], text)
	}
}

func (l *lab) produceLoop(ctx context.Context, records func() maker) (sample, error) {
	topic, remove, err := l.topic(ctx, "bare", partitions)
	if err != nil {
		return sample{}, err
	}
	defer remove()
	client, err := kgo.NewClient(
		kgo.SeedBrokers(l.kafka.Bootstrap()...), kgo.DisableClientMetrics(), kgo.DefaultProduceTopic(topic.Name),
		kgo.RequiredAcks(kgo.LeaderAck()), kgo.DisableIdempotentWrite(), kgo.MaxProduceRequestsInflightPerBroker(5),
		kgo.ProducerBatchCompression(kgo.NoCompression()), kgo.ProducerLinger(linger),
		kgo.ProducerBatchMaxBytes(batchBytes), kgo.MaxBufferedRecords(maxBuffered),
	)
	if err != nil {
		return sample{}, err
	}
	defer client.Close()

	var acked, failed atomic.Int64
	var stop atomic.Bool
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		m := records()
		done := func(r *kgo.Record, err error) {
			if m.back != nil {
				m.back(r)
			}
			if err != nil {
				failed.Add(1)
			}
			acked.Add(1)
		}
		for number := int64(0); !stop.Load(); number++ {
			client.Produce(ctx, m.make(number), done)
		}
	}()
	s, err := l.watch(ctx, acked.Load)
	stop.Store(true)
	<-ended
	if n := failed.Load(); n > 0 && err == nil {
		err = fmt.Errorf("%d records failed", n)
	}
	return s, err
}

// Random values cause the broker the same work as the tool's.
func madeBefore(size int) [][]byte {
	values := make([][]byte, 1000)
	source := rand.NewChaCha8([32]byte{})
	for i := range values {
		values[i] = make([]byte, size)
		_, _ = source.Read(values[i]) // never fails
	}
	return values
}

func (l *lab) watch(ctx context.Context, count func() int64) (sample, error) {
	if err := sleep(ctx, warmup); err != nil {
		return sample{}, err
	}
	since := begin(count())
	if err := sleep(ctx, l.plan.measure); err != nil {
		return sample{}, err
	}
	records := count() - since.count
	if records == 0 {
		return sample{}, fmt.Errorf("nothing came back in %v", l.plan.measure)
	}
	return since.sample(records), nil
}

type mark struct {
	count     int64
	at        time.Time
	cpu       time.Duration
	allocated int64
}

func begin(count int64) mark {
	return mark{count: count, at: time.Now(), cpu: cpu(), allocated: probe.ReadRuntime().AllocBytes}
}

func (m mark) sample(records int64) sample {
	allocated := float64(probe.ReadRuntime().AllocBytes-m.allocated) / float64(records)
	return sample{
		perSecond: float64(records) / time.Since(m.at).Seconds(),
		cpu:       (cpu() - m.cpu) / time.Duration(records),
		allocated: &allocated,
	}
}

// cpu is 0 if it is not known.
func cpu() time.Duration {
	usage, err := probe.Self()
	if err != nil {
		return 0
	}
	return usage.CPU()
}

func sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (l *lab) produceOurs(ctx context.Context, workers int) (sample, error) {
	outcome, err := l.bench(ctx, produceRun("perf-produce", "max", workers, warmup, l.plan.measure))
	if err != nil {
		return sample{}, err
	}
	return sampleOf(outcome.Run), nil
}

func produceRun(name, rate string, workers int, warmup, measure time.Duration) string {
	return fmt.Sprintf(`
name: %s
topic: {partitions: %d, replication: 1}
load:
  rate: %s
  producers: %d
  clients: 1
  record: {size: %dB, payload: random}
  acks: 1
  compression: none
  linger: %v
  batch: %dKiB
  in_flight: 5
  max_buffered: %d
consume: {consumers: 0}
phases: {warmup: %v, measure: %v, drain: 30s}
`, name, partitions, rate, workers, recordBytes, linger, batchBytes>>10, maxBuffered, warmup, measure)
}

func sampleOf(r result.Run) sample {
	allocated := float64(r.Process.AllocBytes) / float64(r.Load.Acked)
	s := sample{perSecond: r.Load.AckedPerS, allocated: &allocated}
	if r.Process.CPUPerRecord != nil {
		s.cpu = time.Duration(*r.Process.CPUPerRecord)
	}
	return s
}
