package engine

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"kafkabench.example/kafka-bench/kmq/internal/lease"
)

// Topics describes the topics of an engine.
type Topics struct {
	Partitions           int
	Replication          int
	DeadLetterPartitions int // 0: no dead-letter topic
	RetryPartitions      int // 0: no retry topic
}

// LookUp calls CheckTopics with a client of its own.
func LookUp(ctx context.Context, cfg Config) (Topics, error) {
	cl, err := kgo.NewClient(cfg.ClientOptions()...)
	if err != nil {
		return Topics{}, fmt.Errorf("%w: %w", lease.ErrConfig, err)
	}
	defer cl.Close()
	return CheckTopics(ctx, cl, cfg)
}

// CheckTopics checks the queue's topic, which must exist, and the group's retry and dead-letter topics, which it creates
// with the same shape if they are missing. It logs if these keep less than the queue's topic. The error is lease.ErrConfig
// or the cluster's.
func CheckTopics(ctx context.Context, cl *kgo.Client, cfg Config) (Topics, error) {
	queue, err := awaitShape(ctx, cl, cfg.Topic, unseenFor)
	switch {
	case errors.Is(err, errUnseen):
		return Topics{}, fmt.Errorf("%w: topic %s does not exist: create it with the number of partitions that the queue needs", lease.ErrConfig, cfg.Topic)
	case err != nil:
		return Topics{}, err
	}
	if err := warnCompacted(ctx, cl, cfg); err != nil {
		return Topics{}, err
	}
	all := queue
	if all.DeadLetterPartitions, err = ensureOwn(ctx, cl, cfg, cfg.DeadLetterTopic, "dead_letter_topic", queue); err != nil {
		return Topics{}, err
	}
	all.RetryPartitions, err = ensureOwn(ctx, cl, cfg, cfg.RetryTopic, "retry_topic", queue)
	return all, err
}

// ensureOwn creates a topic of the group unless it exists, and returns its number of partitions.
func ensureOwn(ctx context.Context, cl *kgo.Client, cfg Config, name, what string, queue Topics) (partitions int, err error) {
	if name == "" {
		return 0, nil
	}
	is, err := EnsureTopic(ctx, cl, name, cfg.Topic, queue, keptForever())
	if err != nil {
		return 0, err
	}
	weaker, err := Weaker(ctx, cl, name, cfg.Topic, is, queue)
	if len(weaker) > 0 {
		cfg.Log.Warn("kmq: a topic of the group keeps records less well than the queue's", what, name, "weaker", weaker)
	}
	return is.Partitions, err
}

func compacted(configs map[string]string) bool {
	return strings.Contains(configs[cleanupPolicy], "compact")
}

func warnCompacted(ctx context.Context, cl *kgo.Client, cfg Config) error {
	configs, err := TopicConfigs(ctx, cl, cfg.Topic)
	switch {
	case errors.Is(err, kerr.TopicAuthorizationFailed):
		return nil
	case err != nil:
		return err
	}
	if compacted(configs) {
		cfg.Log.Warn("kmq: the queue's topic is compacted: Kafka deletes a record after a later one with its key", cleanupPolicy, configs[cleanupPolicy])
	}
	return nil
}

// DeadLetterTopic is the name of a group's dead-letter topic unless it has another one.
func DeadLetterTopic(topic, group string) string { return topic + "." + group + ".dead" }

// RetryTopic is the name of a group's retry topic unless it has another one.
func RetryTopic(topic, group string) string { return topic + "." + group + ".retry" }

func keptForever() map[string]*string {
	return map[string]*string{"retention.ms": new("-1"), "retention.bytes": new("-1")}
}

// Configs that a created topic copies. [Weaker] compares them: more is better, and -1 is the most.
var inherited = []string{minInSync, "retention.ms", "retention.bytes", maxMessageBytes}

const (
	minInSync       = "min.insync.replicas"
	maxMessageBytes = "max.message.bytes"
	cleanupPolicy   = "cleanup.policy"

	// for a copy's extra headers
	headerRoom = 8192
)

