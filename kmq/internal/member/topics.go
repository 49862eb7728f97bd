package member

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"kafkabench.example/kafka-bench/kmq/internal/lease"
)

// With Config.Retries, a member reads two topics. It knows a partition of the retry topic by a number below zero, as
// [lease.Retry] says, and so do its engine and its leases: only what the client gets has the names of topics.

// number returns the number by which a partition of a topic is known.
func (m *Member) number(topic string, partition int32) int32 {
	if topic != m.cfg.Topic && topic == m.cfg.RetryTopic {
		return lease.Retry(partition)
	}
	return partition
}

// topicOf returns the topic of a partition.
func (m *Member) topicOf(number int32) string {
	if lease.IsRetry(number) {
		return m.cfg.RetryTopic
	}
	return m.cfg.Topic
}

// numbers returns the numbers of partitions, by topic.
func (m *Member) numbers(of map[string][]int32) (all []int32) {
	for topic, partitions := range of {
		for _, p := range partitions {
			all = append(all, m.number(topic, p))
		}
	}
	slices.Sort(all)
	return all
}

// byTopic returns values of partitions by topic and partition.
func byTopic[V any](m *Member, of map[int32]V) map[string]map[int32]V {
	all := make(map[string]map[int32]V, 2)
	for number, v := range of {
		topic := m.topicOf(number)
		if all[topic] == nil {
			all[topic] = make(map[int32]V, len(of))
		}
		all[topic][lease.NumberInTopic(number)] = v
	}
	return all
}

// forClient returns a partition with the name of its topic.
func (m *Member) forClient(number int32) map[string][]int32 {
	return map[string][]int32{m.topicOf(number): {lease.NumberInTopic(number)}}
}

// logged returns the attributes of a log line that name partitions, given in rising order.
func logged(numbers []int32) []any {
	first := slices.IndexFunc(numbers, func(n int32) bool { return !lease.IsRetry(n) })
	if first < 0 {
		first = len(numbers)
	}
	attrs := []any{"partitions", numbers[first:]}
	if first > 0 {
		retries := make([]int32, first)
		for i, n := range numbers[:first] {
			retries[first-1-i] = lease.NumberInTopic(n)
		}
		attrs = append(attrs, "retry_partitions", retries)
	}
	return attrs
}

// namesFor is how old the known names of topics may be.
const namesFor = time.Minute

// nameOf returns the name of a topic that a response names, perhaps by its ID alone.
func (m *Member) nameOf(ctx context.Context, name string, id [16]byte) (string, error) {
	if name != "" || !m.cfg.Retries {
		return cmp.Or(name, m.cfg.Topic), nil
	}
	req := kmsg.NewPtrMetadataRequest()
	for _, topic := range []string{m.cfg.Topic, m.cfg.RetryTopic} {
		of := kmsg.NewMetadataRequestTopic()
		of.Topic = kmsg.StringPtr(topic)
		req.Topics = append(req.Topics, of)
	}
	resp, err := m.client.RequestCachedMetadata(ctx, req, namesFor)
	if err != nil {
		return "", fmt.Errorf("kmq: look up the names of topics: %w", err)
	}
	for _, t := range resp.Topics {
		if t.TopicID == id && t.Topic != nil {
			return *t.Topic, nil
		}
	}
	return "", fmt.Errorf("kmq: a response has a topic with the ID %x, which is neither %s nor %s", id, m.cfg.Topic, m.cfg.RetryTopic)
}

// checkRetries ends the member if the retry topic has a record of another queue.
func (m *Member) checkRetries(records []*kgo.Record) (own bool) {
	for _, r := range records {
		if err := lease.CheckRetry(r, m.cfg.Topic, m.cfg.Group); err != nil {
			m.finish(err)
			return false
		}
	}
	return true
}
