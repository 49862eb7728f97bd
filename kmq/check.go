package kmq

import (
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"time"

	"kafkabench.example/kafka-bench/kmq/internal/engine"
)

const (
	defaultVisibility  = 30 * time.Second
	defaultMaxInFlight = 1000
	defaultCommitEvery = time.Second
	defaultInPlace     = time.Minute
	defaultRetryBytes  = 16 << 20
	defaultRetryMin    = 100 * time.Millisecond
	defaultRetryMax    = time.Minute

	defaultDeliveries = 10

	maxInFlight   = 1_000_000
	maxDeliveries = 1_000_000
	maxRetryBytes = 1 << 30
	maxTopicName  = 249
)

// resolve fills in defaults. The error is ErrConfig and lists every mistake.
func (c Config) resolve() (Config, error) {
	m := new(mistakes)
	c.required(m)
	c.givingUp(m)
	c.rest(m)
	if c.Engine == nil {
		c.Engine = OffsetMap{}
	}
	c.Engine = c.Engine.check(&c, m)
	return c, m.err()
}

type mistakes []string

func (m *mistakes) add(format string, args ...any) { *m = append(*m, fmt.Sprintf(format, args...)) }

func (m *mistakes) err() error {
	if len(*m) == 0 {
		return nil
	}
	return fmt.Errorf("%w: %s", ErrConfig, strings.Join(*m, "; "))
}

func (m *mistakes) between(name string, d *time.Duration, byDefault, from, to time.Duration) {
	if *d == 0 {
		*d = byDefault
	}
	if *d < from || *d > to {
		m.add("%s is %v: it must be from %v to %v (0 is the default, %v)", name, *d, from, to, byDefault)
	}
}

func (m *mistakes) count(name string, n *int, byDefault, from, to int) {
	if *n == 0 {
		*n = byDefault
	}
	if *n < from || *n > to {
		m.add("%s is %d: it must be from %d to %d (0 is the default, %d)", name, *n, from, to, byDefault)
	}
}

func (c *Config) required(m *mistakes) {
	if len(c.Brokers) == 0 || slices.Contains(c.Brokers, "") {
		m.add("Brokers must have at least one host:port, and no empty one")
	}
	m.topic("Topic", c.Topic)
	if c.Group == "" {
		m.add("Group is empty: queues with the same group share the records")
	}
}

func (m *mistakes) topic(field, name string) {
	if problem := topicProblem(name); problem != "" {
		m.add("%s %s", field, problem)
	}
}

// topicProblem returns why Kafka refuses a topic's name; "" if it does not.
func topicProblem(name string) string {
	legal := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("._-", r)
	}
	switch {
	case name == "":
		return "is empty"
	case len(name) > maxTopicName:
		return fmt.Sprintf("has %d characters: Kafka allows %d", len(name), maxTopicName)
	case name == "." || name == ".." || strings.ContainsFunc(name, func(r rune) bool { return !legal(r) }):
		return fmt.Sprintf("is %q: Kafka allows letters, digits, '.', '_' and '-'", name)
	}
	return ""
}

func (c *Config) givingUp(m *mistakes) {
	if c.MaxDeliveries != Unlimited {
		m.count("MaxDeliveries", &c.MaxDeliveries, defaultDeliveries, 1, maxDeliveries)
	}
	if c.DeadLetterTopic == "" {
		c.DeadLetterTopic = c.ownTopic(m, "DeadLetterTopic", engine.DeadLetterTopic(c.Topic, c.Group))
		return
	}
	m.topic("DeadLetterTopic", c.DeadLetterTopic)
	if c.DeadLetterTopic == c.Topic {
		m.add("DeadLetterTopic is the queue's own topic, which would deliver rejected records again: name another")
	}
}

// ownTopic checks the default name of a topic that belongs to the queue's topic and group. A group with a dot could
// share the name with another topic and group.
func (c *Config) ownTopic(m *mistakes, field, name string) string {
	switch problem := topicProblem(name); {
	case c.Topic == "" || c.Group == "": // said already
	case problem != "":
		m.add("%s is not set, and its default %s: set it", field, problem)
	case strings.Contains(c.Group, "."):
		m.add("%s is not set, and its default, %s, could be another topic and group's too, because the group's name has a dot: set it", field, name)
	}
	return name
}

// checkRetryTopic checks the name of the retry topic, and fills in its default.
func (c *Config) checkRetryTopic(m *mistakes, field string, name *string) {
	if *name == "" {
		*name = c.ownTopic(m, field, engine.RetryTopic(c.Topic, c.Group))
		return
	}
	m.topic(field, *name)
	if *name == c.Topic || *name == c.DeadLetterTopic {
		m.add("%s is %s, which is the queue's own topic or its dead-letter topic: name another", field, *name)
	}
}

func (c *Config) rest(m *mistakes) {
	m.count("MaxInFlight", &c.MaxInFlight, defaultMaxInFlight, 1, maxInFlight)
	m.between("CommitEvery", &c.CommitEvery, defaultCommitEvery, time.Millisecond, time.Minute)
	if s := c.SessionTimeout; s != 0 && (s < time.Second || s > 30*time.Minute) {
		m.add("SessionTimeout is %v: it must be from 1s to 30m0s (0 is the client's default)", s)
	}
	switch c.Acks {
	case "":
		c.Acks = AcksAll
	case AcksAll, AcksLeader:
	default:
		m.add("Acks is %q: choose %s or %s", c.Acks, AcksAll, AcksLeader)
	}
	switch c.Order {
	case "":
		c.Order = Unordered
	case Unordered, ByPartition, ByKey:
	default:
		m.add("Order is %q: choose %s, %s or %s", c.Order, Unordered, ByPartition, ByKey)
	}
	if c.Retry == nil {
		c.Retry = Exponential(defaultRetryMin, defaultRetryMax)
	}
	if c.Logger == nil {
		c.Logger = slog.Default()
	}
}

// c must be resolved.
func (c *Config) engine() engine.Config {
	e := engine.Config{
		Brokers: c.Brokers, Topic: c.Topic, Group: c.Group,
		Visibility: c.Visibility, MaxDeliveries: max(c.MaxDeliveries, 0), DeadLetterTopic: c.DeadLetterTopic,
		MaxInFlight: c.MaxInFlight, CommitEvery: c.CommitEvery,
		Delay:      func(attempts int) time.Duration { return min(max(c.Retry(attempts, nil), 0), MaxDelay) },
		AcksLeader: c.Acks == AcksLeader, SessionTimeout: c.SessionTimeout,
		Client: c.Client,
		Log:    c.Logger.With("topic", c.Topic, "group", c.Group, "engine", c.Engine.String()),
	}
	c.Engine.configure(&e)
	return e
}
