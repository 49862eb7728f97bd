package cluster

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"kafkabench.example/kafka-bench/internal/kafka/access"
)

const (
	// A restarted broker first waits until its former session expires (9 s by default).
	readyTimeout  = 2 * time.Minute
	readyPoll     = 20 * time.Millisecond
	answerTimeout = 2 * time.Second
)

// An open port is not enough: a broker listens long before it is ready.
func awaitReady(ctx context.Context, brokers []*Broker, want int) error {
	ctx, cancel := context.WithTimeout(ctx, readyTimeout)
	defer cancel()
	for _, b := range brokers {
		if err := b.awaitReady(ctx, brokers, want); err != nil {
			return err
		}
	}
	return nil
}

func (b *Broker) awaitReady(ctx context.Context, all []*Broker, want int) error {
	client, err := newClient([]string{b.Addr()}, access.Access{}, kgo.RequestRetries(0),
		kgo.RetryTimeout(answerTimeout))
	if err != nil {
		return err
	}
	defer client.Close()
	for {
		last := askReady(ctx, client.SeedBrokers()[0], b.ID(), want)
		if last == nil {
			return nil
		}
		for _, other := range all {
			if !other.Alive() {
				return other.deathError("died while starting")
			}
		}
		select {
		case <-ctx.Done():
			return b.notReadyError(ctx, last)
		case <-time.After(readyPoll):
		}
	}
}

func (b *Broker) notReadyError(ctx context.Context, last error) error {
	if errors.Is(ctx.Err(), context.Canceled) {
		return ctx.Err()
	}
	return &Error{
		Kind: ErrUnavailable, What: fmt.Sprintf("broker %d runs, but was not ready in time", b.ID()), Cause: last,
		Remedy: "give the brokers more CPU, or start fewer", Log: b.logTail(),
	}
}

func askReady(ctx context.Context, broker *kgo.Broker, id int32, want int) error {
	ctx, cancel := context.WithTimeout(ctx, answerTimeout)
	defer cancel()
	if err := askMembers(ctx, broker, id, want); err != nil {
		return err
	}
	return askQuorum(ctx, broker)
}

func askMembers(ctx context.Context, broker *kgo.Broker, id int32, want int) error {
	req := kmsg.NewPtrMetadataRequest()
	req.Topics = []kmsg.MetadataRequestTopic{} // none; nil would mean all
	resp, err := broker.Request(ctx, req)
	if err != nil {
		return err
	}
	members := resp.(*kmsg.MetadataResponse).Brokers
	listed := false
	for _, member := range members {
		listed = listed || member.NodeID == id
	}
	if len(members) < want || !listed {
		return fmt.Errorf("broker %d knows of %d registered brokers, and waits for %d with itself", id, len(members), want)
	}
	return nil
}

func askQuorum(ctx context.Context, broker *kgo.Broker) error {
	partition := kmsg.NewDescribeQuorumRequestTopicPartition()
	topic := kmsg.NewDescribeQuorumRequestTopic()
	topic.Topic = "__cluster_metadata"
	topic.Partitions = append(topic.Partitions, partition)
	req := kmsg.NewPtrDescribeQuorumRequest()
	req.Topics = append(req.Topics, topic)
	resp, err := broker.Request(ctx, req)
	if err != nil {
		return err
	}
	for _, t := range resp.(*kmsg.DescribeQuorumResponse).Topics {
		for _, p := range t.Partitions {
			if p.ErrorCode == 0 && p.LeaderID > 0 {
				return nil
			}
		}
	}
	return errors.New("the controller quorum has no leader yet")
}
