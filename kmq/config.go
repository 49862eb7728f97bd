package kmq

import (
	"log/slog"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

// Engine names the way in which a queue keeps its state on Kafka.
type Engine string

// Engines of a queue.
const (
	// Plain is an ordinary consumer group. It commits up to the first record that is not
	// acknowledged, and cannot release a record.
	Plain Engine = "plain"
	// Markers writes starts, extensions, releases and ends of deliveries to a second topic. It copies a
	// record whose lock has expired to the end of its partition.
	Markers Engine = "markers"
	// OffsetMap keeps acknowledged offsets beyond the committed one in the commit's metadata.
	OffsetMap Engine = "offsetmap"
	// Share is Kafka's own share group (KIP-932). It needs Kafka 4.1 or later, and 4.2 or later
	// for production use and for Extend.
	Share Engine = "share"
)

// Engines lists all engines.
var Engines = []Engine{Plain, Markers, OffsetMap, Share}

// TrackerMode says where the redelivery tracker of the engine Markers runs.
type TrackerMode string

// The values of TrackerMode; the default is InProcess.
const (
	InProcess TrackerMode = "in-process" // each queue runs a tracker for its part of the partitions
	External  TrackerMode = "external"   // other processes run the trackers: see [OpenTracker]
)

// Config configures a queue. Brokers, Topic, Group and Engine are required. In any other field,
// zero means the default.
type Config struct {
	Brokers []string // host:port, at least one
	Topic   string
	Group   string // queues of one group share the records
	Engine  Engine

	// Visibility is how long a delivered record is locked for its member. A record that is not settled
	// by then is delivered again. The default is 30 s; the range is 100 ms to 1 h. With Markers, at
	// least half of Visibility is left when Receive returns the record. Plain has no lock. With Share,
	// zero means the broker's group.share.record.lock.duration.ms.
	Visibility time.Duration
	// MaxDeliveries is the number of deliveries after which a record goes to the dead-letter topic. The
	// default is 10; the range is 1 to 1,000,000, or [Unlimited]. Plain counts the attempts of [Queue.Run],
	// in memory.
	MaxDeliveries int
	// DeadLetterTopic receives records that were rejected or delivered MaxDeliveries times. The default
	// is TOPIC.GROUP.dead. Open creates it, with as many partitions as Topic and without a limit of
	// retention, if it is missing.
	DeadLetterTopic string
	// Order says which records [Queue.Run] may process at the same time. The default is Unordered.
	Order Order
	// MaxInFlight bounds the unsettled records of this process, delivered or ready for delivery.
	// The default is 1,000; the range is 1 to 1,000,000. At the bound the queue takes no more
	// records. With OffsetMap, up to 100,000 records that wait for another attempt do not count.
	MaxInFlight int
	// Backoff is the delay after a handler of [Queue.Run] failed.
	Backoff Backoff

	// CommitEvery is the interval between commits. The default is 1 s; the range is 1 ms to 1 min.
	CommitEvery time.Duration
	// MarkersTopic is the topic of the markers; the default is Topic + "-markers". It has as many
	// partitions as Topic and is created if it is missing. Groups that read one topic may share it:
	// each skips the markers of the others.
	MarkersTopic string
	// Tracker says where the tracker runs; the default is InProcess.
	Tracker TrackerMode
	// RetryTopic receives records of OffsetMap and Markers that are to be delivered again, unless Order is set: OffsetMap
	// then delivers them again from their place. Only this group reads it. The default is TOPIC.GROUP.retry. Open creates it,
	// with as many partitions as Topic and without a limit of retention, if it is missing.
	RetryTopic string
	// InPlace is the longest delay after which OffsetMap delivers a record again from its place. For longer ones, or if the
	// map of the commit is nearly full or retention about to delete the record, it moves to RetryTopic. The default is
	// 1 min; it is above 0 and at most [MaxDelay].
	InPlace time.Duration
	// RetryBytes bounds the memory for records of OffsetMap that wait for another attempt; further ones are read again when
	// they are due. The default is 16 MiB; the range is 1 to 1 GiB.
	RetryBytes int
	// Acks is the durability that markers and copies need.
	Acks Acks
	// SessionTimeout is how long a member may be silent before the group removes it. Zero means the
	// client's default, 45 s. The range is 1 s to 30 min, within the brokers' own limits
	// (group.min.session.timeout.ms). With [Share] it is at least 3 s.
	SessionTimeout time.Duration

	// Client holds further options for every Kafka client of the queue, such as TLS, SASL or a dialer.
	// They cannot override the queue's own options.
	Client []kgo.Opt
	// Logger receives the events that docs/KMQ.md lists; nil means [slog.Default].
	Logger *slog.Logger
}

// Unlimited as Config.MaxDeliveries delivers a record until it is acknowledged or rejected.
const Unlimited = -1

// Acks says which brokers must have a record before it counts as written.
type Acks string

// The values of Acks; the default is AcksAll.
const (
	AcksAll    Acks = "all"
	AcksLeader Acks = "leader" // a marker or a copy may be lost with its leader: only for experiments
)

// Backoff is a random delay that grows with the attempts: up to Min after the first, doubled after each further
// attempt, up to Max. The defaults are 100 ms and 1 min. Max is at least Min, and at most 1 h.
type Backoff struct{ Min, Max time.Duration }
