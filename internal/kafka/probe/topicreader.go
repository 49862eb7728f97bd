package probe

import (
	"context"
	"fmt"
	"sync"

	"github.com/twmb/franz-go/pkg/kgo"

	"kafkabench.example/kafka-bench/internal/kafka/access"
)

// TopicReader reads every record of a topic, with its own client and without a group. It skips records of transactions
// that are not committed.
type TopicReader struct {
	client  *kgo.Client
	cancel  context.CancelFunc
	reading sync.WaitGroup
}

// ReadTopic starts to read a topic from its first record and passes each record's value to take, one at a time. The
// caller must Close the reader.
func ReadTopic(brokers []string, a access.Access, topic string, partitions int,
	take func(value []byte)) (*TopicReader, error) {
	from := make(map[int32]kgo.Offset, partitions)
	for p := range partitions {
		from[int32(p)] = kgo.NewOffset().AtStart()
	}
	client, err := kgo.NewClient(append(a.Options(),
		kgo.SeedBrokers(brokers...),
		kgo.ClientID("kafka-bench-reader"),
		kgo.DisableClientMetrics(),
		kgo.ConsumePartitions(map[string]map[int32]kgo.Offset{topic: from}),
		kgo.FetchIsolationLevel(kgo.ReadCommitted()),
	)...)
	if err != nil {
		return nil, fmt.Errorf("opening the client that reads the topic %s: %w", topic, err)
	}
	r := &TopicReader{client: client}
	ctx, cancel := context.WithCancel(context.Background())
	r.cancel = cancel
	r.reading.Go(func() {
		for ctx.Err() == nil {
			// Errors mean that a broker is unavailable: the client retries.
			r.client.PollFetches(ctx).EachRecord(func(record *kgo.Record) { take(record.Value) })
		}
	})
	return r, nil
}

// Close stops the reader; take is not called after it returns.
func (r *TopicReader) Close() {
	r.cancel()
	r.reading.Wait()
	r.client.Close()
}
