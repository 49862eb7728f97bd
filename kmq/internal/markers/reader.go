package markers

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"kafkabench.example/kafka-bench/kmq/internal/marker"
	"kafkabench.example/kafka-bench/kmq/internal/tracker"
)

// reader reads records of the queue's topic at given offsets, by fetch requests of its own: a
// consumer would read ahead what nobody asked for.
type reader struct {
	client *kgo.Client
	topic  string
}

// The bounds of one fetch. Records that are nearby are read together.
const (
	fetchLeast = 16 << 10
	fetchMost  = 1 << 20
	nearby     = 512
	guess      = 1 << 10 // bytes of a record

	leadersFor = time.Second // how old the known leaders may be
)

// errBehind: the offset is not in the log of the leader, and may come to be.
var errBehind = errors.New("the offset is behind the end of the partition")

// read reads records, which are in the order of their offsets, with one fetch. It returns those that are
// there or missing, and the rest. A record is missing if the log has passed its offset, or has another
// record there.
func (r *reader) read(ctx context.Context, partition int32, wanted []tracker.Due) (found []redelivery, rest []tracker.Due, err error) {
	last := 0
	for last+1 < len(wanted) && wanted[last+1].Offset < wanted[0].Offset+nearby {
		last++
	}
	bytes := (wanted[last].Offset - wanted[0].Offset + 1) * guess
	records, next, err := r.fetch(ctx, partition, wanted[0].Offset, int32(min(fetchMost, max(fetchLeast, bytes))))
	if errors.Is(err, kerr.OffsetOutOfRange) {
		records, next = nil, 0
		var starts kadm.ListedOffsets
		starts, err = kadm.NewClient(r.client).ListStartOffsets(ctx, r.topic)
		if start, ok := starts.Lookup(r.topic, partition); err == nil && ok {
			next, err = start.Offset, start.Err
		}
	}
	if err == nil && next <= wanted[0].Offset {
		err = errBehind
	}
	if err != nil {
		return nil, wanted, fmt.Errorf("kmq: read offset %d of partition %d of topic %s: %w", wanted[0].Offset, partition, r.topic, err)
	}
	found, rest = match(records, wanted, next)
	return found, rest, nil
}

// match looks up those of the wanted records that are below an offset, and returns the rest.
func match(records []*kgo.Record, wanted []tracker.Due, below int64) (found []redelivery, rest []tracker.Due) {
	for rest = wanted; len(rest) > 0 && rest[0].Offset < below; rest = rest[1:] {
		d := rest[0]
		for len(records) > 0 && records[0].Offset < d.Offset {
			records = records[1:]
		}
		one := redelivery{Due: d, why: marker.Missing}
		if len(records) > 0 && records[0].Offset == d.Offset && (d.Epoch < 0 || records[0].LeaderEpoch == d.Epoch) {
			one.copied = records[0]
		}
		found = append(found, one)
	}
	return found, rest
}

// fetch reads committed records from an offset on, and says which offset comes after them.
func (r *reader) fetch(ctx context.Context, partition int32, from int64, most int32) (records []*kgo.Record, next int64, err error) {
	leader, id, err := r.leader(ctx, partition)
	if err != nil {
		return nil, 0, err
	}
	req := kmsg.NewPtrFetchRequest()
	req.MaxWaitMillis, req.MinBytes, req.MaxBytes, req.IsolationLevel = 0, 1, most, 1
	topic := kmsg.NewFetchRequestTopic()
	topic.Topic, topic.TopicID = r.topic, id
	part := kmsg.NewFetchRequestTopicPartition()
	part.Partition, part.FetchOffset, part.PartitionMaxBytes = partition, from, most
	topic.Partitions = append(topic.Partitions, part)
	req.Topics = append(req.Topics, topic)
	raw, err := r.client.Broker(int(leader)).RetriableRequest(ctx, req)
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
		Offset: from, IsolationLevel: kgo.ReadCommitted(), Topic: r.topic, Partition: partition,
	}, &resp.Topics[0].Partitions[0], kgo.DefaultDecompressor(), nil)
	return fetched.Records, next, fetched.Err
}

// leader returns the leader of a partition, and the topic's ID.
func (r *reader) leader(ctx context.Context, partition int32) (int32, [16]byte, error) {
	req := kmsg.NewPtrMetadataRequest()
	topic := kmsg.NewMetadataRequestTopic()
	topic.Topic = &r.topic
	req.Topics = append(req.Topics, topic)
	resp, err := r.client.RequestCachedMetadata(ctx, req, leadersFor)
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
