package main

import (
	"context"
	"fmt"
	"os"
	"sync/atomic"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"kafkabench.example/kafka-bench/internal/kafka/driver"
	"kafkabench.example/kafka-bench/internal/kafka/driver/franz"
	"kafkabench.example/kafka-bench/internal/load"
	"kafkabench.example/kafka-bench/internal/load/receive"
	"kafkabench.example/kafka-bench/internal/load/send"
	"kafkabench.example/kafka-bench/internal/measure/latency"
	"kafkabench.example/kafka-bench/internal/measure/ledger"
	"kafkabench.example/kafka-bench/internal/measure/snapshot"
	"kafkabench.example/kafka-bench/internal/plan/payload"
	"kafkabench.example/kafka-bench/internal/run/remote"
)

type filled struct {
	topic   string
	axis    *load.Axis
	records int64
}

// filledRun is the run number in the stamps of a filled topic.
const filledRun = 0x70657266 // "perf"

// All consumers read the same topic from its start, each in its own group.
func (l *lab) consume(ctx context.Context) error {
	topic, remove, err := l.topic(ctx, "filled", partitions)
	if err != nil {
		return err
	}
	defer remove()
	f, err := l.fill(ctx, topic.Name)
	if err != nil {
		return fmt.Errorf("filling a topic: %w", err)
	}
	fmt.Fprintf(l.stdout, `
## Consuming, from the start of a full topic

%.1f million stamped records of %d B in %d partitions, batches of %d KiB, no compression; one member of a group, no
work, an interval's commits. "franz-go's benchmark" is the loop of the client's own example: PollFetches, and a count of records and bytes; ours checks every byte, enters
every record into histograms and books, and is sampled every second; of consumers in a process of their own that is asked
over a pipe. Rates are over the time from the first records to the
last; for kafka-consumer-perf-test that is its fetch rate, and its rate in all has the joining of the group in it.

`, float64(f.records)/1e6, recordBytes, partitions, batchBytes>>10)
	var inAll []float64
	all, err := l.inRounds(ctx, "consume", []contender{
		{"franz-go's benchmark", func(ctx context.Context) (sample, error) { return l.consumeBare(ctx, f) }},
		{"ours, everything measured, parallel by consumer", func(ctx context.Context) (sample, error) { return l.consumeOurs(ctx, f, false) }},
		{"ours, everything measured, parallel by partition", func(ctx context.Context) (sample, error) { return l.consumeOurs(ctx, f, true) }},
		{"ours, everything measured, in a process of its own", func(ctx context.Context) (sample, error) { return l.consumeApart(ctx, f) }},
		{"kafka-consumer-perf-test", func(ctx context.Context) (sample, error) {
			c, err := l.consumeJava(ctx, f.topic, l.group(), f.records)
			inAll = append(inAll, c.perSecond)
			return sample{perSecond: c.fetchPerSecond}, err
		}},
	})
	if err != nil {
		return err
	}
	l.compare(all, recordBytes)
	fmt.Fprintf(l.stdout, "\nkafka-consumer-perf-test in all: %s.\n",
		perSecond(median(inAll, func(rate float64) float64 { return rate }), recordBytes))
	return nil
}

func (l *lab) fill(ctx context.Context, topic string) (filled, error) {
	f := filled{topic: topic, axis: load.NewAxis(nil)}
	corpus, err := payload.NewCorpus(payload.Spec{
		Class: "random", Seed: 42, Stamped: true,
		Sizes: payload.Sizes{Distribution: "fixed", Values: []int{recordBytes}},
	})
	if err != nil {
		return filled{}, err
	}
	producers, err := send.Open(send.Config{
		Driver: franz.New(),
		Client: driver.ProducerConfig{
			Brokers: l.kafka.Bootstrap(), ClientID: "perf", Topic: topic, Acks: driver.AcksLeader,
			Compression: "none", Linger: linger, BatchBytes: batchBytes, InFlight: 5,
		},
		Workers: 1, MaxBuffered: maxBuffered, Partitions: partitions, Partitioning: "sticky",
		Corpus: corpus, Keys: &payload.Keys{}, RecordBytes: recordBytes, Stamped: true, Run: filledRun, Axis: f.axis,
	})
	if err != nil {
		return filled{}, err
	}
	defer producers.Close()
	l.progress("filling a topic for %v", l.plan.measure)
	f.axis.Set(0, l.plan.measure)
	producers.Start()
	select {
	case <-producers.Done():
	case <-ctx.Done():
		return filled{}, ctx.Err()
	}
	_, sent := producers.Sent()
	f.records = sent.Acked
	if sent.Acked != sent.Admitted {
		return filled{}, fmt.Errorf("%d of %d records were not acknowledged: %v", sent.Admitted-sent.Acked, sent.Admitted, producers.Errors(true))
	}
	return f, nil
}

func (l *lab) group() string {
	l.groups++
	return fmt.Sprintf("perf-%d", l.groups)
}

