package retention

import (
	"context"
	"fmt"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

type place struct {
	topic     string
	partition int32
}

// barren is a range of offsets without readable records; record reports whether a record follows it.
//
// The marker that ends a transaction takes an offset but is no record. A group that has read
// everything stays before this offset, whose age must not cause an alarm.
type barren struct {
	from, to int64
	record   bool
}

const (
	fetchBytes    = 16 << 10
	fetchesAtMost = 16
)

func (w *Watch) threats(ctx context.Context, adm *kadm.Client, b *bound, n Need) []threat {
	start, end, ok := b.span(n.Partition)
	if !ok {
		return nil
	}
	low := n.From
	if low == Start {
		low = start
	}
	if n.Record {
		return b.threatens(n.Partition, low)
	}
	at := place{n.Topic, n.Partition}
	known := w.barren[at]
	if low < known.from || known.to < low {
		known = barren{from: low, to: low}
	}
	found := b.threatens(n.Partition, known.to)
	if len(found) == 0 || known.to < start || known.record {
		return found
	}
	if err := w.extend(ctx, adm, at, &known, end); err != nil {
		return found
	}
	w.barren[at] = known
	return b.threatens(n.Partition, known.to)
}

func (w *Watch) extend(ctx context.Context, adm *kadm.Client, at place, known *barren, end int64) error {
	topics, err := adm.ListTopics(ctx, at.topic)
	if err != nil {
		return err
	}
	topic := topics[at.topic]
	p, ok := topic.Partitions[at.partition]
	if !ok || p.Err != nil || p.Leader < 0 {
		return fmt.Errorf("partition %d of topic %s: %w", at.partition, at.topic, kerr.LeaderNotAvailable)
	}
	for range fetchesAtMost {
		records, next, err := w.fetch(ctx, p.Leader, topic.ID, at, known.to)
		switch {
		case err != nil:
			return err
		case len(records) > 0:
			known.to, known.record = records[0].Offset, true
			return nil
		case next >= end || next <= known.to: // or if an open transaction follows
			known.to = max(known.to, next)
			return nil
		}
		known.to = next
	}
	return nil
}

func (w *Watch) fetch(ctx context.Context, leader int32, id kadm.TopicID, at place, from int64) ([]*kgo.Record, int64, error) {
	req := kmsg.NewPtrFetchRequest()
	req.MaxWaitMillis, req.MinBytes, req.MaxBytes, req.IsolationLevel = 0, 1, fetchBytes, 1
	topic := kmsg.NewFetchRequestTopic()
	topic.Topic, topic.TopicID = at.topic, id
	part := kmsg.NewFetchRequestTopicPartition()
	part.Partition, part.FetchOffset, part.PartitionMaxBytes = at.partition, from, fetchBytes
	topic.Partitions = append(topic.Partitions, part)
	req.Topics = append(req.Topics, topic)
	raw, err := w.cl.Broker(int(leader)).RetriableRequest(ctx, req)
	if err != nil {
		return nil, from, err
	}
	resp := raw.(*kmsg.FetchResponse)
	if err := kerr.ErrorForCode(resp.ErrorCode); err != nil {
		return nil, from, err
	}
	if len(resp.Topics) != 1 || len(resp.Topics[0].Partitions) != 1 {
		return nil, from, fmt.Errorf("the answer lacks partition %d of topic %s", at.partition, at.topic)
	}
	fetched, next := kgo.ProcessFetchPartition(kgo.ProcessFetchPartitionOpts{
		Offset: from, IsolationLevel: kgo.ReadCommitted(), Topic: at.topic, Partition: at.partition,
	}, &resp.Topics[0].Partitions[0], kgo.DefaultDecompressor(), nil)
	return fetched.Records, next, fetched.Err
}
