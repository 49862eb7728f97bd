package probe

import (
	"context"
	"fmt"
	"sync"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"

	"kafkabench.example/kafka-bench/internal/kafka/access"
)

// TopicReader reads every committed record of a topic, with its own client and without a group.
type TopicReader struct {
	client  *kgo.Client
	topic   string
	cancel  context.CancelFunc
	reading sync.WaitGroup

	mu   sync.Mutex
	next map[int32]int64 // the offset after the last that was read, by partition
}

// ReadTopic passes each record of a topic to take, one at a time. The caller must Close the reader.
func ReadTopic(brokers []string, a access.Access, topic string, partitions int,
	take func(*kgo.Record)) (*TopicReader, error) {
	from := make(map[int32]kgo.Offset, partitions)
	for p := range partitions {
		from[int32(p)] = kgo.NewOffset().AtStart()
	}
	client, err := kgo.NewClient(append(a.Options(),
		kgo.SeedBrokers(brokers...),
		kgo.ClientID(clientID),
		kgo.DisableClientMetrics(),
		kgo.ConsumePartitions(map[string]map[int32]kgo.Offset{topic: from}),
		kgo.FetchIsolationLevel(kgo.ReadCommitted()),
		kgo.KeepControlRecords(), // the ends that AtEnd reads are behind them
	)...)
	if err != nil {
		return nil, fmt.Errorf("opening the client that reads the topic %s: %w", topic, err)
	}
	r := &TopicReader{client: client, topic: topic, next: make(map[int32]int64)}
	ctx, cancel := context.WithCancel(context.Background())
	r.cancel = cancel
	r.reading.Go(func() {
		for ctx.Err() == nil {
			// Errors mean that a broker is unavailable: the client retries.
			r.client.PollFetches(ctx).EachRecord(func(record *kgo.Record) {
				if !record.Attrs.IsControl() {
					take(record)
				}
				r.mu.Lock()
				r.next[record.Partition] = record.Offset + 1
				r.mu.Unlock()
			})
		}
	})
	return r, nil
}

// AtEnd reports whether every record that is in the topic now was taken.
func (r *TopicReader) AtEnd(ctx context.Context) (bool, error) {
	ends, err := kadm.NewClient(r.client).ListCommittedOffsets(ctx, r.topic)
	if err == nil {
		err = ends.Error()
	}
	if err != nil {
		return false, fmt.Errorf("the ends of the topic %s: %w", r.topic, err)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	at := true
	ends.Each(func(o kadm.ListedOffset) { at = at && r.next[o.Partition] >= o.Offset })
	return at, nil
}

// Close ends the reading. After Close has returned, take is not called.
func (r *TopicReader) Close() {
	r.cancel()
	r.reading.Wait()
	r.client.Close()
}
