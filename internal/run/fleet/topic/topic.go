// Package topic keeps a session's control log in a Kafka topic with one partition. The
// coordinator creates it, agents wait until it is there, and it is deleted by its ID.
//
// Files to know: topic.go, log.go.
package topic

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"

	"kafkabench.example/kafka-bench/internal/kafka/access"
	"kafkabench.example/kafka-bench/internal/kafka/cluster"
	"kafkabench.example/kafka-bench/internal/kafka/runname"
)

// A name of a session without a name of its user's is a runname.Name's mark, so that the topic's name has the form of a
// runname.Name.
const prefix = runname.Prefix + "control-"

// enough to survive the loss of a broker with its disk
const maxReplicas = 3

const lookEvery = time.Second

// Retention is how long the brokers keep what an abandoned session's agents handed in.
const Retention = 7 * 24 * time.Hour

// Records may have 512 KiB whatever the brokers' default.
var settings = map[string]string{
	"cleanup.policy": "delete", "retention.ms": strconv.FormatInt(Retention.Milliseconds(), 10), "max.message.bytes": "1048588",
}

// Config selects a session's log and the cluster.
type Config struct {
	Brokers []string // host:port
	Access  access.Access
	// Session is 1 to 200 letters, digits, dots, dashes and underscores.
	Session string
	// Client overrides options of the log's client.
	Client []kgo.Opt
	// Waits is called once, when Open finds no topic and waits for it; nil is not called.
	Waits func()
}

// Topic is a session's control log. It implements control.Log for many appending goroutines and one
// that reads.
type Topic struct {
	admin  *cluster.Admin
	client *kgo.Client
	topic  cluster.Topic
	next   int64 // offset
}

// Create creates the topic of a new session. Its errors are those of package cluster, ErrInput if
// the topic exists. The caller must call Close.
func Create(ctx context.Context, cfg Config) (*Topic, error) {
	return open(cfg, func(admin *cluster.Admin) (cluster.Topic, error) {
		brokers, err := admin.Brokers(ctx)
		if err != nil {
			return cluster.Topic{}, err
		}
		topic, err := admin.CreateTopic(ctx, prefix+cfg.Session, 1, min(brokers, maxReplicas), settings)
		return topic, explain(cfg.Session, err)
	})
}

// Open opens the topic of a session, and waits for it until ctx ends; it never creates one. Its
// errors are those of package cluster, and the cause of ctx. The caller must call Close.
func Open(ctx context.Context, cfg Config) (*Topic, error) {
	return open(cfg, func(admin *cluster.Admin) (cluster.Topic, error) {
		for waits := false; ; waits = true {
			topic, err := find(ctx, admin, cfg)
			if !errors.Is(err, errMissing) && (!waits || ctx.Err() == nil) {
				return topic, err
			}
			if !waits && cfg.Waits != nil {
				cfg.Waits()
			}
			select {
			case <-ctx.Done():
				return topic, missing(cfg, context.Cause(ctx))
			case <-time.After(lookEvery):
			}
		}
	})
}

// Find is Open for a topic that must exist.
func Find(ctx context.Context, cfg Config) (*Topic, error) {
	return open(cfg, func(admin *cluster.Admin) (cluster.Topic, error) { return find(ctx, admin, cfg) })
}

var errMissing = errors.New("no such topic")

func missing(cfg Config, cause error) error {
	return &cluster.Error{
		Kind: cluster.ErrInput, What: fmt.Sprintf("the session %q has no topic %s", cfg.Session, prefix+cfg.Session),
		Cause: cause, Remedy: "start the coordinator, or correct --session or --brokers",
	}
}

func find(ctx context.Context, admin *cluster.Admin, cfg Config) (cluster.Topic, error) {
	topic, err := admin.UseExisting(ctx, prefix+cfg.Session)
	switch {
	case errors.Is(err, cluster.ErrInput):
		return topic, missing(cfg, errMissing)
	case err != nil:
		return topic, explain(cfg.Session, err)
	case topic.Partitions != 1:
		return topic, &cluster.Error{
			Kind: cluster.ErrInput, What: fmt.Sprintf("the topic %q has %d partitions, and a control log has one",
				topic.Name, topic.Partitions),
			Remedy: "choose another --session",
		}
	}
	return topic, nil
}

func open(cfg Config, get func(*cluster.Admin) (cluster.Topic, error)) (*Topic, error) {
	if err := CheckName(cfg.Session); err != nil {
		return nil, err
	}
	admin, err := cluster.NewAdmin(cfg.Brokers, cfg.Access)
	if err != nil {
		return nil, err
	}
	topic, err := get(admin)
	if err != nil {
		admin.Close()
		return nil, err
	}
	client, err := kgo.NewClient(options(cfg, topic.Name)...)
	if err != nil {
		admin.Close()
		return nil, fmt.Errorf("the client of topic %q: %w", topic.Name, err)
	}
	return &Topic{admin: admin, client: client, topic: topic}, nil
}

// CheckName returns an ErrInput if a session cannot have the name.
func CheckName(session string) error {
	if sessions.MatchString(session) {
		return nil
	}
	return &cluster.Error{
		Kind: cluster.ErrInput, What: fmt.Sprintf("%q can't be the name of a session", session),
		Remedy: "write 1 to 200 letters, digits, dots, dashes and underscores",
	}
}

var sessions = regexp.MustCompile(`^[a-zA-Z0-9._-]{1,200}$`)

func explain(session string, err error) error {
	var e *cluster.Error
	if !errors.As(err, &e) {
		return err
	}
	switch {
	case errors.Is(err, kerr.TopicAlreadyExists):
		return &cluster.Error{
			Kind: cluster.ErrInput, What: fmt.Sprintf("there is a session %q: the topic %s exists", session, prefix+session),
			Remedy: "choose another --session, or delete that one with kafka-bench collect --delete",
		}
	case errors.Is(err, kerr.TopicAuthorizationFailed), errors.Is(err, kerr.ClusterAuthorizationFailed):
		e.Remedy = "allow this user CREATE, DESCRIBE, READ, WRITE and DELETE on topics that begin with " + prefix
	}
	return err
}

// ID returns the topic's ID, which the seal of each record covers.
func (t *Topic) ID() [16]byte { return t.topic.ID }

// Name returns the topic's name.
func (t *Topic) Name() string { return t.topic.Name }

// Delete deletes the topic by its ID; a missing one is no error.
func (t *Topic) Delete(ctx context.Context) error {
	own := t.topic
	own.Existing = false // the session's, whichever process created it
	return explain(t.topic.Name, t.admin.DeleteTopic(ctx, own))
}

// Close closes the clients, after all reads and appends.
func (t *Topic) Close() {
	t.client.Close()
	t.admin.Close()
}