// EnsureTopic creates a missing topic like another one. It copies min.insync.replicas, retention
// and max.message.bytes unless configs override them. If the cluster permits, the partitions of
// both topics are on the same brokers. It returns the actual shape.
func EnsureTopic(ctx context.Context, cl *kgo.Client, name, like string, want Topics, configs map[string]*string) (Topics, error) {
	is, err := shape(ctx, cl, name)
	if err != nil || is.Partitions > 0 {
		return is, err
	}
	all := make(map[string]*string, len(configs)+len(inherited))
	theirs, err := TopicConfigs(ctx, cl, like)
	if err != nil && !errors.Is(err, kerr.TopicAuthorizationFailed) { // without the permission: the brokers' defaults
		return Topics{}, err
	}
	for _, key := range inherited {
		v, ok := theirs[key]
		if !ok {
			continue
		}
		if n, err := strconv.ParseInt(v, 10, 32); key == maxMessageBytes && err == nil {
			v = strconv.FormatInt(min(n+headerRoom, math.MaxInt32), 10)
		}
		all[key] = &v
	}
	for k, v := range configs {
		all[k] = v
	}
	err = createBeside(ctx, cl, name, like, want.Partitions, all)
	if err != nil && !errors.Is(err, kerr.TopicAlreadyExists) { // a broker is gone, or the cluster itself places replicas
		_, err = kadm.NewClient(cl).CreateTopic(ctx, int32(want.Partitions), int16(want.Replication), all, name)
	}
	switch {
	case errors.Is(err, kerr.TopicAlreadyExists): // another queue created it
		return awaitShape(ctx, cl, name, createdFor)
	case err != nil:
		return Topics{}, fmt.Errorf("kmq: create topic %s: %w; create it with kafka-topics.sh --create --topic %s --partitions %d --replication-factor %d%s",
			name, err, name, want.Partitions, want.Replication, configFlags(all))
	}
	return awaitShape(ctx, cl, name, createdFor)
}

func configFlags(configs map[string]*string) (flags string) {
	for _, key := range slices.Sorted(maps.Keys(configs)) {
		flags += " --config " + key + "=" + *configs[key]
	}
	return flags
}

// createBeside gives partitions the same brokers and leaders as another topic's, so that one
// request can serve both topics.
func createBeside(ctx context.Context, cl *kgo.Client, name, other string, partitions int, configs map[string]*string) error {
	all, err := kadm.NewClient(cl).ListTopics(ctx, other)
	if err != nil {
		return err
	}
	if all[other].Err != nil || len(all[other].Partitions) != partitions {
		return errUnseen // a broker does not know all partitions: the shape would be wrong
	}
	topic := kmsg.NewCreateTopicsRequestTopic()
	topic.Topic, topic.NumPartitions, topic.ReplicationFactor = name, -1, -1
	for _, p := range all[other].Partitions.Sorted() {
		at := kmsg.NewCreateTopicsRequestTopicReplicaAssignment()
		at.Partition, at.Replicas = p.Partition, p.Replicas
		topic.ReplicaAssignment = append(topic.ReplicaAssignment, at)
	}
	for key, value := range configs {
		config := kmsg.NewCreateTopicsRequestTopicConfig()
		config.Name, config.Value = key, value
		topic.Configs = append(topic.Configs, config)
	}
	req := kmsg.NewPtrCreateTopicsRequest()
	req.Topics = append(req.Topics, topic)
	resp, err := req.RequestWith(ctx, cl)
	if err != nil {
		return err
	}
	if len(resp.Topics) != 1 {
		return errUnseen
	}
	return kerr.ErrorForCode(resp.Topics[0].ErrorCode)
}

// Weaker lists in which respects a topic keeps records less well than another: replication,
// min.insync.replicas, retention, max.message.bytes, and compaction if the other is not compacted.
// Without permission to read the configuration it compares only the replication; the parameters is
// and want are the two shapes.
func Weaker(ctx context.Context, cl *kgo.Client, name, than string, is, want Topics) ([]string, error) {
	var all []string
	if is.Replication < want.Replication {
		all = append(all, fmt.Sprintf("%d replicas, not %d", is.Replication, want.Replication))
	}
	ours, err := TopicConfigs(ctx, cl, name)
	var theirs map[string]string
	if err == nil {
		theirs, err = TopicConfigs(ctx, cl, than)
	}
	switch {
	case errors.Is(err, kerr.TopicAuthorizationFailed):
		return all, nil
	case err != nil:
		return nil, err
	}
	for _, key := range inherited {
		if less(ours[key], theirs[key]) {
			all = append(all, fmt.Sprintf("%s=%s, not %s", key, ours[key], theirs[key]))
		}
	}
	if compacted(ours) && !compacted(theirs) {
		all = append(all, fmt.Sprintf("%s=%s, not %s", cleanupPolicy, ours[cleanupPolicy], theirs[cleanupPolicy]))
	}
	return all, nil
}

