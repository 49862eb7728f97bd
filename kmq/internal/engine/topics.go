package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"

	"kafka-bench/kmq/internal/lease"
)

// Topics are the shapes of the topics that an engine works with.
type Topics struct {
	Partitions           int
	Replication          int
	DeadLetterPartitions int // 0: there is no dead-letter topic
}

// LookUp does what CheckTopics does with a client of its own, before the engine has one.
func LookUp(ctx context.Context, cfg Config) (Topics, error) {
	cl, err := kgo.NewClient(cfg.ClientOptions()...)
	if err != nil {
		return Topics{}, fmt.Errorf("%w: %w", lease.ErrConfig, err)
	}
	defer cl.Close()
	return CheckTopics(ctx, cl, cfg)
}

// CheckTopics looks at the queue's topic, which must be there, and at the dead-letter
// topic, which is created in the same shape if it is missing. Errors are lease.ErrConfig
// or the cluster's.
func CheckTopics(ctx context.Context, cl *kgo.Client, cfg Config) (Topics, error) {
	queue, err := awaitShape(ctx, cl, cfg.Topic)
	switch {
	case errors.Is(err, errUnseen):
		return Topics{}, fmt.Errorf("%w: topic %s is not there: create it with as many partitions as the queue is to have", lease.ErrConfig, cfg.Topic)
	case err != nil:
		return Topics{}, err
	}
	if cfg.DeadLetterTopic == "" {
		return queue, nil
	}
	dead, err := EnsureTopic(ctx, cl, cfg.DeadLetterTopic, cfg.Topic, queue, nil)
	if err != nil {
		return Topics{}, err
	}
	queue.DeadLetterPartitions = dead.Partitions
	return queue, nil
}

// EnsureTopic creates a topic in the shape of another one, with its min.insync.replicas
// and further configs, unless it is there. It returns the shape that it has.
func EnsureTopic(ctx context.Context, cl *kgo.Client, name, like string, want Topics, configs map[string]*string) (Topics, error) {
	is, err := shape(ctx, cl, name)
	if err != nil || is.Partitions > 0 {
		return is, err
	}
	all := make(map[string]*string, len(configs)+1)
	switch v, err := TopicConfig(ctx, cl, like, minInSync); {
	case errors.Is(err, kerr.TopicAuthorizationFailed): // the brokers' default, then
	case err != nil:
		return Topics{}, err
	case v != nil:
		all[minInSync] = v
	}
	for k, v := range configs {
		all[k] = v
	}
	_, err = kadm.NewClient(cl).CreateTopic(ctx, int32(want.Partitions), int16(want.Replication), all, name)
	switch {
	case errors.Is(err, kerr.TopicAlreadyExists): // by another queue, at the same time
		return awaitShape(ctx, cl, name)
	case err != nil:
		return Topics{}, fmt.Errorf("kmq: create topic %s: %w", name, err)
	}
	return awaitShape(ctx, cl, name)
}

const minInSync = "min.insync.replicas"

// TopicConfig reads one config of a topic; nil if the cluster does not know it. A topic that
// was just created is given time to become known to all brokers.
func TopicConfig(ctx context.Context, cl *kgo.Client, topic, key string) (*string, error) {
	wait, until := NewWait(), time.Now().Add(unseenFor)
	for {
		v, err := topicConfig(ctx, cl, topic, key)
		if err == nil {
			return v, nil
		}
		err = fmt.Errorf("kmq: read the configuration of topic %s: %w", topic, err)
		if !kerr.IsRetriable(err) || time.Now().After(until) || wait.Sleep(ctx) != nil {
			return nil, err
		}
	}
}

func topicConfig(ctx context.Context, cl *kgo.Client, topic, key string) (*string, error) {
	configs, err := kadm.NewClient(cl).DescribeTopicConfigs(ctx, topic)
	if err == nil && len(configs) > 0 {
		err = configs[0].Err
	}
	if err != nil {
		return nil, err
	}
	for _, c := range configs {
		if i := slices.IndexFunc(c.Configs, func(k kadm.Config) bool { return k.Key == key }); i >= 0 {
			return c.Configs[i].Value, nil
		}
	}
	return nil, nil
}

// shape is that of a topic; no partitions if it is not there.
func shape(ctx context.Context, cl *kgo.Client, topic string) (Topics, error) {
	all, err := kadm.NewClient(cl).ListTopics(ctx, topic)
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

// unseenFor is how long a topic that was just created may be unknown to some broker.
const unseenFor = 3 * time.Second

var errUnseen = errors.New("the topic is not to be seen")

// awaitShape gives a topic time to become known; its error is errUnseen if it does not.
func awaitShape(ctx context.Context, cl *kgo.Client, topic string) (Topics, error) {
	wait, until := NewWait(), time.Now().Add(unseenFor)
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
