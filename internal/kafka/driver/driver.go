// Package driver is the interface between Kafka Bench and a Kafka client under test.
//
// A driver passes records to the client, and returns what the client reported. Package load takes
// the time stamps and counts the records, in the same way for every client. What only some clients
// can do (pause a partition, count bytes on the wire) is an optional interface of one or two
// methods, which the caller finds by type assertion.
//
// Files to know: driver.go.
package driver

import (
	"context"
	"errors"
	"time"

	"kafkabench.example/kafka-bench/internal/kafka/access"
	"kafkabench.example/kafka-bench/internal/plan/native"
	"kafkabench.example/kafka-bench/internal/plan/payload"
)

// ErrConfig marks a mistake in the configuration given to NewProducer or NewConsumer.
var ErrConfig = errors.New("client configuration")

// ErrNoGroup is the error of Commit if the partitions are assigned by hand.
var ErrNoGroup = errors.New("commit: the partitions are assigned by hand, and there is no group to commit for")

// Driver opens clients of one kind, for instance franz-go.
type Driver interface {
	// Name returns the word that selects the driver on the command line.
	Name() string
	// Version returns the module version of the client library, for the result.
	Version() string
	// Lacks returns the capabilities that the client does not have, each with a reason for users.
	Lacks() map[Capability]string
	// NewProducer opens one client that produces to cfg.Topic. It does not wait for a broker.
	NewProducer(cfg ProducerConfig) (Producer, error)
	// NewConsumer opens one client, which joins cfg.Group at once, or has the partitions of cfg.Partitions. It does
	// not wait for a broker.
	NewConsumer(cfg ConsumerConfig) (Consumer, error)
}

// Tuner is a Driver that passes on settings by the client's own names.
type Tuner interface {
	// Tables returns which settings of a producer and of a consumer a scenario may give.
	Tables() (producer, consumer native.Table)
	// TryProducer and TryConsumer return the error of NewProducer or NewConsumer, and open no connection.
	TryProducer(cfg ProducerConfig) error
	TryConsumer(cfg ConsumerConfig) error
}

// Capability is something that a run may ask of a client beyond producing, consuming and committing.
type Capability string

// The capabilities in which clients differ. Messages print these texts.
const (
	Idempotence       Capability = "idempotent producing"            // ProducerConfig.Idempotent (KIP-98)
	CompressionLevels Capability = "compression levels"              // ProducerConfig.Level
	InFlightLimit     Capability = "a limit of requests in flight"   // ProducerConfig.InFlight
	RecordTimestamps  Capability = "timestamps by the caller"        // Record.Created
	AckedOffsets      Capability = "offsets of acknowledged records" // Done.Offset
	ServerGroups      Capability = "the group protocol consumer"     // ConsumerConfig.Protocol (KIP-848)
	ManualPartitions  Capability = "partitions assigned by hand"     // ConsumerConfig.Partitions
	PausePartitions   Capability = "pausing partitions"              // Pauser
	KillConsumer      Capability = "a consumer that is killed"       // Killer
	SessionTimeouts   Capability = "a session timeout"               // ConsumerConfig.SessionTimeout
	ReadControl       Capability = "telling of control records"      // ConsumerConfig.ControlRecords
	CountWire         Capability = "counting bytes on the wire"      // WireCounter
	TimeRequests      Capability = "timing requests"                 // RequestTimer
	ReportThrottle    Capability = "reporting throttle times"        // RequestSum.Throttled
	EncryptedAccess   Capability = "TLS and SASL"                    // Access
	KerberosAccess    Capability = "Kerberos"                        // Access with GSSAPI
	TLSVersions       Capability = "a choice of TLS versions"        // Access.LimitsTLS
	ShareGroups       Capability = "share groups"                    // KIP-932
	OneRecordBatches  Capability = "batches of one record"           // ProducerConfig.OneRecord
	StickyAssignor    Capability = "the assignor sticky"             // ConsumerConfig.Assignor
	CooperativeSticky Capability = "the assignor cooperative-sticky" // ConsumerConfig.Assignor (KIP-429)
)

