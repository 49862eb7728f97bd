package scenario

import (
	"fmt"
	"strconv"
	"strings"

	"kafkabench.example/kafka-bench/internal/plan/unit"
)

// maxTopicLength is Kafka's; a chosen name must leave space for a suffix.
const (
	maxTopicLength  = 249
	maxChosenLength = maxTopicLength - len("-markers-100")
)

// brokerLimit is the default of message.max.bytes: 1 MiB and twelve bytes of log overhead.
const brokerLimit = unit.Size(1<<20 + 12)

// Format v2: a batch's header, and a record's lengths and deltas at their longest and shortest.
const (
	batchOverhead  = unit.Size(61)
	recordOverhead = unit.Size(21)
	leastOverhead  = unit.Size(7)
	keyAllowance   = unit.Size(32) // the longest key of package payload
)

func (c *checker) topic(s Scenario) {
	t := s.Topic
	if t.Existing != "" {
		c.existing(t)
		return
	}
	if t.Name != "" {
		c.kafkaName("topic.name", t.Name, "topic", maxChosenLength)
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
	c.compacted(s)
}

// KeysForCompaction is the remedy if a compacted topic would get records without keys.
const KeysForCompaction = "give load.record.keys, for example uniform, or a topic with cleanup.policy=delete"

// compacted: brokers refuse every record without a key in a compacted topic.
func (c *checker) compacted(s Scenario) {
	path, policy := "topic.config.cleanup.policy", s.Topic.Config["cleanup.policy"]
	if policy == "" {
		path, policy = "cluster.config.log.cleanup.policy", s.Cluster.Config["log.cleanup.policy"]
	}
	if s.Keyless() && strings.Contains(policy, "compact") {
		c.mistake(path, "a compacted topic takes no records without keys, and load.record.keys is none", KeysForCompaction,
			"load.record.keys")
	}
}

// Keyless reports whether the run writes records without keys.
func (s Scenario) Keyless() bool {
	return (s.Load.Producers > 0 || s.Filled()) && s.Load.Record.Keys.Distribution == "none"
}

func (c *checker) fill(s Scenario) {
	const path = "topic.fill"
	t := s.Topic
	c.amount(path, t.Fill, "topic.fill_records", t.FillRecords, t.FillRecordsEach, s.Fillers(), "topic.fill_producers")
	c.between("topic.fill_producers", int64(t.FillProducers), 0, maxWorkers)
	if !s.Filled() {
		if t.FillProducers > 0 {
			c.mistake("topic.fill_producers", "there is nothing to fill the topic with",
				"give topic.fill or topic.fill_records, or leave it out", path, "topic.fill_records", "topic.fill_records_each")
		}
		return
	}
	if _, largest := s.Load.Record.Size.Bounds(); s.Topic.Fill > 0 && s.Topic.Fill < largest {
		c.mistake(path, fmt.Sprintf("%s is less than one record of %s", s.Topic.Fill, largest),
			"give more, or leave it out", "load.record.size")
	}
	const setting = "retention.bytes"
	keeps, err := strconv.ParseInt(s.Topic.Config[setting], 10, 64)
	if err == nil && keeps >= 0 && keeps < int64(s.FillBytes())/int64(max(1, s.Topic.Partitions)) {
		c.mistake("topic.config."+setting,
			fmt.Sprintf("a partition keeps %s, and its part of a fill of %s is more", unit.Bytes(keeps),
				unit.Size(s.FillBytes())),
			"raise it, or leave it out", path, "topic.fill_records", "topic.partitions")
	}
}

func (c *checker) existing(t Topic) {
	const made = "leave topic.existing out to create a topic"
	for _, key := range written(keyed{"topic.fill", t.Fill != 0}, keyed{"topic.fill_records", t.FillRecords != 0},
		keyed{"topic.fill_records_each", t.FillRecordsEach != 0}, keyed{"topic.fill_producers", t.FillProducers != 0}) {
		c.mistake(key, "an existing topic is never filled, because its records are not the run's",
			"leave "+key+" out, or "+made, "topic.existing")
	}
	if t.Name != "" {
		c.mistake("topic.name", "it names a new topic, and topic.existing an existing one",
			"leave one of them out", "topic.existing")
	}
	switch {
	case !c.kafkaName("topic.existing", t.Existing, "topic", maxTopicLength):
	case strings.HasPrefix(t.Existing, "_"):
		c.mistake("topic.existing", fmt.Sprintf("%q begins with _, as topics do in which Kafka and its tools keep their own data", t.Existing),
			"name a topic of records, or "+made)
	case len(t.Config) > 0:
		c.mistake("topic.config", "an existing topic keeps its own configuration",
			"leave topic.config out, or "+made, "topic.existing")
	}
}

// A group's name must be valid for a topic too: a queue derives topic names from it.
func (c *checker) kafkaName(path, name, of string, most int) bool {
	if strings.Trim(name, ".") != "" && len(name) <= most &&
		!strings.ContainsFunc(name, func(r rune) bool { return !nameLetter(r) }) {
		return true
	}
	c.mistake(path, fmt.Sprintf("%q cannot be the name of a %s", name, of),
		fmt.Sprintf("a %s's name has letters, digits, dots, hyphens and underscores, %d at most", of, most))
	return false
}

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

// limit is 0 if unknown, path the setting to raise.
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
