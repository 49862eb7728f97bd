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

// ReplicaReader reads how a topic's replicas stand, with clients of its own, while
// brokers come and go. It asks one broker for as long as that answers: what brokers
// know is not equally fresh, and one that has just come back may tell of times past.
// Only when the one that was asked is silent for answerTimeout, the next is asked. It
// is not synchronised.
type ReplicaReader struct {
	clients []*kgo.Client // one for each broker
	asked   int           // who is asked first
	topic   string
}

// answerTimeout bounds one question to one broker. One that is paused accepts
// connections and says nothing.
const answerTimeout = 500 * time.Millisecond

// NoLeader is the leader of a partition that has none.
const NoLeader int32 = -1

// PartitionReplicas is how the replicas of one partition stand, as a broker's metadata
// tells.
type PartitionReplicas struct {
	Leader   int32 // a broker's ID, or NoLeader
	Replicas int
	InSync   int
}

// NewReplicaReader returns a reader of a topic's replicas; Close ends its clients.
func NewReplicaReader(brokers []string, a access.Access, topic string) (*ReplicaReader, error) {
	r := &ReplicaReader{topic: topic}
	for _, broker := range brokers {
		client, err := kgo.NewClient(append(a.Options(),
			kgo.SeedBrokers(broker),
			kgo.ClientID("kafka-bench-replicas"),
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

// Close ends the reader's clients.
func (r *ReplicaReader) Close() {
	for _, client := range r.clients {
		client.Close()
	}
}

// Read asks how each partition stands, by its number. An error says that no broker
// answered.
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
	return nil, fmt.Errorf("no broker tells of the replicas of topic %s: %w", r.topic, failed)
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

// minInSync is how a topic, and a broker's default for topics, names how many
// replicas must be in sync for acks all.
const minInSync = "min.insync.replicas"

// MinInSync asks for the topic's min.insync.replicas, be it the topic's own or the
// brokers' default.
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
	return 0, errors.Join(fmt.Errorf("the brokers do not tell %s of topic %s", minInSync, r.topic), err)
}
