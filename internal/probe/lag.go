package probe

import (
	"context"
	"fmt"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"

	"kafka-bench/internal/access"
)

// LagReader reads the lag of one group on one topic, with a client of its own.
type LagReader struct {
	client     *kgo.Client
	admin      *kadm.Client
	topic      string
	group      string
	partitions int
}

// Lag is one reading of a group's lag.
type Lag struct {
	Records    int64   // the sum over the partitions
	Partitions []int64 // high watermark − committed offset
}

// NewLagReader returns a reader; Close ends its client.
func NewLagReader(brokers []string, a access.Access, topic, group string, partitions int) (*LagReader, error) {
	client, err := kgo.NewClient(append(a.Options(),
		kgo.SeedBrokers(brokers...),
		kgo.ClientID("kafka-bench-lag"),
		kgo.DisableClientMetrics(),
	)...)
	if err != nil {
		return nil, fmt.Errorf("opening the client that reads the lag: %w", err)
	}
	return &LagReader{client: client, admin: kadm.NewClient(client), topic: topic, group: group, partitions: partitions}, nil
}

// Close ends the reader's client.
func (r *LagReader) Close() { r.client.Close() }

// Read asks for the committed offsets and then for the high watermarks. In that
// order the lag is never understated: what is committed in between makes it look
// larger by that much. A partition without a commit lags by all that it holds.
func (r *LagReader) Read(ctx context.Context) (Lag, error) {
	committed, err := r.admin.FetchOffsetsForTopics(ctx, r.group, r.topic)
	if err != nil {
		return Lag{}, fmt.Errorf("reading the committed offsets of group %s: %w", r.group, err)
	}
	if err := committed.Error(); err != nil {
		return Lag{}, fmt.Errorf("reading the committed offsets of group %s: %w", r.group, err)
	}
	ends, err := r.Ends(ctx)
	if err != nil {
		return Lag{}, err
	}
	lag := Lag{Partitions: make([]int64, r.partitions)}
	for id, end := range ends {
		at := int64(0)
		if offset, ok := committed.Lookup(r.topic, int32(id)); ok {
			at = max(0, offset.At)
		}
		lag.Partitions[id] = end - at
		lag.Records += lag.Partitions[id]
	}
	return lag, nil
}

// Commit commits these offsets for the group, which must have no member yet.
func (r *LagReader) Commit(ctx context.Context, offsets []int64) error {
	var commit kadm.Offsets
	for id, at := range offsets {
		commit.AddOffset(r.topic, int32(id), at, -1)
	}
	if err := r.admin.CommitAllOffsets(ctx, r.group, commit); err != nil {
		return fmt.Errorf("committing the first offsets of group %s: %w", r.group, err)
	}
	return nil
}

// Ends asks for the high watermark of each partition.
func (r *LagReader) Ends(ctx context.Context) ([]int64, error) {
	listed, err := r.admin.ListEndOffsets(ctx, r.topic)
	if err == nil {
		err = listed.Error()
	}
	if err != nil {
		return nil, fmt.Errorf("reading the high watermarks of topic %s: %w", r.topic, err)
	}
	ends := make([]int64, r.partitions)
	listed.Each(func(o kadm.ListedOffset) {
		if int(o.Partition) < r.partitions {
			ends[o.Partition] = o.Offset
		}
	})
	return ends, nil
}
