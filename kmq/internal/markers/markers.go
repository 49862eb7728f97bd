// Package markers is the engine that writes what happened to records into a second topic.
//
// Records are handed out as they come. What is settled soon needs no marker: the group's
// offsets pass it. What is still open after a while has a start marker written, and is passed
// once that is durable; an acknowledgement then writes an end marker. So offsets never run
// ahead of what the markers know to be lent. For a while behind a crash, and
// wherever the queue has it so, starts are durable before records are handed out; with
// transactions a poll's starts and its offsets are one write. Without, what was received in the
// last fraction of a second before a crash, and is not committed, is read once more by whoever
// takes the partition over, acknowledged or not, and whether its lock has run out or not: a
// second delivery of the same attempt.
//
// A redelivery tracker (see [Tracker]) reads the markers, with a group of its own, and
// copies what was started and not ended in time to the tail of its partition, from where it
// is delivered again. Kafka's log has it all: whoever crashes, and when, another one goes on
// from there.
//
// A lock runs from when its record was read. While a record waits to be handed out, its
// lock is extended, so that it has at least half of its time left when it is, and no attempt
// is counted that nobody was handed.
//
// Files to know: markers.go, engine.go, part.go, tracker.go, outbox.go, redeliver.go.
package markers

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"

	"kafkabench.example/kafka-bench/kmq/internal/engine"
	"kafkabench.example/kafka-bench/kmq/internal/lease"
	"kafkabench.example/kafka-bench/kmq/internal/marker"
	"kafkabench.example/kafka-bench/kmq/internal/retention"
)

// topics are the shapes of the topics of a queue with markers.
type topics struct {
	engine.Topics
	id      kadm.TopicID // of the queue's topic
	largest int32        // bytes of a batch of the queue's topic
}

// Configs of topics that matter here.
const (
	timestampType   = "message.timestamp.type"
	logAppendTime   = "LogAppendTime"
	retentionTime   = retention.Time
	retentionBytes  = retention.Bytes
	cleanupPolicy   = "cleanup.policy"
	maxMessageBytes = "max.message.bytes"
)

// prepare checks the topics of a queue and creates the markers' if it is missing: with the
// partitions, replicas and retention of the queue's, and with the broker's time on each
// marker. Where the queue's topic has grown since, the markers' grows, too. Every client of
// cfg sees new partitions within newWithin from then on, unless the application has it
// otherwise. Errors are lease.ErrConfig or the cluster's.
func prepare(ctx context.Context, cfg *engine.Config) (topics, error) {
	cfg.Client = append([]kgo.Opt{kgo.MetadataMaxAge(newWithin)}, cfg.Client...)
	// What it knows of a topic must not be from before that was created.
	cl, err := kgo.NewClient(cfg.ClientOptions(kgo.MetadataMinAge(50 * time.Millisecond))...)
	if err != nil {
		return topics{}, fmt.Errorf("%w: %w", lease.ErrConfig, err)
	}
	defer cl.Close()
	shape, err := engine.CheckTopics(ctx, cl, *cfg)
	if err != nil {
		return topics{}, err
	}
	all, err := kadm.NewClient(cl).ListTopics(ctx, cfg.Topic)
	if err != nil {
		return topics{}, fmt.Errorf("kmq: look up topic %s: %w", cfg.Topic, err)
	}
	t := topics{Topics: shape, id: all[cfg.Topic].ID, largest: 1 << 20}
	appended, deleted, unbounded := logAppendTime, "delete", "-1"
	configs := map[string]*string{timestampType: &appended, cleanupPolicy: &deleted, retentionBytes: &unbounded}
	for _, key := range []string{retentionTime, maxMessageBytes} {
		v, err := engine.TopicConfig(ctx, cl, cfg.Topic, key)
		if err != nil {
			return topics{}, err
		}
		if v == nil {
			continue
		}
		configs[key] = v
		if n, err := strconv.ParseInt(*v, 10, 32); err == nil && key == maxMessageBytes {
			t.largest = int32(n)
		}
	}
	made, err := engine.EnsureTopic(ctx, cl, cfg.MarkersTopic, cfg.Topic, shape, configs)
	if err != nil {
		return topics{}, err
	}
	if made.Partitions != shape.Partitions {
		if err := grow(ctx, cl, cfg); err != nil {
			return topics{}, err
		}
	}
	return t, checkConfigs(ctx, cl, cfg)
}

// checkConfigs refuses a markers' topic that does not keep the time, or the markers.
func checkConfigs(ctx context.Context, cl *kgo.Client, cfg *engine.Config) error {
	var faults []error
	kind, err := engine.TopicConfig(ctx, cl, cfg.MarkersTopic, timestampType)
	if err != nil {
		return err
	}
	if kind != nil && *kind != logAppendTime {
		faults = append(faults, fmt.Errorf("%w: topic %s has %s=%s; set it to %s: deadlines are in the broker's time",
			lease.ErrConfig, cfg.MarkersTopic, timestampType, *kind, logAppendTime))
	}
	policy, err := engine.TopicConfig(ctx, cl, cfg.MarkersTopic, cleanupPolicy)
	if err != nil {
		return err
	}
	if policy != nil && *policy != "delete" {
		faults = append(faults, fmt.Errorf("%w: topic %s has %s=%s; set it to delete: compaction would drop the markers of records that are lent",
			lease.ErrConfig, cfg.MarkersTopic, cleanupPolicy, *policy))
	}
	return errors.Join(faults...)
}

// writerOptions are those of a client that writes markers and copies.
func writerOptions(cfg *engine.Config, t topics) []kgo.Opt {
	opts := append(cfg.ProducerOptions(),
		kgo.MetadataMinAge(100*time.Millisecond), // after a failure, before it is tried again
		kgo.ProducerBatchMaxBytes(t.largest),
		kgo.ProducerBatchCompression(kgo.NoCompression()),
		kgo.BrokerMaxWriteBytes(max(100<<20, t.largest)),
		kgo.MaxBufferedRecords(2*unwrittenBound), // starts and extensions find room beside ends
	)
	if cfg.AcksLeader { // a producer that is not idempotent would else change the order of markers
		opts = append(opts, kgo.MaxProduceRequestsInflightPerBroker(1))
	}
	return opts
}

// scribe writes down the markers of one group. Its topic may have those of others, too,
// which work on the same records.
type scribe struct {
	topic string
	group uint32
}

func newScribe(cfg *engine.Config) scribe {
	return scribe{topic: cfg.MarkersTopic, group: marker.Of(cfg.Group)}
}

// record is a marker to be produced.
func (s scribe) record(m marker.Marker) *kgo.Record {
	if m.Type != marker.Tick {
		m.Group = s.group
	}
	_, key, value := marker.Append(make([]byte, 0, marker.Size), m)
	return &kgo.Record{Topic: s.topic, Partition: m.Partition, Key: key, Value: value}
}

// ours is whether a marker is of the group, as all are that do not say.
func (s scribe) ours(m marker.Marker) bool { return m.Group == 0 || m.Group == s.group }

// write produces records and returns those that were not written, with the first reason
// why. It returns when all are one or the other.
func write(ctx context.Context, cl *kgo.Client, records []*kgo.Record) (failed []*kgo.Record, err error) {
	for _, r := range cl.ProduceSync(ctx, records...) {
		if r.Err != nil {
			failed = append(failed, r.Record)
			if err == nil {
				err = fmt.Errorf("kmq: write to partition %d of topic %s: %w", r.Record.Partition, r.Record.Topic, r.Err)
			}
		}
	}
	return failed, err
}
