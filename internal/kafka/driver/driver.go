// Package driver is the interface between Kafka Bench and a Kafka client under test.
//
// A driver is thin on purpose: it hands records to the client, hands back what
// the client reported, and says with which settings the client really ran. It
// takes no time stamps, keeps no books and makes no decisions; package load
// does that, once, for every client alike. What a client can do beyond the
// minimum (pausing a partition, counting its bytes on the wire) is an optional
// interface of one or two methods that the caller asks for by type assertion.
//
// Files to know: driver.go.
package driver

import (
	"context"
	"errors"
	"time"

	"kafkabench.example/kafka-bench/internal/kafka/access"
	"kafkabench.example/kafka-bench/internal/plan/native"
)

// ErrConfig marks an error of NewProducer or NewConsumer that lies in the
// configuration: a setting out of range, or a combination that the client or
// Kafka does not allow. It is bad input, and no broker was asked.
var ErrConfig = errors.New("client configuration")

// ErrNoGroup is what a Commit returns where the partitions are assigned by hand.
var ErrNoGroup = errors.New("commit: the partitions are assigned by hand, and there is no group to commit for")

// Driver opens clients of one kind, for instance franz-go.
type Driver interface {
	// Name is the word that selects the driver on the command line.
	Name() string
	// Version is the module version of the client library, for the result.
	Version() string
	// Lacks are the capabilities that the client does not have, each with the reason
	// as a person is told it. A run that needs one of them is refused before it begins.
	Lacks() map[Capability]string
	// NewProducer opens one client that produces to cfg.Topic.
	NewProducer(cfg ProducerConfig) (Producer, error)
	// NewConsumer opens one client that is a member of cfg.Group, which it
	// joins at once, or one with the partitions of cfg.Partitions. Either way
	// cfg.OnAssigned tells when it has partitions.
	NewConsumer(cfg ConsumerConfig) (Consumer, error)
}

// Tuner is a Driver that passes settings on to its client by the client's own names.
type Tuner interface {
	// Tables say which settings of a producer and of a consumer may be given.
	Tables() (producer, consumer native.Table)
	// TryProducer and TryConsumer return the error with which NewProducer or NewConsumer would
	// refuse the configuration. They open no connection.
	TryProducer(cfg ProducerConfig) error
	TryConsumer(cfg ConsumerConfig) error
}

// Capability is something that a run may ask of a client beyond producing,
// consuming and committing.
type Capability string

// What clients differ in. The texts are how a person is told.
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
	EncryptedAccess   Capability = "TLS and SASL"                    // Access
	ShareGroups       Capability = "share groups"                    // KIP-932; what package kmq is compared with
	OneRecordBatches  Capability = "batches of one record"           // ProducerConfig.OneRecord
	StickyAssignor    Capability = "the assignor sticky"             // ConsumerConfig.Assignor
	CooperativeSticky Capability = "the assignor cooperative-sticky" // ConsumerConfig.Assignor (KIP-429)
)

// Producer is one producing client. Several workers may share it.
type Producer interface {
	// Produce hands r to the client and returns without waiting for the
	// broker. From then on r belongs to the driver, until it is handed back
	// through ProducerConfig.OnDone, which happens exactly once for every
	// record, whatever becomes of it. Produce may block while the client's
	// own buffer is full.
	Produce(r *Record)
	// Flush waits until nothing is in flight, or for ctx. It also sends at
	// once what the client holds back to fill a batch.
	Flush(ctx context.Context) error
	// Settings are the effective settings of the client, defaults included.
	Settings() []Setting
	// Close ends the client at once. When it returns, every record has been
	// handed back; those that were still in the client's hands are Unknown,
	// or Failed where the driver knows that they were never written. No
	// other call may be under way.
	Close()
}

// Consumer is one member of a consumer group, or a client that has its partitions
// assigned by hand.
type Consumer interface {
	// Poll waits until the client has records, or for ctx, and returns all
	// that the client has ready, in chunks of one partition each. An empty
	// result without an error is an empty poll. An error that the client
	// will recover from by itself is reported through ConsumerConfig.OnError
	// and not returned; after a returned error the consumer is of no more use.
	//
	// One goroutine polls. The slice is the driver's and good until the next
	// Poll; a chunk's records are good until its Free. No rebalance happens
	// between a Poll that returned records and the next Poll or Close, so
	// that when OnRevoked is called, the caller knows all that was returned
	// of the partition, and nothing more of it comes afterwards. A caller
	// that does not poll for long while its group rebalances is put out of it.
	Poll(ctx context.Context) ([]Chunk, error)
	// Commit commits, for each partition, the offset of the next record to
	// process, and waits for the answer. It may be called on any goroutine,
	// and in OnRevoked. A consumer without a group has nowhere to commit, and
	// returns an error.
	Commit(ctx context.Context, offsets map[int32]int64) error
	// Settings are the effective settings of the client, defaults included.
	Settings() []Setting
	// Close leaves the group, which revokes what the member still has, and
	// ends the client. No Poll may be under way, and it must not be called in
	// a callback.
	Close()
}

