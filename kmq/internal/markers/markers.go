// Package markers is the engine of kmq as it was published: it writes what happens to records into
// a second topic, the markers.
//
// A start marker is durable, and the group's offsets are committed behind it, before a record is
// handed out. An acknowledgement writes an end marker. A redelivery tracker (see [Tracker]) reads
// the markers with a group of its own, and copies each record whose lock has expired without an end
// to the group's retry topic, for another delivery. Kafka's log has it all: whoever crashes, and when,
// another one continues. So only first deliveries are in the order of the queue's topic.
//
// Files to know: markers.go, queue.go, starts.go, outbox.go, tracker.go, partition.go, redeliver.go.
package markers

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"

	"kafkabench.example/kafka-bench/kmq/internal/engine"
	"kafkabench.example/kafka-bench/kmq/internal/lease"
	"kafkabench.example/kafka-bench/kmq/internal/marker"
	"kafkabench.example/kafka-bench/kmq/internal/retention"
)

// Configs of topics that matter here.
const (
	timestampType = "message.timestamp.type"
	logAppendTime = "LogAppendTime"
	cleanupPolicy = "cleanup.policy"
)

// newWithin is the longest time until a client sees a new partition.
const newWithin = 10 * time.Second

// prepare checks the topics of a queue and creates the markers' if it is missing: with the
// partitions, replicas and retention of the queue's, and with the broker's time on each marker. If
// the queue's topic has grown, it adds partitions to the markers'. Errors are lease.ErrConfig or the
// cluster's.
func prepare(ctx context.Context, cfg *engine.Config) (engine.Topics, error) {
	cfg.Client = append([]kgo.Opt{kgo.MetadataMaxAge(newWithin)}, cfg.Client...)
	cl, err := kgo.NewClient(cfg.ClientOptions(kgo.MetadataMinAge(50 * time.Millisecond))...)
	if err != nil {
		return engine.Topics{}, fmt.Errorf("%w: %w", lease.ErrConfig, err)
	}
	defer cl.Close()
	shape, err := engine.CheckTopics(ctx, cl, *cfg)
	if err != nil {
		return engine.Topics{}, err
	}
	if n := shape.RetryPartitions; n == 0 || n > shape.Partitions {
		return engine.Topics{}, fmt.Errorf("%w: the retry topic %q has %d partitions and topic %s has %d: name another RetryTopic",
			lease.ErrConfig, cfg.RetryTopic, n, cfg.Topic, shape.Partitions)
	}
	appended, deleted, unbounded := logAppendTime, "delete", "-1"
	configs := map[string]*string{timestampType: &appended, cleanupPolicy: &deleted, retention.Bytes: &unbounded}
	made, err := engine.EnsureTopic(ctx, cl, cfg.MarkersTopic, cfg.Topic, shape, configs)
	if err == nil && made.Partitions != shape.Partitions {
		err = grow(ctx, cl, cfg)
	}
	if err != nil {
		return engine.Topics{}, err
	}
	return shape, checkMarkersTopic(ctx, cl, cfg.MarkersTopic)
}

// checkMarkersTopic refuses a topic that does not keep the brokers' time, or the markers.
func checkMarkersTopic(ctx context.Context, cl *kgo.Client, topic string) error {
	configs, err := engine.TopicConfigs(ctx, cl, topic)
	if err != nil {
		return err
	}
	var faults []error
	for key, want := range map[string]string{timestampType: logAppendTime, cleanupPolicy: "delete"} {
		if is, ok := configs[key]; ok && is != want {
			faults = append(faults, fmt.Errorf("%w: topic %s has %s=%s; set it to %s", lease.ErrConfig, topic, key, is, want))
		}
	}
	return errors.Join(faults...)
}

// grow gives the markers' topic as many partitions as the queue's has, each on the brokers of its
// records if the cluster permits. The error is lease.ErrConfig if the cluster refuses it, or if the
// markers' topic has more.
func grow(ctx context.Context, cl *kgo.Client, cfg *engine.Config) error {
	adm := kadm.NewClient(cl)
	all, err := adm.ListTopics(ctx, cfg.Topic, cfg.MarkersTopic)
	if err == nil {
		err = errors.Join(all[cfg.Topic].Err, all[cfg.MarkersTopic].Err)
	}
	if err != nil {
		return fmt.Errorf("kmq: look up topics %s and %s: %w", cfg.Topic, cfg.MarkersTopic, err)
	}
	have, want := len(all[cfg.MarkersTopic].Partitions), len(all[cfg.Topic].Partitions)
	is := fmt.Sprintf("topic %s has %d partitions and the markers' topic %s has %d", cfg.Topic, want, cfg.MarkersTopic, have)
	switch {
	case have > want:
		return fmt.Errorf("%w: %s: they must have as many; delete the markers once the queue is empty, or name another MarkersTopic",
			lease.ErrConfig, is)
	case have == want:
		return nil
	}
	grown, err := adm.UpdatePartitions(ctx, want, cfg.MarkersTopic)
	if err == nil {
		err = grown[cfg.MarkersTopic].Err
	}
	switch {
	case err == nil, errors.Is(err, kerr.InvalidPartitions): // another queue was quicker
		return nil
	case errors.As(err, new(*kerr.Error)) && !kerr.IsRetriable(err):
		return fmt.Errorf("%w: %s, and the cluster does not let the queue raise that: raise it to as many, or permit ALTER on it: %w",
			lease.ErrConfig, is, err)
	}
	return fmt.Errorf("kmq: %s: raise it: %w", is, err)
}

// writerOptions are those of a client that writes markers and copies.
func writerOptions(cfg *engine.Config) []kgo.Opt {
	opts := append(cfg.ProducerOptions(),
		kgo.MetadataMinAge(100*time.Millisecond), // after a failure, before it is tried again
		kgo.ProducerBatchCompression(kgo.NoCompression()),
		kgo.MaxBufferedRecords(1<<22), // the queue has its own bound
	)
	if cfg.AcksLeader { // a producer that is not idempotent would else change the order of markers
		opts = append(opts, kgo.MaxProduceRequestsInflightPerBroker(1))
	}
	return opts
}

// scribe makes the markers of one group. Its topic may have those of others, too, which work on the
// same records.
type scribe struct {
	topic string
	group uint32
}

func newScribe(cfg *engine.Config) scribe {
	return scribe{topic: cfg.MarkersTopic, group: marker.Of(cfg.Group)}
}

// record returns a marker to be produced.
func (s scribe) record(m marker.Marker) *kgo.Record {
	if m.Type != marker.Tick {
		m.Group = s.group
	}
	_, key, value := marker.Append(make([]byte, 0, marker.Size), m)
	return &kgo.Record{Topic: s.topic, Partition: lease.NumberInTopic(m.Partition), Key: key, Value: value}
}

// owns reports whether a marker is of the group; a marker without a group may be.
func (s scribe) owns(m marker.Marker) bool { return m.Group == 0 || m.Group == s.group }