// Producer is one producing client. It is safe for concurrent use.
type Producer interface {
	// Produce passes r to the client and does not wait for the broker. The driver owns r until it calls
	// ProducerConfig.OnDone, exactly once for every record. Produce may block while the client's own buffer is
	// full.
	Produce(r *Record)
	// Settings returns the effective settings of the client, including defaults.
	Settings() []Setting
	// Close closes the client at once, and returns after OnDone was called for every record. Incomplete records are
	// Unknown, or Failed if they were certainly never written. No other call may run concurrently.
	Close()
}

// Consumer is one member of a consumer group, or a client with partitions assigned by hand.
type Consumer interface {
	// Poll waits until the client has records or ctx ends, and returns all records that are ready, in
	// chunks of one partition each. An empty result without an error is an empty poll. Errors from
	// which the client recovers go to ConsumerConfig.OnError. After a returned error the consumer can't
	// be used.
	//
	// One goroutine polls. The slice is valid until the next Poll, and a chunk's records until its Free. No
	// rebalance happens between a Poll that returned records and the next Poll or Close. So at
	// OnRevoked the caller already has every record that Poll returned from the partition, and no more
	// follow. If the caller does not poll for long during a rebalance, the group removes the member.
	Poll(ctx context.Context) ([]Chunk, error)
	// Commit commits, for each partition, the offset of the next record to process, and waits for the answer. It
	// may be called on any goroutine, and in OnRevoked. Without a group it returns ErrNoGroup.
	Commit(ctx context.Context, offsets map[int32]int64) error
	// Settings returns the effective settings of the client, including defaults.
	Settings() []Setting
	// Close leaves the group, which revokes the member's partitions, and closes the client. No Poll may run
	// concurrently, and no callback may call it.
	Close()
}

// Pauser is a Consumer that can stop fetching some partitions and stays a member of the group.
type Pauser interface {
	// Pause stops fetching partitions: later polls return none of their records, until Resume or until the
	// partition is lost. In OnAssigned it takes effect before the first fetch.
	Pause(partitions ...int32)
	// Resume continues where the partitions' records stopped.
	Resume(partitions ...int32)
}

// Killer is a Consumer that can vanish like a process under kill -9.
type Killer interface {
	// Kill closes the client's connections at once and prevents new ones: no commit, leave or heartbeat follows. No
	// further callback starts, and a current or later Poll or Commit fails. Kill may be called on any goroutine,
	// but not in a callback. Close must still be called, and only frees the client's resources.
	Kill()
}

// WireCounter is a Producer or Consumer that counts its traffic since it was opened. Wire may be called at any time.
type WireCounter interface {
	Wire() Wire
}

// RequestTimer is a Producer or Consumer that times its requests since it was opened. Requests may be called at any
// time.
type RequestTimer interface {
	Requests() Requests
}

// Requests counts produce and fetch requests, and adds up their times: from before a request is
// written until its response is read. Time, divided by an interval, is the mean number of requests
// in flight (Little's law). Connections are those that carry such requests.
type Requests struct {
	Produce, Fetch RequestSum
}

// RequestSum is the sum over one type of request.
//
// Throttled is the sum of the responses' throttle times: how long brokers held the client back because
// of quotas.
type RequestSum struct {
	Count       int64
	Time        time.Duration
	Connections int
	Throttled   time.Duration
}

// Add returns the sum of r and o, of different clients.
func (r Requests) Add(o Requests) Requests {
	return Requests{Produce: r.Produce.add(o.Produce), Fetch: r.Fetch.add(o.Fetch)}
}

// Sub returns the counts since o, with r's connections.
func (r Requests) Sub(o Requests) Requests {
	return Requests{Produce: r.Produce.sub(o.Produce), Fetch: r.Fetch.sub(o.Fetch)}
}

