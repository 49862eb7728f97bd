package probe

import (
	"context"
	"fmt"
	"sync"

	"github.com/twmb/franz-go/pkg/kgo"

	"kafkabench.example/kafka-bench/internal/kafka/access"
)

// TopicReader reads everything that comes to a topic, with a client of its own and
// without a group, for who has to know what is in it. What belongs to a transaction that
// was not committed is left out.
type TopicReader struct {
	client  *kgo.Client
	cancel  context.CancelFunc
	reading sync.WaitGroup
}

// ReadTopic begins to read a topic at its first record, and gives each record's value to
// take, one at a time. Close ends it.
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
			// Errors are those of a broker that is away: the client goes on by itself.
			r.client.PollFetches(ctx).EachRecord(func(record *kgo.Record) { take(record.Value) })
		}
	})
	return r, nil
}

// Close ends the reading; nothing is taken any more when it returns.
func (r *TopicReader) Close() {
	r.cancel()
	r.reading.Wait()
	r.client.Close()
}
