package driver

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"kafkabench.example/kafka-bench/internal/plan/native"
)

// The group protocols, as Kafka names them (consumer setting "group.protocol").
const (
	ProtocolClassic  = "classic"
	ProtocolConsumer = "consumer" // KIP-848
)

// The assignors of classic groups, as Kafka names them.
const (
	Range       = "range"
	RoundRobin  = "roundrobin"
	Sticky      = "sticky"
	Cooperative = "cooperative-sticky"
)

// Assignors lists the assignors that a client may support.
var Assignors = []string{Range, RoundRobin, Sticky, Cooperative}

// CheckProducer returns an error if cfg asks for something that d lacks or that no client can do. Each driver's
// NewProducer begins with it.
func CheckProducer(d Driver, cfg ProducerConfig) error {
	if err := firstLacking(d, producerNeeds(cfg)); err != nil {
		return err
	}
	if err := cfg.check(); err != nil {
		return fmt.Errorf("%w: producer: %w", ErrConfig, err)
	}
	return checkNatives(d, "producer", cfg.Client, cfg.OneRecord)
}

func checkNatives(d Driver, side string, given map[string]string, oneRecord bool) error {
	if len(given) == 0 {
		return nil
	}
	tuner, able := d.(Tuner)
	if !able {
		return fmt.Errorf("%w: %s: %s passes no settings on to its client", ErrConfig, side, d.Name())
	}
	table, consumer := tuner.Tables()
	if side == "consumer" {
		table = consumer
	}
	faults := make([]error, 0, len(given))
	for _, fault := range table.Check(given) {
		faults = append(faults, fault)
	}
	if _, both := given[table.OneRecord]; both && oneRecord {
		faults = append(faults, native.Fault{Name: table.OneRecord, Problem: "load.batch sets it to one record",
			Remedy: "leave it out, or give load.batch a size"})
	}
	if len(faults) == 0 {
		return nil
	}
	return fmt.Errorf("%w: %s: %w", ErrConfig, side, errors.Join(faults...))
}

// CheckConsumer returns an error if cfg asks for something that d lacks or that no client can do.
func CheckConsumer(d Driver, cfg ConsumerConfig) error {
	if err := firstLacking(d, consumerNeeds(cfg)); err != nil {
		return err
	}
	if err := cfg.check(protocols(d)); err != nil {
		return fmt.Errorf("%w: consumer: %w", ErrConfig, err)
	}
	return checkNatives(d, "consumer", cfg.Client, false)
}

func (c ProducerConfig) check() error {
	switch {
	case len(c.Brokers) == 0:
		return errors.New("no brokers")
	case c.Topic == "":
		return errors.New("no topic")
	case c.OnDone == nil:
		return errors.New("OnDone is not set")
	case c.Acks < AcksAll || c.Acks > AcksLeader:
		return fmt.Errorf("acks %d; they are 0, 1 or all (-1)", c.Acks)
	case c.Idempotent && c.Acks != AcksAll:
		return fmt.Errorf("idempotent needs acks all, got acks %d", c.Acks)
	case c.InFlight < 0:
		return fmt.Errorf("%d requests in flight; it is at least 1, or 0 for the client's default", c.InFlight)
	case c.Linger < 0:
		return fmt.Errorf("linger %v is negative", c.Linger)
	case c.BatchBytes < 0:
		return fmt.Errorf("batches of %d bytes", c.BatchBytes)
	case c.MaxBuffered < 0:
		return fmt.Errorf("%d buffered records", c.MaxBuffered)
	case c.DeliveryTimeout < 0:
		return fmt.Errorf("delivery timeout %v is negative", c.DeliveryTimeout)
	}
	return c.checkCompression()
}

// Levels are as Kafka counts them; 0 means no levels.
var highestLevels = map[string]int{"none": 0, "gzip": 9, "snappy": 0, "lz4": 9, "zstd": 22}

func (c ProducerConfig) checkCompression() error {
	if c.Compression == "" {
		return nil // the client chooses the codec and checks the level
	}
	highest, known := highestLevels[c.Compression]
	switch {
	case !known:
		return fmt.Errorf("compression %q is not known; it is one of none, gzip, snappy, lz4, zstd", c.Compression)
	case highest == 0 && c.Level != 0:
		return fmt.Errorf("compression %s has no levels, got level %d", c.Compression, c.Level)
	case c.Level < 0 || c.Level > highest:
		return fmt.Errorf("compression %s has the levels 1 to %d (0 is its default), got %d", c.Compression, highest, c.Level)
	}
	return nil
}

func (c ConsumerConfig) check(protocols []string) error {
	switch {
	case len(c.Brokers) == 0:
		return errors.New("no brokers")
	case c.Topic == "":
		return errors.New("no topic")
	case c.Group == "" && c.Partitions == nil:
		return errors.New("no group, and no partitions")
	case c.Group != "" && c.Partitions != nil:
		return errors.New("a group and partitions by hand; give only one of them")
	case c.Group != "" && !slices.Contains(protocols, c.Protocol):
		return fmt.Errorf("group protocol %q is not known; the client has %q", c.Protocol, protocols)
	case c.Protocol == ProtocolConsumer && c.SessionTimeout != 0:
		return fmt.Errorf("with group protocol consumer the broker sets the session timeout (group.consumer.session.timeout.ms), got %v",
			c.SessionTimeout)
	case c.Assignor != "" && !slices.Contains(Assignors, c.Assignor):
		return fmt.Errorf("assignor %q is not known; it is one of %q", c.Assignor, Assignors)
	case c.Assignor != "" && (c.Group == "" || c.Protocol != ProtocolClassic):
		return fmt.Errorf("assignor %q; only a classic group has one", c.Assignor)
	case c.SessionTimeout < 0 || c.FetchMaxWait < 0:
		return errors.New("a negative session timeout or fetch wait")
	case c.MaxPollRecords < 0:
		return fmt.Errorf("at most %d records in a poll", c.MaxPollRecords)
	case c.FetchMinBytes < 0 || c.FetchMaxBytes < 0 || c.FetchMaxPartitionBytes < 0:
		return errors.New("a negative fetch size")
	}
	return nil
}

func protocols(d Driver) []string {
	if Lacks(d, ServerGroups) {
		return []string{ProtocolClassic}
	}
	return []string{ProtocolClassic, ProtocolConsumer}
}

// Heartbeat returns the time between two heartbeats: a third of SessionTimeout, as Kafka advises,
// but never longer than the parameter most, which is the client's default.
func (c ConsumerConfig) Heartbeat(most time.Duration) time.Duration {
	return min(most, c.SessionTimeout/3)
}
