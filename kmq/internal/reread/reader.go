// Package reread reads single records of a topic again, by their offsets.
//
// Files to know: reader.go.
package reread

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// Reader reads records of a topic by fetch requests of its own: a consumer would read ahead what nobody asked for.
type Reader struct {
	Client *kgo.Client
	Topic  string
}

// The bounds of one fetch. Records that are nearby are read together.
const (
	fetchLeast = 16 << 10
	fetchMost  = 1 << 20
	nearby     = 512
	guess      = 1 << 10 // bytes of a record

	leadersFor = time.Second // how old the known leaders may be
)

// ErrBehind: the offset is not in the log of the leader, and may come to be.
var ErrBehind = errors.New("the offset is behind the end of the partition")

// Read reads the records at offsets of a partition, which rise, with one fetch. It returns one entry for each of the first
// offsets: nil is a record that the log has no longer. Committed records alone are read.
func (r *Reader) Read(ctx context.Context, partition int32, offsets []int64) ([]*kgo.Record, error) {
	first, last := offsets[0], offsets[0]
	for _, offset := range offsets {
		if offset < first+nearby {
			last = offset
		}
	}
	bytes := (last - first + 1) * guess
	records, next, err := r.fetch(ctx, partition, first, int32(min(fetchMost, max(fetchLeast, bytes))))
	if errors.Is(err, kerr.OffsetOutOfRange) {
		records, next = nil, 0
		var starts kadm.ListedOffsets
		starts, err = kadm.NewClient(r.Client).ListStartOffsets(ctx, r.Topic)
		if start, ok := starts.Lookup(r.Topic, partition); err == nil && ok {
			next, err = start.Offset, start.Err
		}
	}
	if err == nil && next <= first {
		err = ErrBehind
	}
	if err != nil {
		return nil, fmt.Errorf("kmq: read offset %d of partition %d of topic %s: %w", first, partition, r.Topic, err)
	}
	return match(records, offsets, next), nil
}

// match looks up those of the offsets that are below another one.
func match(records []*kgo.Record, offsets []int64, below int64) (found []*kgo.Record) {
	for _, offset := range offsets {
		if offset >= below {
			break
		}
		for len(records) > 0 && records[0].Offset < offset {
			records = records[1:]
		}
		var at *kgo.Record
		if len(records) > 0 && records[0].Offset == offset {
			at = records[0]
		}
		found = append(found, at)
	}
	return found
}

// fetch reads committed records from an offset on, and says which offset comes after them.
func (r *Reader) fetch(ctx context.Context, partition int32, from int64, most int32) (records []*kgo.Record, next int64, err error) {
	leader, id, err := r.leader(ctx, partition)
	if err != nil {
		return nil, 0, err
	}
	req := kmsg.NewPtrFetchRequest()
	req.MaxWaitMillis, req.MinBytes, req.MaxBytes, req.IsolationLevel = 0, 1, most, 1
	topic := kmsg.NewFetchRequestTopic()
	topic.Topic, topic.TopicID = r.Topic, id
	part := kmsg.NewFetchRequestTopicPartition()
	part.Partition, part.FetchOffset, part.PartitionMaxBytes = partition, from, most
	topic.Partitions = append(topic.Partitions, part)
	req.Topics = append(req.Topics, topic)
	raw, err := r.Client.Broker(int(leader)).RetriableRequest(ctx, req)
	if err != nil {
		return nil, 0, err
	}
	resp := raw.(*kmsg.FetchResponse)
	if err := kerr.ErrorForCode(resp.ErrorCode); err != nil {
		return nil, 0, err
	}
	if len(resp.Topics) != 1 || len(resp.Topics[0].Partitions) != 1 {
		return nil, 0, errors.New("the answer to the fetch does not have it")
	}
	fetched, next := kgo.ProcessFetchPartition(kgo.ProcessFetchPartitionOpts{
		Offset: from, IsolationLevel: kgo.ReadCommitted(), Topic: r.Topic, Partition: partition,
	}, &resp.Topics[0].Partitions[0], kgo.DefaultDecompressor(), nil)
	return fetched.Records, next, fetched.Err
}

// leader returns the leader of a partition, and the topic's ID.
func (r *Reader) leader(ctx context.Context, partition int32) (int32, [16]byte, error) {
	req := kmsg.NewPtrMetadataRequest()
	topic := kmsg.NewMetadataRequestTopic()
	topic.Topic = &r.Topic
	req.Topics = append(req.Topics, topic)
	resp, err := r.Client.RequestCachedMetadata(ctx, req, leadersFor)
	if err != nil {
		return 0, [16]byte{}, err
	}
	for _, t := range resp.Topics {
		for _, p := range t.Partitions {
			if p.Partition == partition && p.Leader >= 0 {
				return p.Leader, t.TopicID, nil
			}
		}
	}
	return 0, [16]byte{}, kerr.LeaderNotAvailable
}