func (s RequestSum) add(o RequestSum) RequestSum {
	return RequestSum{Count: s.Count + o.Count, Time: s.Time + o.Time, Connections: s.Connections + o.Connections,
		Throttled: s.Throttled + o.Throttled}
}

func (s RequestSum) sub(o RequestSum) RequestSum {
	return RequestSum{Count: s.Count - o.Count, Time: s.Time - o.Time, Connections: s.Connections,
		Throttled: s.Throttled - o.Throttled}
}

// Wire counts a client's traffic and batches since it was opened.
type Wire struct {
	WrittenBytes int64 // all requests, as written to the sockets
	ReadBytes    int64 // all responses, as read from the sockets
	Batches      int64 // record batches produced or fetched
	BatchRecords int64 // records in those batches
	// Bytes of those batches before and after compression.
	UncompressedBytes int64
	CompressedBytes   int64
}

// Add returns the sum of w and o.
func (w Wire) Add(o Wire) Wire {
	return Wire{
		WrittenBytes:      w.WrittenBytes + o.WrittenBytes,
		ReadBytes:         w.ReadBytes + o.ReadBytes,
		Batches:           w.Batches + o.Batches,
		BatchRecords:      w.BatchRecords + o.BatchRecords,
		UncompressedBytes: w.UncompressedBytes + o.UncompressedBytes,
		CompressedBytes:   w.CompressedBytes + o.CompressedBytes,
	}
}

// Sub returns the counts since o.
func (w Wire) Sub(o Wire) Wire {
	return Wire{
		WrittenBytes:      w.WrittenBytes - o.WrittenBytes,
		ReadBytes:         w.ReadBytes - o.ReadBytes,
		Batches:           w.Batches - o.Batches,
		BatchRecords:      w.BatchRecords - o.BatchRecords,
		UncompressedBytes: w.UncompressedBytes - o.UncompressedBytes,
		CompressedBytes:   w.CompressedBytes - o.CompressedBytes,
	}
}

// Setting is one effective client setting, by the client's own name.
type Setting struct {
	Name  string
	Value string
}

// Outcome is the outcome of a produced record.
type Outcome uint8

const (
	// Acked: the broker acknowledged the record as acks asks. With acks 0, the record was written to the socket.
	Acked Outcome = iota
	// Failed: the record is certainly not in the log.
	Failed
	// Unknown: the record may be in the log.
	Unknown
)

// String returns the word that reports use.
func (o Outcome) String() string {
	switch o {
	case Acked:
		return "acked"
	case Failed:
		return "failed"
	default:
		return "unknown"
	}
}

// Record is one record to produce. Its owner reuses it after OnDone.
type Record struct {
	Partition int32 // the owner sets the fields from Partition to Tag
	Key       []byte
	Value     []byte
	Stamp     *payload.Header // the record's only header; nil: no header
	// Created is the record's timestamp in the log (CreateTime, to the millisecond).
	Created time.Time
	// Tag is the owner's; Done returns it.
	Tag uint64

	// Native is the driver's own object for this record, kept for reuse.
	Native any
}

// Done reports the outcome of a record. It has its own copy of Tag, so that the receiver need not
// read the record, which is in another processor's cache.
type Done struct {
	*Record
	Tag     uint64
	Outcome Outcome
	Offset  int64 // of an acked record; -1 if the client does not know it (acks 0)
	Err     error // why the outcome is not Acked
}

// Chunk is a sequence of records of one partition from one poll, in offset order.
type Chunk struct {
	Partition int32
	// HighWatermark is the partition's high watermark in the fetch response. It may be below the last
	// record's offset.
	HighWatermark int64
	Records       []Received
	// Next is the offset after the chunk and the control records that follow it. A chunk of only control records
	// has no Records. Next is 0 unless ConsumerConfig.ControlRecords is set.
	Next int64
	// Free returns the chunk's memory to the driver, and ends the use of Records. It may be nil.
	Free func()
}

