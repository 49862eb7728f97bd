package scenario

import (
	"fmt"
	"strconv"
	"strings"

	"kafkabench.example/kafka-bench/internal/plan/unit"
)

// maxTopicLength is Kafka's.
const maxTopicLength = 249

// brokerLimit is Kafka's own message.max.bytes: 1 MiB and twelve bytes of log
// overhead. It bounds a compressed batch.
const brokerLimit = unit.Size(1<<20 + 12)

// What a record costs in a batch beyond its key and value (record batch format
// v2): the batch's header, and a record's lengths and deltas at their longest.
const (
	batchOverhead  = unit.Size(61)
	recordOverhead = unit.Size(21)
	keyAllowance   = unit.Size(32) // the longest key that the payloads make
)

// topic checks the topic, or that a topic of somebody else's is left as it is.
func (c *checker) topic(s Scenario) {
	t := s.Topic
	if t.Existing != "" {
		c.existing(t)
		return
	}
	c.fill(s)
	c.between("topic.partitions", int64(t.Partitions), 1, maxPartitions)
	if !c.between("topic.replication", int64(t.Replication), 1, maxBrokers) {
		return
	}
	if s.Cluster.Brokers >= 1 && t.Replication > s.Cluster.Brokers {
		c.mistake("topic.replication", fmt.Sprintf("%d replicas need as many brokers, and cluster.brokers is %d",
			t.Replication, s.Cluster.Brokers),
			"lower it, or leave cluster.brokers out to have as many as the replication asks for", "cluster.brokers")
	}
	c.minInSync(t)
}

// fill wants what is written into the topic beforehand to be some records at least,
// and to be there still when it is read.
func (c *checker) fill(s Scenario) {
	const path = "topic.fill"
	if s.Topic.Fill == 0 || !c.size(path, s.Topic.Fill, 0, maxVolume) {
		return
	}
	if _, largest := s.Load.Record.Size.Bounds(); s.Topic.Fill < largest {
		c.mistake(path, fmt.Sprintf("%s is less than one record of %s", s.Topic.Fill, largest),
			"give more, or leave it out", "load.record.size")
	}
	const setting = "retention.bytes"
	keeps, err := strconv.ParseInt(s.Topic.Config[setting], 10, 64)
	if err == nil && keeps >= 0 && keeps < int64(s.Topic.Fill)/int64(max(1, s.Topic.Partitions)) {
		c.mistake("topic.config."+setting,
			fmt.Sprintf("a partition keeps %s, and its part of a fill of %s is more", unit.Bytes(keeps), s.Topic.Fill),
			"raise it, or leave it out", path, "topic.partitions")
	}
}

// existing checks the name of a topic that is already there.
func (c *checker) existing(t Topic) {
	switch {
	case strings.Trim(t.Existing, ".") == "" || len(t.Existing) > maxTopicLength ||
		strings.ContainsFunc(t.Existing, func(r rune) bool { return !nameLetter(r) }):
		c.mistake("topic.existing", fmt.Sprintf("%q cannot be the name of a topic", t.Existing),
			fmt.Sprintf("a topic's name has letters, digits, dots, hyphens and underscores, %d at most",
				maxTopicLength))
	case t.Fill != 0:
		c.mistake("topic.fill", "an existing topic is not filled: what is in it is somebody else's",
			"leave topic.fill out, or leave topic.existing out to have a topic made", "topic.existing")
	case len(t.Config) > 0:
		c.mistake("topic.config", "an existing topic keeps its own configuration",
			"leave topic.config out, or leave topic.existing out to have a topic made", "topic.existing")
	}
}

// minInSync refuses a topic that nobody can write to with acks all.
func (c *checker) minInSync(t Topic) {
	const setting = "min.insync.replicas"
	text, ok := t.Config[setting]
	if !ok {
		return
	}
	if least, err := strconv.Atoi(text); err == nil && least > t.Replication {
		c.mistake("topic.config."+setting,
			fmt.Sprintf("%d in-sync replicas can never be reached with a replication of %d",
				least, t.Replication), "lower it, or raise topic.replication", "topic.replication")
	}
}

// batchLimit is the largest batch that the topic will take, and the path of the
// setting to raise; zero where it is not known.
func (s Scenario) batchLimit() (limit unit.Size, path string) {
	path = "topic.config.max.message.bytes"
	if s.Topic.Existing != "" {
		return 0, path
	}
	text, ok := s.Topic.Config["max.message.bytes"]
	if !ok {
		text, ok = s.Cluster.Config["message.max.bytes"]
	}
	if !ok {
		return brokerLimit, path
	}
	limitBytes, err := strconv.ParseInt(text, 10, 32)
	if err != nil {
		return 0, path
	}
	return unit.Size(limitBytes), path
}
