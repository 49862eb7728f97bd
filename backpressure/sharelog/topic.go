package sharelog

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"

	"kafkabench.example/kafka-bench/backpressure/shares"
)

// Records are deleted only after a snapshot. With small segments, this frees the disk.
var settings = map[string]*string{
	"cleanup.policy":  kadm.StringPtr("delete"),
	"retention.ms":    kadm.StringPtr("-1"),
	"retention.bytes": kadm.StringPtr("-1"),
	"segment.bytes":   kadm.StringPtr("1048576"),
}

// A beat that is older than a lease is useless, so no record waits longer.
func options(cfg Config) []kgo.Opt {
	var opts []kgo.Opt
	if len(cfg.Brokers) > 0 {
		opts = append(opts, kgo.SeedBrokers(cfg.Brokers...))
	}
	opts = append(opts, cfg.Client...)
	return append(opts,
		kgo.DisableClientMetrics(),
		kgo.RecordPartitioner(kgo.ManualPartitioner()), kgo.RequiredAcks(kgo.AllISRAcks()),
		kgo.ProducerLinger(0), kgo.ProducerBatchCompression(kgo.NoCompression()),
		kgo.RecordDeliveryTimeout(max(cfg.Lease, time.Second)),
		kgo.MetadataMinAge(min(cfg.Beat, time.Second)),
		kgo.FetchMaxWait(max(cfg.Beat, time.Second)),
		kgo.Rack(""), // only the leader knows where the log begins
	)
}

// openTopic creates the topic if it is missing. It tries until ctx ends: a new topic has no leader
// at first.
func (m *Member) openTopic(ctx context.Context) (first, end int64, err error) {
	for {
		if err = m.makeTopic(ctx); err == nil {
			if first, end, err = m.offsets(ctx); err == nil {
				return first, end, nil
			}
		}
		if fatal := new(shapeError); errors.As(err, &fatal) || errors.Is(err, kerr.TopicAuthorizationFailed) ||
			errors.Is(err, kerr.ClusterAuthorizationFailed) {
			return 0, 0, err
		}
		select {
		case <-ctx.Done():
			return 0, 0, errors.Join(err, context.Cause(ctx))
		case <-time.After(100 * time.Millisecond):
		}
	}
}

type shapeError struct{ partitions int }

func (e *shapeError) Error() string {
	return fmt.Sprintf("it has %d partitions, but the share log needs exactly one: name another topic", e.partitions)
}

func (m *Member) makeTopic(ctx context.Context) error {
	topics, err := m.admin.ListTopics(ctx, m.cfg.Topic)
	if err != nil {
		return err
	}
	t := topics[m.cfg.Topic]
	switch {
	case t.Err == nil && len(t.Partitions) == 1:
		return nil
	case t.Err == nil:
		return &shapeError{partitions: len(t.Partitions)}
	case !errors.Is(t.Err, kerr.UnknownTopicOrPartition):
		return t.Err
	}
	replication := m.cfg.Replication
	if replication == 0 {
		replication = -1
	}
	_, err = m.admin.CreateTopic(ctx, 1, replication, settings, m.cfg.Topic)
	if errors.Is(err, kerr.TopicAlreadyExists) {
		return nil
	}
	return err
}

// offsets reads the beginning before the end, so that a log which looks empty is empty.
func (m *Member) offsets(ctx context.Context) (first, end int64, err error) {
	for _, ask := range []struct {
		of func(context.Context, ...string) (kadm.ListedOffsets, error)
		to *int64
	}{{m.admin.ListStartOffsets, &first}, {m.admin.ListEndOffsets, &end}} {
		listed, err := ask.of(ctx, m.cfg.Topic)
		if err != nil {
			return 0, 0, err
		}
		o, ok := listed.Lookup(m.cfg.Topic, 0)
		if !ok || o.Err != nil {
			return 0, 0, errors.Join(errors.New("its offsets are not known"), o.Err)
		}
		*ask.to = o.Offset
	}
	return first, end, nil
}

func (m *Member) entry(r shares.Record) (*kgo.Record, error) {
	if r.Kind != shares.Snapshot {
		r.Bound = m.cfg.Bound
	}
	value, err := r.Encode()
	if err != nil {
		return nil, fmt.Errorf("sharelog: %w", err)
	}
	return &kgo.Record{Topic: m.cfg.Topic, Partition: 0, Key: []byte(r.Bound), Value: value}, nil
}
