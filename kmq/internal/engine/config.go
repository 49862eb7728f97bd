package engine

import (
	"log/slog"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"kafkabench.example/kafka-bench/kmq/internal/lease"
)

// Config is a checked kmq.Config with its defaults filled in.
type Config struct {
	Brokers      []string
	Topic, Group string

	Visibility      time.Duration // 0: no lock (Plain)
	MaxDeliveries   int           // 0: no limit
	DeadLetterTopic string
	MaxInFlight     int           // at least 1
	CommitEvery     time.Duration // above 0

	// RetryTopic is the topic to which the group's failed records move; "": there is none, and they stay where they are.
	RetryTopic string
	InPlace    time.Duration // the longest delay without a move (OffsetMap)
	RetryBytes int           // of delayed records in memory (OffsetMap)
	// Delay returns how long a record waits for its next attempt after this number of attempts.
	Delay func(attempts int) time.Duration

	MarkersTopic    string
	ExternalTracker bool // the engine runs no tracker of its own

	AcksLeader     bool          // acks of the leader suffice for the queue's own writes
	SessionTimeout time.Duration // 0: the client's default

	// Client has options for every client; use [Config.ClientOptions].
	Client []kgo.Opt
	// Log is never nil.
	Log *slog.Logger
}

// TopicOf returns the topic of a partition by its number, as [lease.Retry] has it.
func (c *Config) TopicOf(partition int32) string {
	if lease.IsRetry(partition) {
		return c.RetryTopic
	}
	return c.Topic
}

const (
	quickMetadata = 250 * time.Millisecond
	// fetchWait is how long a broker without data holds a fetch. An assigned or resumed partition
	// waits until that fetch ends.
	fetchWait = 500 * time.Millisecond
)

// ClientOptions returns the options of a client: the application's, then the queue's, then more; later ones override
// earlier ones.
func (c *Config) ClientOptions(more ...kgo.Opt) []kgo.Opt {
	// The first record of an unknown topic waits for quickMetadata.
	opts := append([]kgo.Opt{kgo.ClientID("kmq"), kgo.MetadataMinAge(quickMetadata), kgo.FetchMaxWait(fetchWait)}, c.Client...)
	opts = append(opts, kgo.SeedBrokers(c.Brokers...), kgo.DisableClientMetrics())
	return append(opts, more...)
}

// ProducerOptions returns the options of a client that writes markers or copies. The client sends
// each record at once to the partition that the record names, and retries until it is written or
// refused for good. The producer is idempotent unless AcksLeader is set.
func (c *Config) ProducerOptions() []kgo.Opt {
	opts := []kgo.Opt{
		kgo.RecordPartitioner(kgo.ManualPartitioner()),
		kgo.ProducerLinger(0),
		kgo.RequiredAcks(kgo.AllISRAcks()),
	}
	if c.AcksLeader {
		opts = append(opts, kgo.RequiredAcks(kgo.LeaderAck()), kgo.DisableIdempotentWrite())
	}
	return opts
}

// GroupOptions returns the options of a group member that reads committed records and commits
// offsets explicitly. The client also returns control records, the markers that end transactions: a
// commit that stayed before them would leave a lag for good.
func (c *Config) GroupOptions(group string, topics ...string) []kgo.Opt {
	opts := []kgo.Opt{
		kgo.ConsumerGroup(group),
		kgo.ConsumeTopics(topics...),
		kgo.DisableAutoCommit(),
		kgo.BlockRebalanceOnPoll(),
		kgo.FetchIsolationLevel(kgo.ReadCommitted()),
		kgo.KeepControlRecords(),
		kgo.ConsumeStartOffset(kgo.NewOffset().AtStart()),
		kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()),
	}
	if c.SessionTimeout > 0 {
		beat := min(3*time.Second, c.SessionTimeout/3)
		opts = append(opts, kgo.SessionTimeout(c.SessionTimeout), kgo.HeartbeatInterval(beat))
	}
	return opts
}