// Received is one record from the log. Its bytes are read-only.
type Received struct {
	Offset int64
	Key    []byte
	Value  []byte
	Stamp  *payload.Header // nil: the record has no header of this name and size
}

// Acks is the number of acknowledgements a producer waits for.
type Acks int8

// The three levels of acks (producer setting "acks").
const (
	AcksAll    Acks = -1
	AcksNone   Acks = 0
	AcksLeader Acks = 1
)

// LeastBatchBytes is the smallest BatchBytes that all clients accept: franz-go's.
const LeastBatchBytes = 512

// ProducerConfig configures a producing client. A zero value means the client's default; for Acks and Linger it
// means zero.
type ProducerConfig struct {
	Brokers []string
	// ClusterID is the ID of the cluster, or "" if any will do. NewProducer fails if the client sees another one; a
	// client that does not return the ID ignores it.
	ClusterID string
	Access    access.Access
	ClientID  string
	Topic     string

	Acks        Acks
	Compression string        // none, gzip, snappy, lz4, zstd
	Level       int           // compression level, as Kafka counts them; 0 is the codec's default
	Linger      time.Duration // how long a record waits for others; 0 not at all
	BatchBytes  int32
	OneRecord   bool // each record in a batch of its own
	Idempotent  bool
	InFlight    int // produce requests in flight on one connection

	// MaxBuffered bounds the records that the client holds. The caller stays below it, so that Produce does not
	// block.
	MaxBuffered int
	// DeliveryTimeout limits how long a record may take, including retries (Kafka's delivery.timeout.ms).
	DeliveryTimeout time.Duration
	// Client holds settings by the client's own names, which override the driver's. Tuner.Tables lists the allowed
	// ones.
	Client map[string]string

	// OnDone receives every record given to Produce, exactly once. It runs on the client's goroutines: it must be
	// quick and must not call the producer.
	OnDone func(Done)
}

// ConsumerConfig configures a consuming client. A zero number means the client's default. A group without committed
// offsets starts at the earliest.
type ConsumerConfig struct {
	Brokers   []string
	ClusterID string // as in ProducerConfig
	Access    access.Access
	ClientID  string
	Topic     string
	Group     string // empty: the client reads Partitions
	// Protocol of the group: "classic", or "consumer" (KIP-848).
	Protocol string
	// Partitions are assigned by hand, without a group, each with its first offset. With an empty map the client
	// returns no records. An offset that the log no longer holds becomes the earliest.
	Partitions map[int32]int64

	FetchMinBytes          int32
	FetchMaxBytes          int32
	FetchMaxPartitionBytes int32
	FetchMaxWait           time.Duration
	// ControlRecords makes polls set Chunk.Next, which is past the control records of transactions
	// (KIP-98) too. Clients do not return these records.
	ControlRecords bool
	// MaxPollRecords limits the records of one Poll (Kafka's max.poll.records); 0 means all that are ready.
	MaxPollRecords int
	// SessionTimeout is how long a member of a "classic" group may be silent; for "consumer" the broker sets it.
	// Brokers reject a time below group.min.session.timeout.ms (6 s by default), and the rejection ends
	// the consumer.
	SessionTimeout time.Duration
	// Assignor is a classic group's assignor, one of Assignors. Empty means the driver's choice.
	Assignor string
	// Client holds settings by the client's own names, as in ProducerConfig.
	Client map[string]string

	// OnAssigned receives the partitions that are new to the member. Its first call, even without
	// partitions, means that the member has joined. OnRevoked receives the partitions that the
	// member loses. The client waits for OnRevoked, which may therefore commit, unless lost is
	// true. The callbacks may come on a goroutine of the client, also before NewConsumer returns,
	// but never concurrently. Partitions assigned by hand are reported once and never revoked.
	OnAssigned func(partitions []int32)
	OnRevoked  func(partitions []int32, lost bool)
	// OnError receives the errors from which the client recovers.
	OnError func(error)
}
