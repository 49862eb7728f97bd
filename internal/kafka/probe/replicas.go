package probe

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"kafkabench.example/kafka-bench/internal/kafka/access"
)

// ReplicaReader reads the state of a topic's replicas while brokers stop and start. It asks another
// broker only if the current one does not answer within answerTimeout, because a broker that has
// just restarted may have old metadata. It is not safe for concurrent use.
type ReplicaReader struct {
	clients []*kgo.Client
	asked   int // index of the client to ask first
	topic   string
}

// answerTimeout bounds one request to one broker. A paused broker accepts connections and does not answer.
const answerTimeout = 500 * time.Millisecond

// NoLeader is the leader of a partition without one.
const NoLeader int32 = -1

// PartitionReplicas is the state of one partition's replicas in a broker's metadata.
type PartitionReplicas struct {
	Leader   int32 // a broker's ID, or NoLeader
	Replicas int
	InSync   int
}

// NewReplicaReader returns a reader of a topic's replicas; the caller must Close it.
func NewReplicaReader(brokers []string, a access.Access, topic string) (*ReplicaReader, error) {
	r := &ReplicaReader{topic: topic}
	for _, broker := range brokers {
		client, err := kgo.NewClient(append(a.Options(),
			kgo.SeedBrokers(broker),
			kgo.ClientID(clientID),
			kgo.DisableClientMetrics(),
			kgo.RequestRetries(0),
			kgo.RetryTimeout(answerTimeout),
		)...)
		if err != nil {
			r.Close()
			return nil, fmt.Errorf("opening the client that reads the replicas: %w", err)
		}
		r.clients = append(r.clients, client)
	}
	return r, nil
}

// Close closes the reader's clients.
func (r *ReplicaReader) Close() {
	for _, client := range r.clients {
		client.Close()
	}
}

// Read returns the state of each partition, by its number. It fails only if no broker answers.
func (r *ReplicaReader) Read(ctx context.Context) ([]PartitionReplicas, error) {
	var failed error
	for range r.clients {
		all, err := r.ask(ctx, r.clients[r.asked])
		if err == nil {
			return all, nil
		}
		failed = errors.Join(failed, err)
		if ctx.Err() != nil {
			break
		}
		r.asked = (r.asked + 1) % len(r.clients)
	}
	return nil, fmt.Errorf("no broker returned the replicas of topic %s: %w", r.topic, failed)
}

func (r *ReplicaReader) ask(ctx context.Context, client *kgo.Client) ([]PartitionReplicas, error) {
	ctx, cancel := context.WithTimeout(ctx, answerTimeout)
	defer cancel()
	entry := kmsg.NewMetadataRequestTopic()
	entry.Topic = &r.topic
	req := kmsg.NewPtrMetadataRequest()
	req.Topics = append(req.Topics, entry)
	resp, err := client.SeedBrokers()[0].Request(ctx, req)
	if err != nil {
		return nil, err
	}
	topics := resp.(*kmsg.MetadataResponse).Topics
	if len(topics) != 1 {
		return nil, fmt.Errorf("the answer has %d topics instead of one", len(topics))
	}
	if err := kerr.ErrorForCode(topics[0].ErrorCode); err != nil {
		return nil, err
	}
	all := make([]PartitionReplicas, len(topics[0].Partitions))
	for _, p := range topics[0].Partitions {
		if int(p.Partition) >= len(all) {
			return nil, fmt.Errorf("the answer has %d partitions, and among them partition %d", len(all), p.Partition)
		}
		all[p.Partition] = PartitionReplicas{Leader: max(p.Leader, NoLeader), Replicas: len(p.Replicas),
			InSync: len(p.ISR)}
	}
	return all, nil
}

const minInSync = "min.insync.replicas"

// MinInSync returns the topic's min.insync.replicas: its own or the brokers' default.
func (r *ReplicaReader) MinInSync(ctx context.Context) (int, error) {
	configs, err := kadm.NewClient(r.clients[r.asked]).DescribeTopicConfigs(ctx, r.topic)
	if err != nil {
		return 0, fmt.Errorf("reading %s of topic %s: %w", minInSync, r.topic, err)
	}
	for _, topic := range configs {
		for _, c := range topic.Configs {
			if c.Key == minInSync && c.Value != nil {
				return strconv.Atoi(*c.Value)
			}
		}
		if topic.Err != nil {
			err = topic.Err
		}
	}
	return 0, errors.Join(fmt.Errorf("the brokers did not return %s of topic %s", minInSync, r.topic), err)
}