func (l *lab) consumeBare(ctx context.Context, f filled) (sample, error) {
	client, err := kgo.NewClient(
		kgo.SeedBrokers(l.kafka.Bootstrap()...), kgo.DisableClientMetrics(),
		kgo.ConsumerGroup(l.group()), kgo.ConsumeTopics(f.topic), kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()),
	)
	if err != nil {
		return sample{}, err
	}
	polling, stop := context.WithCancel(ctx)
	var count, bytes atomic.Int64
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for polling.Err() == nil {
			records, size := int64(0), int64(0)
			client.PollFetches(polling).EachRecord(func(r *kgo.Record) {
				records++
				size += int64(len(r.Value))
			})
			count.Add(records)
			bytes.Add(size)
		}
	}()
	s, err := untilAll(ctx, f.records, look, count.Load)
	stop()
	<-ended
	client.Close()
	return s, err
}

func (l *lab) ours(f filled, byPartition bool) receive.Config {
	name := l.group()
	return receive.Config{
		Driver: franz.New(),
		Client: driver.ConsumerConfig{
			Brokers: l.kafka.Bootstrap(), ClientID: name, Topic: f.topic, Group: name, Protocol: "classic",
		},
		Members: 1, Producers: 1, Partitions: partitions, ByPartition: byPartition,
		Plan: load.Plan{}, CommitEvery: time.Second,
		Axis: f.axis, Stamped: true, ClosedLoop: false, Run: filledRun,
		OnEvent: func(receive.Event) {},
	}
}

func (l *lab) consumeOurs(ctx context.Context, f filled, byPartition bool) (sample, error) {
	g, err := receive.Start(l.ours(f, byPartition))
	if err != nil {
		return sample{}, err
	}
	defer g.Stop(context.Background())
	return takeAll(ctx, g, f, look)
}

const lookApart = 10 * look

// The child's CPU and memory are not reported.
func (l *lab) consumeApart(ctx context.Context, f filled) (sample, error) {
	g, err := remote.OpenConsumers(remote.ConsumersConfig{
		Group: l.ours(f, false), Driver: "franz", Axis: f.axis, Processes: 1,
		Start: func(place int) (*remote.Child, error) {
			return remote.StartChild(place, []string{os.Args[0], workerWord})
		},
	})
	if err != nil {
		return sample{}, err
	}
	defer g.Stop(context.Background())
	s, err := takeAll(ctx, apart{g}, f, lookApart)
	return sample{perSecond: s.perSecond}, err
}

type group interface {
	AddTo(collector *latency.Collector)
	Positions() []snapshot.Reached
	Receivers() []*ledger.Receiver
	Stop(ctx context.Context)
}

type apart struct{ *remote.Consumers }

func (g apart) Positions() []snapshot.Reached { return g.Standing(remote.Want{}).Reached }

// AddTo makes a collector ask for the histograms, as a run does.
func (g apart) AddTo(c *latency.Collector) { c.AddSource(g) }

// Recorded implements latency.Source.
func (g apart) Recorded(merge func(part latency.Encoded) error) {
	g.Standing(remote.Want{Times: true})
	g.Consumers.Recorded(merge)
}

func takeAll(ctx context.Context, g group, f filled, look time.Duration) (sample, error) {
	stopSampling := sampleEverySecond(g)
	defer stopSampling()
	s, err := untilAll(ctx, f.records, look, func() (delivered int64) {
		for _, at := range g.Positions() {
			delivered += at.Delivered
		}
		return delivered
	})
	if err != nil {
		return sample{}, err
	}
	g.Stop(ctx)
	return s, check(g, f)
}

// sampleEverySecond empties the group's histograms as a run does.
func sampleEverySecond(g group) (stop func()) {
	collector := &latency.Collector{}
	g.AddTo(collector)
	ended := make(chan struct{})
	go func() {
		tick := time.NewTicker(time.Second)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				collector.Collect()
			case <-ended:
				return
			}
		}
	}()
	return func() { close(ended) }
}

func check(g group, f filled) error {
	var unique int64
	for _, r := range g.Receivers() {
		r.Lock()
		unique += r.Unique()
		r.Unlock()
	}
	if unique != f.records {
		return fmt.Errorf("%d different records arrived of %d", unique, f.records)
	}
	return nil
}

const look = 2 * time.Millisecond

func untilAll(ctx context.Context, all int64, look time.Duration, count func() int64) (sample, error) {
	var first int64
	for first == 0 {
		if err := sleep(ctx, look); err != nil {
			return sample{}, err
		}
		first = count()
	}
	since := begin(first)
	for count() < all {
		if err := sleep(ctx, look); err != nil {
			return sample{}, err
		}
		if time.Since(since.at) > 2*time.Minute {
			return sample{}, fmt.Errorf("%d of %d records arrived in %v", count(), all, time.Since(since.at))
		}
	}
	return since.sample(max(all-first, 1)), nil
}
