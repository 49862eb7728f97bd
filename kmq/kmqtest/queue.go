// Package kmqtest tests handlers of package kmq without a broker.
//
// [Open] returns a queue whose topic is in memory, which keeps the promises of the engine kmq.OffsetMap. [Delivery] makes a
// single delivery. In a bubble of testing/synctest, an hour of backoff takes no time.
//
// Files to know: queue.go, memory.go, delivery.go.
package kmqtest

import (
	"cmp"
	"context"
	"log/slog"
	"sync"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"kafkabench.example/kafka-bench/kmq"
	"kafkabench.example/kafka-bench/kmq/internal/engine"
)

// Config configures a queue in memory. In each field, zero means the default. The fields that kmq.Config has, too, have
// the same meaning, range and default.
type Config struct {
	Topic string // of the records; the default is "topic"
	Group string // in the headers of dead letters; the default is "group"

	Visibility    time.Duration
	MaxDeliveries int
	Order         kmq.Order
	MaxInFlight   int
	Retry         kmq.Retry
}

func (c Config) queue(log *slog.Logger) kmq.Config {
	return kmq.Config{
		Brokers: []string{"memory"}, Topic: cmp.Or(c.Topic, "topic"), Group: cmp.Or(c.Group, "group"),
		Visibility: c.Visibility, MaxDeliveries: c.MaxDeliveries, Order: c.Order,
		MaxInFlight: c.MaxInFlight, Retry: c.Retry, Logger: log,
	}
}

// Queue is a queue in memory. Its methods are safe for concurrent use.
type Queue struct {
	*kmq.Queue
	memory *memory
}

// Open opens an empty queue, which the cleanup of t closes. The queue logs to the output of t. In a bubble, t must be the
// bubble's. A mistake in cfg ends the test.
func Open(t testing.TB, cfg Config) *Queue {
	t.Helper()
	q := new(Queue)
	ctx := engine.WithOpener(context.Background(), func(_ context.Context, cfg engine.Config) (engine.Engine, error) {
		q.memory = newMemory(cfg)
		return q.memory, nil
	})
	var err error
	q.Queue, err = kmq.Open(ctx, cfg.queue(slog.New(slog.NewTextHandler(t.Output(), nil))))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := q.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return q
}

// Produce appends records to the partitions that they name. As a producer does, it sets the topic and the offset of each
// record, and the timestamp unless the record has one. Handlers get copies of the records.
func (q *Queue) Produce(records ...*kgo.Record) { q.memory.produce(records) }

// RunUntilIdle calls the handler as [kmq.Queue.Run] does, and returns what Run returns. It ends when every produced record
// is acknowledged or a dead letter: no record is ready, in a handler, or waits for its next attempt. A handler that always
// fails a queue with MaxDeliveries kmq.Unlimited runs for ever.
func (q *Queue) RunUntilIdle(handle kmq.Handler, cfg kmq.RunConfig) error {
	ctx, cancel := context.WithCancel(context.Background())
	var watching sync.WaitGroup
	watching.Go(func() {
		defer cancel()
		q.memory.waitIdle(ctx)
	})
	defer watching.Wait()
	defer cancel()
	return q.Run(ctx, handle, cfg)
}

// Acked returns the acknowledged records as they were produced, in the order of their acknowledgements.
func (q *Queue) Acked() []*kgo.Record { return q.memory.ackedRecords() }

// DeadLetters returns the dead letters with their headers, in the order in which the records were given up.
func (q *Queue) DeadLetters() []*kgo.Record { return q.memory.deadLetters() }
