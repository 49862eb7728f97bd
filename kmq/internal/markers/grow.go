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

	"kafkabench.example/kafka-bench/kmq/internal/engine"
	"kafkabench.example/kafka-bench/kmq/internal/lease"
)

// What it takes to grow the topic of a queue that is in use: each of its partitions needs one
// of markers.

const (
	// newWithin is after how long at most a client sees a partition that is new. Queues and
	// trackers each have to, or what was lent of it is redelivered by nobody meanwhile.
	newWithin = 10 * time.Second
	// growFor bounds an attempt to grow the markers' topic.
	growFor = 5 * time.Second
)

// grow gives the markers' topic as many partitions as the queue's has. The error is
// lease.ErrConfig where the cluster refuses it, or where there are more already.
func grow(ctx context.Context, cl *kgo.Client, cfg *engine.Config) error {
	all, err := kadm.NewClient(cl).ListTopics(ctx, cfg.Topic, cfg.MarkersTopic)
	if err == nil {
		err = errors.Join(all[cfg.Topic].Err, all[cfg.MarkersTopic].Err)
	}
	if err != nil {
		return fmt.Errorf("kmq: look up topics %s and %s: %w", cfg.Topic, cfg.MarkersTopic, err)
	}
	have, queue := len(all[cfg.MarkersTopic].Partitions), all[cfg.Topic].Partitions.Sorted()
	is := fmt.Sprintf("topic %s has %d partitions and the markers' topic %s has %d", cfg.Topic, len(queue), cfg.MarkersTopic, have)
	switch {
	case have > len(queue):
		return fmt.Errorf("%w: %s: they must have as many; delete the markers once the queue is empty, or name another MarkersTopic", lease.ErrConfig, is)
	case have == len(queue):
		return nil
	}
	err = addBeside(ctx, cl, cfg.MarkersTopic, queue, have)
	switch {
	case err == nil, errors.Is(err, kerr.InvalidPartitions): // another queue was quicker
		return nil
	case errors.As(err, new(*kerr.Error)) && !kerr.IsRetriable(err):
		return fmt.Errorf("%w: %s, and the cluster does not let the queue raise that: raise it to as many, or permit ALTER on it: %w", lease.ErrConfig, is, err)
	}
	return fmt.Errorf("kmq: %s: raise it: %w", is, err)
}

// addBeside adds to a topic those partitions that another one has beyond it, each on the
// brokers of the other's, as the first ones were created; where that is refused, where the
// cluster likes.
func addBeside(ctx context.Context, cl *kgo.Client, name string, other []kadm.PartitionDetail, have int) error {
	topic := kmsg.NewCreatePartitionsRequestTopic()
	topic.Topic, topic.Count = name, int32(len(other))
	for _, p := range other[have:] {
		at := kmsg.NewCreatePartitionsRequestTopicAssignment()
		at.Replicas = p.Replicas
		topic.Assignment = append(topic.Assignment, at)
	}
	err := addPartitions(ctx, cl, topic)
	if errors.Is(err, kerr.InvalidReplicaAssignment) || errors.Is(err, kerr.InvalidRequest) {
		topic.Assignment = nil
		err = addPartitions(ctx, cl, topic)
	}
	return err
}

func addPartitions(ctx context.Context, cl *kgo.Client, topic kmsg.CreatePartitionsRequestTopic) error {
	req := kmsg.NewPtrCreatePartitionsRequest()
	req.TimeoutMillis = int32(growFor.Milliseconds())
	req.Topics = append(req.Topics, topic)
	resp, err := req.RequestWith(ctx, cl)
	if err != nil {
		return err
	}
	if len(resp.Topics) != 1 {
		return fmt.Errorf("kmq: add partitions to topic %s: the answer has it not", topic.Topic)
	}
	return kerr.ErrorForCode(resp.Topics[0].ErrorCode)
}

// grown sees to it that there are markers of a partition that the queue's topic did not have
// when it was opened, and that those who write them see it.
func (q *queue) grown(ctx context.Context, partition int32) error {
	if int(partition) < q.topics.Partitions {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, growFor)
	defer cancel()
	err := grow(ctx, q.writer, &q.cfg)
	q.writer.ForceMetadataRefresh()
	if q.starts.txns != nil {
		q.starts.txns.cl.ForceMetadataRefresh()
	}
	return err
}