// In less, -1 is the largest.
func less(a, b string) bool {
	x, errX := strconv.ParseInt(a, 10, 64)
	y, errY := strconv.ParseInt(b, 10, 64)
	switch {
	case errX != nil || errY != nil || x < 0:
		return false
	case y < 0:
		return true
	}
	return x < y
}

// TopicConfig reads one config of a topic; nil without a value.
func TopicConfig(ctx context.Context, cl *kgo.Client, topic, key string) (*string, error) {
	all, err := TopicConfigs(ctx, cl, topic)
	if v, ok := all[key]; ok {
		return &v, nil
	}
	return nil, err
}

// TopicConfigs reads the configs of a topic that have a value. It retries while some brokers do not know the topic.
func TopicConfigs(ctx context.Context, cl *kgo.Client, topic string) (map[string]string, error) {
	wait, until := NewWait(), time.Now().Add(unseenFor)
	for {
		all, err := tryTopicConfigs(ctx, cl, topic)
		if err == nil {
			return all, nil
		}
		err = fmt.Errorf("kmq: read the configuration of topic %s: %w", topic, err)
		if !kerr.IsRetriable(err) || time.Now().After(until) || wait.Sleep(ctx) != nil {
			return nil, err
		}
	}
}

func tryTopicConfigs(ctx context.Context, cl *kgo.Client, topic string) (map[string]string, error) {
	configs, err := kadm.NewClient(cl).DescribeTopicConfigs(ctx, topic)
	if err == nil && len(configs) > 0 {
		err = configs[0].Err
	}
	if err != nil {
		return nil, err
	}
	all := make(map[string]string)
	for _, of := range configs {
		for _, c := range of.Configs {
			if c.Value != nil {
				all[c.Key] = *c.Value
			}
		}
	}
	return all, nil
}

// shape returns 0 partitions if the topic does not exist. It asks for the rights, too, since what a client has cached
// hides a new topic.
func shape(ctx context.Context, cl *kgo.Client, topic string) (Topics, error) {
	all, err := kadm.NewClient(cl).ListTopics(kadm.WithAuthorizedOps(ctx), topic)
	if err != nil {
		return Topics{}, fmt.Errorf("kmq: look up topic %s: %w", topic, err)
	}
	detail := all[topic]
	switch {
	case errors.Is(detail.Err, kerr.UnknownTopicOrPartition):
		return Topics{}, nil
	case detail.Err != nil:
		return Topics{}, fmt.Errorf("kmq: look up topic %s: %w", topic, detail.Err)
	}
	return Topics{Partitions: len(detail.Partitions), Replication: detail.Partitions.NumReplicas()}, nil
}

// createdFor is longer: on busy brokers, the creation of 192 replicas took more than 3 s.
const (
	unseenFor  = 3 * time.Second
	createdFor = 30 * time.Second
)

var errUnseen = errors.New("brokers do not know the topic")

// awaitShape waits until the topic exists, and returns errUnseen if that takes too long.
func awaitShape(ctx context.Context, cl *kgo.Client, topic string, within time.Duration) (Topics, error) {
	wait, until := NewWait(), time.Now().Add(within)
	for {
		is, err := shape(ctx, cl, topic)
		switch {
		case err != nil || is.Partitions > 0:
			return is, err
		case time.Now().After(until):
			return Topics{}, fmt.Errorf("kmq: look up topic %s: %w", topic, errUnseen)
		}
		if err := wait.Sleep(ctx); err != nil {
			return Topics{}, fmt.Errorf("kmq: look up topic %s: %w", topic, err)
		}
	}
}
