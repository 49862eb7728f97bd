package kmq

import (
	"context"
	"fmt"
	"strings"
	"time"

	"kafkabench.example/kafka-bench/kmq/internal/engine"
	"kafkabench.example/kafka-bench/kmq/internal/markers"
	"kafkabench.example/kafka-bench/kmq/internal/offsetmap"
	"kafkabench.example/kafka-bench/kmq/internal/plain"
	"kafkabench.example/kafka-bench/kmq/internal/share"
)

// Engine says how a queue keeps its state on Kafka: it is an [OffsetMap], a [Markers], a [Plain] or a [Share].
type Engine interface {
	// String returns the name: offsetmap, markers, plain or share.
	String() string

	// check fills in defaults, also those of the Config that depend on the engine.
	check(c *Config, m *mistakes) Engine
	// configure sets the engine's own fields.
	configure(e *engine.Config)
	open(ctx context.Context, e engine.Config) (engine.Engine, error)
}

// ParseEngine returns the engine with a name, with its defaults. The error is [ErrConfig].
func ParseEngine(name string) (Engine, error) {
	all := []Engine{OffsetMap{}, Markers{}, Plain{}, Share{}}
	names := make([]string, len(all))
	for i, e := range all {
		if names[i] = e.String(); names[i] == name {
			return e, nil
		}
	}
	return nil, fmt.Errorf("%w: there is no engine %q: choose one of %s", ErrConfig, name, strings.Join(names, ", "))
}

// OffsetMap is the default engine. It keeps acknowledged offsets beyond the committed one in the commit's metadata.
type OffsetMap struct {
	// InPlace is the longest delay after which a record is delivered again from its place. For longer ones, or if the map
	// of the commit is nearly full or retention about to delete the record, it moves to RetryTopic. The default is 1 min; it
	// is above 0 and at most [MaxDelay].
	InPlace time.Duration
	// RetryTopic receives records that are to be delivered again later, unless Config.Order is set: then all stay in their
	// places. Only this group reads it. The default is TOPIC.GROUP.retry. Open creates it, with as many partitions as the
	// queue's topic and without a limit of retention, if it is missing.
	RetryTopic string
	// RetryBytes bounds the memory for records that wait for another attempt; further ones are read again when they are
	// due. The default is 16 MiB; the range is 1 to 1 GiB.
	RetryBytes int
}

// String returns "offsetmap".
func (OffsetMap) String() string { return "offsetmap" }

func (o OffsetMap) check(c *Config, m *mistakes) Engine {
	c.checkVisibility(m)
	m.between("OffsetMap.InPlace", &o.InPlace, defaultInPlace, 1, MaxDelay)
	m.count("OffsetMap.RetryBytes", &o.RetryBytes, defaultRetryBytes, 1, maxRetryBytes)
	switch {
	case c.Order == "" || c.Order == Unordered:
		c.checkRetryTopic(m, "OffsetMap.RetryTopic", &o.RetryTopic)
	case o.RetryTopic != "":
		m.add("OffsetMap.RetryTopic is set, and an ordered queue keeps all records in their places: leave it out")
	}
	return o
}

func (o OffsetMap) configure(e *engine.Config) {
	e.InPlace, e.RetryTopic, e.RetryBytes = o.InPlace, o.RetryTopic, o.RetryBytes
}

func (OffsetMap) open(ctx context.Context, e engine.Config) (engine.Engine, error) {
	return offsetmap.New(ctx, e)
}

// Markers writes starts, extensions, releases and ends of deliveries to a second topic. A tracker copies a record whose
// lock has expired to the group's retry topic.
type Markers struct {
	// Topic is the topic of the markers; the default is the queue's + "-markers". It has as many partitions as the
	// queue's and is created if it is missing. Groups that read one topic may share it: each skips the markers of the
	// others.
	Topic string
	// RetryTopic receives the records that are to be delivered again, as with [OffsetMap], whatever the order.
	RetryTopic string
	// ExternalTracker is set if other processes run the trackers: see [OpenTracker]. Otherwise each queue runs a
	// tracker for its part of the partitions.
	ExternalTracker bool
}

// String returns "markers".
func (Markers) String() string { return "markers" }

func (k Markers) check(c *Config, m *mistakes) Engine {
	c.checkVisibility(m)
	if k.Topic == "" {
		k.Topic = c.Topic + "-markers"
	}
	m.topic("Markers.Topic", k.Topic)
	if k.Topic == c.Topic || k.Topic == c.DeadLetterTopic {
		m.add("Markers.Topic is %s, which is the queue's own topic or its dead-letter topic: name another", k.Topic)
	}
	c.checkRetryTopic(m, "Markers.RetryTopic", &k.RetryTopic)
	return k
}

func (k Markers) configure(e *engine.Config) {
	e.MarkersTopic, e.RetryTopic, e.ExternalTracker = k.Topic, k.RetryTopic, k.ExternalTracker
}

func (Markers) open(ctx context.Context, e engine.Config) (engine.Engine, error) {
	return markers.New(ctx, e)
}

// Plain is an ordinary consumer group. It commits up to the first record that is not acknowledged, has no locks, and
// cannot release a record.
type Plain struct{}

// String returns "plain".
func (Plain) String() string { return "plain" }

func (p Plain) check(c *Config, m *mistakes) Engine {
	if c.Visibility != 0 {
		m.add("Visibility is set, but Plain has no locks: leave it 0, or choose OffsetMap, Markers or Share")
	}
	return p
}

func (Plain) configure(*engine.Config) {}

func (Plain) open(ctx context.Context, e engine.Config) (engine.Engine, error) {
	return plain.New(ctx, e)
}

// Share is Kafka's own share group (KIP-932); it is experimental. It needs Kafka 4.2 or later.
type Share struct {
	// RetryTopic receives the records that were delivered about half as often as the brokers allow, as with [OffsetMap].
	RetryTopic string
}

// String returns "share".
func (Share) String() string { return "share" }

func (s Share) check(c *Config, m *mistakes) Engine {
	if c.Visibility != 0 {
		c.checkVisibility(m)
	}
	if c.Order == ByPartition || c.Order == ByKey {
		m.add("Order is %s, and a share group gives the records of one partition to several members: choose OffsetMap, Plain or Markers", c.Order)
	}
	c.checkRetryTopic(m, "Share.RetryTopic", &s.RetryTopic)
	return s
}

func (s Share) configure(e *engine.Config) { e.RetryTopic = s.RetryTopic }

func (Share) open(ctx context.Context, e engine.Config) (engine.Engine, error) {
	return share.New(ctx, e)
}

func (c *Config) checkVisibility(m *mistakes) {
	m.between("Visibility", &c.Visibility, defaultVisibility, 100*time.Millisecond, time.Hour)
}