// Pauser is a Consumer that can stop fetching some of its partitions while it
// stays a member of the group.
type Pauser interface {
	// Pause stops fetching partitions: polls that begin after it return
	// nothing of them. It lasts until Resume, or until the partition is lost.
	// In OnAssigned it comes before the first fetch.
	Pause(partitions ...int32)
	// Resume goes on where the partitions' records stopped.
	Resume(partitions ...int32)
}

// Killer is a Consumer that can vanish as it would with its process under kill -9.
type Killer interface {
	// Kill closes the client's connections at once and lets it open no more: no
	// commit, no leave and no heartbeat follows, and the brokers find out by the
	// session timeout. No callback is called that is not under way already; a
	// Poll or a Commit that is under way, or comes later, fails. It may be called
	// on any goroutine, but not in a callback. Close comes after it as ever, and
	// only frees what the client holds in this process.
	Kill()
}

// WireCounter is a Producer or Consumer that counts what crosses the network.
// Its numbers grow from the client's opening; it may be called at any time.
type WireCounter interface {
	Wire() Wire
}

// RequestTimer is a Producer or Consumer that times its requests to the brokers.
// Its numbers grow from the client's opening; it may be called at any time.
type RequestTimer interface {
	Requests() Requests
}

// Requests counts the requests that carry records, and how long they took: from
// before the request was written until its response was read. Time is the sum over
// all requests; ÷ a length of time, it is how many were in flight on average
// (Little's law). Connections are those to brokers that such requests go to.
type Requests struct {
	Produce, Fetch RequestSum
}

// RequestSum is one type of request.
type RequestSum struct {
	Count       int64
	Time        time.Duration
	Connections int
}

// Add returns the sum of both, of different clients.
func (r Requests) Add(o Requests) Requests {
	return Requests{Produce: r.Produce.add(o.Produce), Fetch: r.Fetch.add(o.Fetch)}
}

// Sub returns what was counted since o, over the connections that there are now.
func (r Requests) Sub(o Requests) Requests {
	return Requests{Produce: r.Produce.sub(o.Produce), Fetch: r.Fetch.sub(o.Fetch)}
}

func (s RequestSum) add(o RequestSum) RequestSum {
	return RequestSum{Count: s.Count + o.Count, Time: s.Time + o.Time, Connections: s.Connections + o.Connections}
}

