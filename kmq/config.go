package kmq

import (
	"log/slog"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

// Config configures a queue. Brokers, Topic and Group are required. In any other field, zero means the default.
type Config struct {
	Brokers []string // host:port, at least one
	Topic   string
	Group   string // queues of one group share the records
	Engine  Engine // nil means OffsetMap with its defaults

	// Visibility is how long a delivered record is locked for its member. A record that is not settled
	// by then is delivered again. The default is 30 s; the range is 100 ms to 1 h. With Markers, it
	// begins before the start marker is written. Plain has no lock. With Share, zero means the broker's
	// group.share.record.lock.duration.ms.
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
	// Retry says when a record is tried again after a handler of [Queue.Run] failed. The default is Exponential with
	// 100 ms and 1 min. It is not in [RunConfig], because the queue also needs it for the attempts that failed in another
	// process.
	Retry Retry

	// CommitEvery is the interval between commits. The default is 1 s; the range is 1 ms to 1 min.
	CommitEvery time.Duration
	// Acks is the durability that markers and copies need.
	Acks Acks
	// SessionTimeout is how long a member may be silent before the group removes it. Zero means the
	// client's default, 45 s. The range is 1 s to 30 min, within the brokers' own limits
	// (group.min.session.timeout.ms). With [Share] it is at least 3 s.
	SessionTimeout time.Duration

	// Client holds further options for every Kafka client of the queue, such as TLS, SASL or a dialer.
	// They cannot override the queue's own options.
	Client []kgo.Opt
	// Logger receives events; docs/queue.md lists the errors. Nil means [slog.Default].
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
