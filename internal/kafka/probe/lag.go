package probe

import (
	"context"
	"fmt"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"kafkabench.example/kafka-bench/internal/kafka/access"
)

// clientID is that of all clients that read or manage, and not of the load.
const clientID = "kafka-bench-admin"

// LagReader reads the lag of groups on one topic, with its own client.
type LagReader struct {
	client     *kgo.Client
	admin      *kadm.Client
	topic      string
	groups     []string
	partitions int
}

// Lag is one reading of a group's lag, in records.
type Lag struct {
	Records    int64   // sum over the partitions
	Partitions []int64 // high watermark − committed offset
	// Committed are the committed offsets, 0 without a commit. Ends are the high watermarks, read after
	// the committed offsets.
	Committed, Ends []int64
	// AtLeast is a lower bound of the lag at the time of Ends, computed from commits that were read
	// later. Only ReadBounds sets it.
	AtLeast int64
}

// NewLagReader returns a reader; the caller must Close it. Without groups it reads only the ends of the partitions.
func NewLagReader(brokers []string, a access.Access, topic string, groups []string, partitions int) (*LagReader,
	error) {
	client, err := kgo.NewClient(append(a.Options(),
		kgo.SeedBrokers(brokers...),
		kgo.ClientID(clientID),
		kgo.DisableClientMetrics(),
	)...)
	if err != nil {
		return nil, fmt.Errorf("opening the client that reads the lag: %w", err)
	}
	return &LagReader{client: client, admin: kadm.NewClient(client), topic: topic, groups: groups,
		partitions: partitions}, nil
}

// Close closes the reader's client.
func (r *LagReader) Close() { r.client.Close() }

// Read reads the committed offsets of each group and then the high watermarks: so the lag is never too small, but
// commits in between make it too large. A partition without a commit lags by its whole high watermark.
func (r *LagReader) Read(ctx context.Context) ([]Lag, error) {
	if len(r.groups) == 0 {
		return nil, nil
	}
	committed, err := r.allCommitted(ctx)
	if err != nil {
		return nil, err
	}
	ends, err := r.Ends(ctx)
	if err != nil {
		return nil, err
	}
	return r.lags(committed, ends), nil
}

// ReadBounds is Read, and then reads the committed offsets again. Records is never too small,
// AtLeast never too large.
func (r *LagReader) ReadBounds(ctx context.Context) ([]Lag, error) {
	lags, err := r.Read(ctx)
	if err != nil || len(lags) == 0 {
		return lags, err
	}
	committed, err := r.allCommitted(ctx)
	if err != nil {
		return nil, err
	}
	for i := range lags {
		lags[i].AtLeast = r.lag(committed[i], lags[i].Ends).Records
	}
	return lags, nil
}

func (r *LagReader) allCommitted(ctx context.Context) ([]kadm.OffsetResponses, error) {
	all := make([]kadm.OffsetResponses, len(r.groups))
	for i, group := range r.groups {
		var err error
		if all[i], err = r.committed(ctx, group); err != nil {
			return nil, fmt.Errorf("reading the committed offsets of group %s: %w", group, err)
		}
	}
	return all, nil
}

func (r *LagReader) lags(committed []kadm.OffsetResponses, ends []int64) []Lag {
	lags := make([]Lag, len(r.groups))
	for i := range lags {
		lags[i] = r.lag(committed[i], ends)
	}
	return lags
}

func (r *LagReader) committed(ctx context.Context, group string) (kadm.OffsetResponses, error) {
	committed, err := r.admin.FetchOffsetsForTopics(ctx, group, r.topic)
	if err != nil {
		return nil, err
	}
	return committed, committed.Error()
}

func (r *LagReader) lag(committed kadm.OffsetResponses, ends []int64) Lag {
	lag := Lag{Partitions: make([]int64, r.partitions), Committed: make([]int64, r.partitions), Ends: ends}
	for id, end := range ends {
		at := int64(0)
		if offset, ok := committed.Lookup(r.topic, int32(id)); ok {
			at = max(0, offset.At)
		}
		lag.Committed[id], lag.Partitions[id] = at, max(0, end-at)
		lag.Records += lag.Partitions[id]
	}
	return lag
}

// Commit commits these offsets for each group. The groups must have no members yet.
func (r *LagReader) Commit(ctx context.Context, offsets []int64) error {
	var commit kadm.Offsets
	for id, at := range offsets {
		commit.AddOffset(r.topic, int32(id), at, -1)
	}
	for _, group := range r.groups {
		if err := r.admin.CommitAllOffsets(ctx, group, commit); err != nil {
			return fmt.Errorf("committing the first offsets of group %s: %w", group, err)
		}
	}
	return nil
}

// Ends reads the high watermark of each partition.
func (r *LagReader) Ends(ctx context.Context) ([]int64, error) {
	listed, err := r.admin.ListEndOffsets(ctx, r.topic)
	return r.offsets("high watermarks", listed, err)
}

// debuggingReplica is Kafka's replica ID for a request from neither a consumer nor a follower.
const debuggingReplica = -2

// LogEnds reads the log end offset of each partition from its leader. It exceeds the high watermark
// until all in-sync replicas have the last record. Brokers that do not support the request return
// the high watermark or an error.
func (r *LagReader) LogEnds(ctx context.Context) ([]int64, error) {
	req := kmsg.NewPtrListOffsetsRequest()
	req.ReplicaID = debuggingReplica
	topic := kmsg.NewListOffsetsRequestTopic()
	topic.Topic = r.topic
	for id := range r.partitions {
		partition := kmsg.NewListOffsetsRequestTopicPartition()
		partition.Partition, partition.Timestamp = int32(id), -1
		topic.Partitions = append(topic.Partitions, partition)
	}
	req.Topics = append(req.Topics, topic)
	ends := make([]int64, r.partitions)
	told := 0
	for _, shard := range r.client.RequestSharded(ctx, req) {
		if shard.Err != nil {
			return nil, fmt.Errorf("reading the log ends of topic %s: %w", r.topic, shard.Err)
		}
		for _, t := range shard.Resp.(*kmsg.ListOffsetsResponse).Topics {
			for _, p := range t.Partitions {
				if err := kerr.ErrorForCode(p.ErrorCode); err != nil {
					return nil, fmt.Errorf("reading the log end of partition %d of topic %s: %w", p.Partition,
						r.topic, err)
				}
				ends[p.Partition] = p.Offset
				told++
			}
		}
	}
	if told != r.partitions {
		return nil, fmt.Errorf("the brokers returned %d of %d log ends of topic %s", told, r.partitions, r.topic)
	}
	return ends, nil
}

// Starts reads the first offset that each partition still holds.
func (r *LagReader) Starts(ctx context.Context) ([]int64, error) {
	listed, err := r.admin.ListStartOffsets(ctx, r.topic)
	return r.offsets("first offsets", listed, err)
}

func (r *LagReader) offsets(what string, listed kadm.ListedOffsets, err error) ([]int64, error) {
	if err == nil {
		err = listed.Error()
	}
	if err != nil {
		return nil, fmt.Errorf("reading the %s of topic %s: %w", what, r.topic, err)
	}
	offsets := make([]int64, r.partitions)
	listed.Each(func(o kadm.ListedOffset) {
		if int(o.Partition) < r.partitions {
			offsets[o.Partition] = o.Offset
		}
	})
	return offsets, nil
}
