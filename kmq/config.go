package kmq

import (
	"log/slog"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

// Engine is how a queue is kept on Kafka.
type Engine string

// The engines.
const (
	// Plain is an ordinary consumer group: acknowledgements are committed up to the
	// first record that has none. It can't release a record for another attempt.
	Plain Engine = "plain"
	// Markers writes what happens to a record into a topic of markers, and copies a
	// record whose lock has run out to the tail of its partition.
	Markers Engine = "markers"
	// OffsetMap keeps the acknowledged offsets beyond the committed one in the commit's
	// metadata.
	OffsetMap Engine = "offsetmap"
	// Share is a share group of Kafka's own (KIP-932): brokers from 4.1 on; in production
	// use, and with Extend, from 4.2 on.
	Share Engine = "share"
)

// Engines are all engines.
var Engines = []Engine{Plain, Markers, OffsetMap, Share}

// TrackerMode says where the redelivery tracker of the engine Markers runs.
type TrackerMode string

// The places of a tracker.
const (
	InProcess TrackerMode = "in-process" // each queue has a tracker for its share of the partitions
	External  TrackerMode = "external"   // others run it: see [OpenTracker]
)

// Config says what a queue is. Brokers, Topic, Group and Engine are required; what is
// zero of the rest has the default that its comment names.
type Config struct {
	Brokers []string // host:port, at least one
	Topic   string
	Group   string // queues of one group share the records
	Engine  Engine

	// Visibility is how long a record is lent (the acquisition lock): one that is not
	// settled by then is delivered again. 30 s by default; from 100 ms to 1 h. Under Markers
	// at least half of it is left when a record is received. Plain has none, and Share that
	// of the broker (group.share.record.lock.duration.ms).
	Visibility time.Duration
	// MaxDeliveries is after how many deliveries a record goes to the dead-letter topic;
	// 0 is never. Plain delivers a record once, so far as it knows, and has none.
	MaxDeliveries int
	// DeadLetterTopic takes what was rejected and what was delivered MaxDeliveries times.
	// It is required where MaxDeliveries is set, and created with as many partitions as
	// Topic has if it is missing.
	DeadLetterTopic string
	// MaxInFlight bounds the records that were fetched and are not settled: 1,000 by
	// default; from 1 to 1,000,000. At the bound nothing is fetched.
	MaxInFlight int
	// Backoff is the delay of a [Queue.Run] handler's error before the next attempt.
	Backoff Backoff

	// CommitEvery is how often offsets are committed; 1 s by default; from 1 ms to 1 min.
	CommitEvery time.Duration
	// MarkersTopic is the topic of the markers, with as many partitions as the queue's;
	// Topic + "-markers" by default. It is created if it is missing. Groups that read
	// one topic may share it; each passes over the markers of the others.
	MarkersTopic string
	// Tracker is where the tracker runs; InProcess by default.
	Tracker TrackerMode
	// Transactions has Markers write starts and commits in one transaction, and copies
	// and their ends in another.
	Transactions bool
	// StartFirst has Markers make a record's start durable, and commit behind it, before it is
	// handed out, and not when it has been open for 100 ms: then a record that kills its process
	// counts as delivered the first time, too, for two round trips on each poll. Transactions do
	// it in one.
	StartFirst bool
	// InPlace is how often OffsetMap delivers a record from where it is before it copies
	// it to the tail of its partition; 3 by default; from 1 to 1,000.
	InPlace int
	// Acks is how durable markers and copies are before they count as written.
	Acks Acks
	// SessionTimeout is after how long a member that is silent is put out of the group;
	// the client's default, 45 s, if zero; from 1 s to 30 min, within what the brokers
	// allow (group.min.session.timeout.ms). With [Share] it is at least 3 s.
	SessionTimeout time.Duration

	// Client are further options of every Kafka client that the queue opens: TLS, SASL,
	// a dialer. What the queue sets itself can't be changed by them.
	Client []kgo.Opt
	// Logger is told what happens to the queue: docs/KMQ.md lists the events. Nil is
	// nobody.
	Logger *slog.Logger
}

// Acks is how many brokers must have a record before it counts as written.
type Acks string

// The values of Acks; the default is AcksAll.
const (
	AcksAll    Acks = "all"
	AcksLeader Acks = "leader" // a marker or a copy may be lost with its leader: at most for experiments
)

// Backoff is a delay that grows with the attempts: Min after the first, doubled with each
// further one, up to Max. By default 100 ms and 1 min; Max is at least Min, and at most 1 h.
type Backoff struct{ Min, Max time.Duration }
