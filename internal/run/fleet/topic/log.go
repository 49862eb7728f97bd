package topic

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"

	"kafkabench.example/kafka-bench/internal/kafka/cluster"
	"kafkabench.example/kafka-bench/internal/run/fleet/control"
)

// fetchBytes bounds a fetch, and so the client's memory.
const fetchBytes = 8 << 20

func options(cfg Config, topic string) []kgo.Opt {
	return slices.Concat([]kgo.Opt{
		kgo.SeedBrokers(cfg.Brokers...),
		kgo.ClientID("kafka-bench-control"),
		kgo.DisableClientMetrics(),
		kgo.DialTimeout(5 * time.Second),

		kgo.RequiredAcks(kgo.AllISRAcks()), kgo.ProducerLinger(0),
		kgo.RecordPartitioner(kgo.ManualPartitioner()),
		kgo.ProducerBatchCompression(kgo.ZstdCompression()),

		kgo.ConsumePartitions(map[string]map[int32]kgo.Offset{topic: {0: kgo.NewOffset().At(0)}}),
		kgo.ConsumeResetOffset(kgo.NoResetOffset()),
		kgo.FetchMaxBytes(fetchBytes), kgo.FetchMaxPartitionBytes(fetchBytes),
	}, cfg.Access.Options(), cfg.Client)
}

// Append implements control.Log: it waits for the ack. If ctx ends first, the record may still get
// into the log.
func (t *Topic) Append(ctx context.Context, record []byte) error {
	acked := make(chan error, 1)
	t.client.Produce(ctx, &kgo.Record{Topic: t.topic.Name, Value: record}, func(_ *kgo.Record, err error) { acked <- err })
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case err := <-acked:
		if err != nil {
			return fmt.Errorf("append to topic %q: %w", t.topic.Name, err)
		}
		return nil
	}
}

// Read implements control.Log. Only one goroutine may read at a time.
func (t *Topic) Read(ctx context.Context, from int64) ([]control.Entry, error) {
	if from != t.next {
		t.client.SetOffsets(map[string]map[int32]kgo.EpochOffset{t.topic.Name: {0: {Epoch: -1, Offset: from}}})
		t.next = from
	}
	for {
		fetches := t.client.PollFetches(ctx)
		if err := t.lost(ctx, fetches); err != nil {
			return nil, fmt.Errorf("read topic %q: %w", t.topic.Name, err)
		}
		var entries []control.Entry
		fetches.EachRecord(func(r *kgo.Record) {
			if r.Offset >= from {
				entries = append(entries, control.Entry{Offset: r.Offset, Record: r.Value})
				t.next = r.Offset + 1
			}
		})
		if len(entries) > 0 {
			return entries, nil
		}
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
	}
}

// lost ignores errors that the client retries.
func (t *Topic) lost(ctx context.Context, fetches kgo.Fetches) error {
	if fetches.IsClientClosed() {
		return kgo.ErrClientClosed
	}
	var why error
	missing := false
	fetches.EachError(func(_ string, _ int32, err error) {
		var coded *kerr.Error
		var gone *kgo.ErrDataLoss
		if errors.As(err, &gone) || errors.As(err, &coded) && !coded.Retriable {
			why = err
		}
		missing = missing || errors.Is(err, kerr.UnknownTopicID) || errors.Is(err, kerr.UnknownTopicOrPartition)
	})
	if missing && why == nil {
		if now, err := t.admin.UseExisting(ctx, t.topic.Name); errors.Is(err, cluster.ErrInput) || err == nil && now.ID != t.topic.ID {
			return control.ErrGone
		}
	}
	return why
}
