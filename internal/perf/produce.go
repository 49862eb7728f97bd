package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync/atomic"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"kafka-bench/internal/probe"
)

// What all who produce have in common. The rest is as each client has it.
const (
	recordBytes = 100
	partitions  = 6
	batchBytes  = 64 << 10
	linger      = 5 * time.Millisecond
	maxBuffered = 10_000
)

// produce sets the tool, which measures everything, beside producers that
// measure nothing, in a closed loop.
func (l *lab) produce(ctx context.Context) error {
	fmt.Fprintf(l.stdout, `
## Producing, closed loop

%d B values, %d partitions, acks 1, no compression, batches of %d KiB, linger %v, one client, %v each after %v of
warm-up. "bare" is a loop around franz-go's Produce with a new record for each, and the client's own partitioner
(the next partition once a batch is full); at most %d records are buffered, as in ours, which stamps every record
and enters it into histograms and books, samples every interval and writes it to disk.

`, recordBytes, partitions, batchBytes>>10, linger, l.plan.measure, warmup, maxBuffered)
	all, err := l.inRounds(ctx, "produce", []contender{
		{"bare franz-go", l.produceBare},
		{"ours, everything measured, 1 worker", func(ctx context.Context) (sample, error) { return l.produceOurs(ctx, 1) }},
		{"ours, everything measured, 2 workers", func(ctx context.Context) (sample, error) { return l.produceOurs(ctx, 2) }},
		{"kafka-producer-perf-test, linger 0", func(ctx context.Context) (sample, error) { return l.produceJava(ctx, 0) }},
		{"kafka-producer-perf-test, linger 5 ms", func(ctx context.Context) (sample, error) { return l.produceJava(ctx, linger) }},
	})
	if err != nil {
		return err
	}
	l.compare(all, recordBytes)
	return nil
}

// produceBare is the loop that a program would have that only wants to produce.
func (l *lab) produceBare(ctx context.Context) (sample, error) {
	topic, remove, err := l.topic(ctx, "bare", partitions)
	if err != nil {
		return sample{}, err
	}
	defer remove()
	client, err := kgo.NewClient(
		kgo.SeedBrokers(l.kafka.Bootstrap()...), kgo.DisableClientMetrics(),
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
		values := madeBefore(recordBytes)
		done := func(_ *kgo.Record, err error) {
			if err != nil {
				failed.Add(1)
			}
			acked.Add(1)
		}
		for i := 0; !stop.Load(); i = (i + 1) % len(values) {
			client.Produce(ctx, &kgo.Record{Topic: topic.Name, Value: values[i]}, done)
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

// madeBefore are a thousand random values, to be sent over and over: what a
// client that measures nothing would send to a broker that is to find the same
// work in them as in ours.
func madeBefore(size int) [][]byte {
	values := make([][]byte, 1000)
	source := rand.NewChaCha8([32]byte{})
	for i := range values {
		values[i] = make([]byte, size)
		_, _ = source.Read(values[i]) // never fails
	}
	return values
}

// watch lets a closed loop warm up and then tells how fast a count of its grows,
// and what this process spends on it.
func (l *lab) watch(ctx context.Context, count func() int64) (sample, error) {
	if err := sleep(ctx, warmup); err != nil {
		return sample{}, err
	}
	from, began, before := count(), time.Now(), cpu()
	if err := sleep(ctx, l.plan.measure); err != nil {
		return sample{}, err
	}
	records := count() - from
	if records == 0 {
		return sample{}, fmt.Errorf("nothing came back in %v", l.plan.measure)
	}
	return sample{
		perSecond: float64(records) / time.Since(began).Seconds(),
		cpu:       (cpu() - before) / time.Duration(records),
	}, nil
}

// cpu is the CPU time that this process has used; 0 where it can't be told.
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

// produceOurs is a whole run of the tool, but for consumers.
func (l *lab) produceOurs(ctx context.Context, workers int) (sample, error) {
	outcome, err := l.bench(ctx, fmt.Sprintf(`
name: perf-produce
topic: {partitions: %d, replication: 1}
load:
  rate: max
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
`, partitions, workers, recordBytes, linger, batchBytes>>10, maxBuffered, warmup, l.plan.measure))
	if err != nil {
		return sample{}, err
	}
	r := outcome.Run
	s := sample{perSecond: r.Load.AckedPerS}
	if r.Process.CPUPerRecord != nil {
		s.cpu = time.Duration(*r.Process.CPUPerRecord)
	}
	return s, nil
}