func (s RequestSum) sub(o RequestSum) RequestSum {
	return RequestSum{Count: s.Count - o.Count, Time: s.Time - o.Time, Connections: s.Connections}
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

// Add returns the sum of both.
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

// Sub returns what was counted since o.
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

// Setting is one effective client setting, under the client's own name for it.
type Setting struct {
	Name  string
	Value string
}

// Outcome is what became of a produced record.
type Outcome uint8

const (
	// Acked: the broker acknowledged the record as acks asks (at acks 0: the
	// record was written to the socket).
	Acked Outcome = iota
	// Failed: the record is certainly not in the log (refused by the client
	// or by the broker before the append).
	Failed
	// Unknown: the record may or may not be in the log (timed out, or the
	// connection was lost after the request was written).
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

// Record is one record to produce: a slot that its owner fills, hands to
// Produce, gets back through OnDone and fills again, so that a steady state
// allocates nothing.
type Record struct {
	// Set by the owner.
	Partition int32
	Key       []byte
	Value     []byte
	// Created is the record's timestamp in the log, CreateTime, to the
	// millisecond. The owner has just read a clock; a client need not again.
	Created time.Time
	// Tag is the owner's; it comes back in Done.
	Tag uint64

	// Native is the driver's own object for this slot, kept from use to use.
	Native any
}

// Done is what became of a record. It comes apart from the record, whose memory
// is in the cache of the processor that filled it: a client that writes into it
// on another processor makes both wait.
type Done struct {
	*Record        // that was produced
	Tag     uint64 // of the record
	Outcome Outcome
	Offset  int64 // of an acked record; -1 where the client does not know (acks 0)
	Err     error // why the outcome is not Acked
}

// Chunk is a run of records of one partition as one poll returned it, in the
// order of their offsets.
type Chunk struct {
	Partition int32
	// HighWatermark of the partition as the fetch response gave it. A broker
	// reads it before the records, so it may be behind the last of them.
	HighWatermark int64
	Records       []Received
	// Next is the offset after the chunk and the control records behind it; a
	// chunk of control records alone has no Records. It is 0 where
	// ConsumerConfig.ControlRecords is not set.
	Next int64
	// Free gives the memory of the chunk back to the driver; nil where there
	// is nothing to give. After it, Records must not be touched.
	Free func()
}

// Received is one record out of the log. Its bytes are read-only.
type Received struct {
	Offset int64
	Key    []byte
	Value  []byte
}

// Acks is the number of acknowledgements a producer waits for.
type Acks int8

// The three levels that Kafka knows (producer setting "acks").
const (
	AcksAll    Acks = -1
	AcksNone   Acks = 0
	AcksLeader Acks = 1
)

// ProducerConfig is what a producing client is opened with. A zero leaves the
// client's own default, which Settings then reports, but for Acks and Linger,
// where it means zero.
type ProducerConfig struct {
	Brokers  []string
	Access   access.Access // how the brokers let the client in
	ClientID string
	Topic    string

	Acks        Acks
	Compression string        // none, gzip, snappy, lz4, zstd
	Level       int           // compression level, as Kafka counts them; 0 is the codec's default
	Linger      time.Duration // how long a record waits for others; 0 not at all
	BatchBytes  int32
	OneRecord   bool // each record in a batch of its own
	Idempotent  bool
	InFlight    int // produce requests in flight on one connection

	// MaxBuffered bounds the records that the client holds; the caller keeps
	// below it, so that Produce does not block.
	MaxBuffered int
	// DeliveryTimeout bounds how long a record may take, retries included
	// (Kafka's delivery.timeout.ms); past it the record is Unknown or Failed.
	DeliveryTimeout time.Duration
	// Client are settings by the client's own names, over what the driver makes of all others.
	// The Tables of a Tuner say which there may be.
	Client map[string]string

	// OnDone receives every record that Produce was given, exactly once. It
	// is called on goroutines of the client's, which it holds up: it must be
	// quick, and must not call the producer.
	OnDone func(Done)
}

// ConsumerConfig is what a consuming client is opened with. A zero in a numeric
// field leaves the client's own default, which Settings then reports. A group
// without committed offsets starts at the earliest.
type ConsumerConfig struct {
	Brokers  []string
	Access   access.Access // how the brokers let the client in
	ClientID string
	Topic    string
	Group    string // empty: Partitions says what the client reads
	// Protocol of the group: "classic", or "consumer" (KIP-848).
	Protocol string
	// Partitions are assigned by hand, without a group, each with the offset
	// where it starts; none is a client that never has anything to return. An
	// offset that the log does not hold any more becomes the earliest.
	Partitions map[int32]int64

	FetchMinBytes          int32
	FetchMaxBytes          int32
	FetchMaxPartitionBytes int32
	FetchMaxWait           time.Duration
	// ControlRecords has chunks tell how far the client has read, past the control
	// records that mark the ends of transactions (KIP-98), too. They are never
	// returned: without this, who knows a partition's end does not know that
	// nothing is left to read before it.
	ControlRecords bool
	// MaxPollRecords bounds what one Poll returns (Kafka's max.poll.records);
	// 0 is all that is ready. A caller that works on the records before it
	// polls again needs it, because no rebalance happens meanwhile.
	MaxPollRecords int
	// SessionTimeout is how long the member may be silent before the group gives
	// its partitions to others, in the group protocol "classic"; with "consumer"
	// it is the broker's to set. The broker bounds it from below, too
	// (group.min.session.timeout.ms, 6 s by default), and its refusal ends the
	// consumer.
	SessionTimeout time.Duration
	// Assignor is how the members of a classic group share out partitions, by Kafka's name of
	// it: one of Assignors. Empty is the driver's own choice.
	Assignor string
	// Client are settings by the client's own names, as in ProducerConfig.
	Client map[string]string

	// OnAssigned and OnRevoked tell of a rebalance. OnAssigned names what is
	// new to the member, which may be nothing: the first call, also an empty
	// one, says that the member has joined. OnRevoked names what the member
	// loses. The client waits for it to return, so that it may commit; where
	// the partitions were lost without a chance to commit, lost is true. The
	// callbacks may come on a goroutine of the client's, also before
	// NewConsumer has returned, but never two at a time. Partitions assigned by
	// hand come once and are never revoked.
	OnAssigned func(partitions []int32)
	OnRevoked  func(partitions []int32, lost bool)
	// OnError is told of errors that the client recovers from by itself.
	OnError func(error)
}
