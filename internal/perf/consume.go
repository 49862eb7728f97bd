package main

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"kafka-bench/internal/driver"
	"kafka-bench/internal/driver/franz"
	"kafka-bench/internal/latency"
	"kafka-bench/internal/load"
	"kafka-bench/internal/payload"
)

// filled is a topic full of stamped records, and the axis of their stamps.
type filled struct {
	topic   string
	axis    *load.Axis
	records int64
}

// run is the number in the stamps of a filled topic.
const run32 = 0x70657266

// consume sets the tool, which checks and times every record, beside consumers
// that count them: all read the same topic from its start, each with a group of
// its own.
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
work, an interval's commits. "bare" is a loop around franz-go's PollFetches that counts; ours checks every byte, enters
every record into histograms and books, and is sampled every second. Rates are over the time from the first records to the
last; for kafka-consumer-perf-test that is its fetch rate, and its rate in all has the joining of the group in it.

`, float64(f.records)/1e6, recordBytes, partitions, batchBytes>>10)
	var inAll []float64
	all, err := l.inRounds(ctx, "consume", []contender{
		{"bare franz-go", func(ctx context.Context) (sample, error) { return l.consumeBare(ctx, f) }},
		{"ours, everything measured, parallel by consumer", func(ctx context.Context) (sample, error) { return l.consumeOurs(ctx, f, false) }},
		{"ours, everything measured, parallel by partition", func(ctx context.Context) (sample, error) { return l.consumeOurs(ctx, f, true) }},
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
