package engine

import (
	"log/slog"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

// Config is what an engine is opened with: a kmq.Config that was checked and whose
// defaults are filled in.
type Config struct {
	Brokers      []string
	Topic, Group string

	Visibility      time.Duration // 0: records are lent without a bound (Plain)
	MaxDeliveries   int           // 0: no limit
	DeadLetterTopic string        // "": none
	MaxInFlight     int           // at least 1
	CommitEvery     time.Duration // above 0

	MarkersTopic    string
	ExternalTracker bool // the engine runs no tracker of its own
	Transactions    bool
	StartFirst      bool // markers: no record is handed out before its start is durable
	InPlace         int  // at least 1

	AcksLeader     bool          // the leader alone need have what the queue writes
	SessionTimeout time.Duration // 0: the client's default

	// Client are the application's options of every client. Use [Config.ClientOptions].
	Client []kgo.Opt
	// Log is never nil.
	Log *slog.Logger
}

const (
	quickMetadata = 250 * time.Millisecond
	// fetchWait is how long a fetch waits at a broker that has nothing. A partition that is
	// assigned or resumed meanwhile is in the next one.
	fetchWait = 500 * time.Millisecond
)

// ClientOptions are those of a client of the queue: the application's first, then what
// every client of a queue has, then more; what comes later holds.
func (c *Config) ClientOptions(more ...kgo.Opt) []kgo.Opt {
	// The first record for a topic that the client did not know waits for this long.
	opts := append([]kgo.Opt{kgo.ClientID("kmq"), kgo.MetadataMinAge(quickMetadata), kgo.FetchMaxWait(fetchWait)}, c.Client...)
	opts = append(opts, kgo.SeedBrokers(c.Brokers...), kgo.DisableClientMetrics())
	return append(opts, more...)
}

// ProducerOptions are those of a client that writes markers or copies: each record goes
// to the partition it names, at once, and is tried until it is written, by an idempotent
// producer unless only the leader is waited for.
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

// GroupOptions are those of a client that is a member of a group, reads what is committed
// and not what was aborted, and commits offsets by itself.
func (c *Config) GroupOptions(group, topic string) []kgo.Opt {
	opts := []kgo.Opt{
		kgo.ConsumerGroup(group),
		kgo.ConsumeTopics(topic),
		kgo.DisableAutoCommit(),
		kgo.BlockRebalanceOnPoll(),
		// What a transaction aborted is no work; of topics without them it costs nothing.
		kgo.FetchIsolationLevel(kgo.ReadCommitted()),
		kgo.ConsumeStartOffset(kgo.NewOffset().AtStart()),
		kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()),
	}
	if c.SessionTimeout > 0 {
		beat := min(3*time.Second, c.SessionTimeout/3)
		opts = append(opts, kgo.SessionTimeout(c.SessionTimeout), kgo.HeartbeatInterval(beat))
	}
	return opts
}
