//go:build librdkafka && cgo

package librdkafka

import (
	"fmt"
	"time"

	"kafka-bench/internal/driver"
)

// The two group protocols, as Kafka names them (consumer setting
// "group.protocol").
const (
	protocolClassic  = "classic"
	protocolConsumer = "consumer" // KIP-848
)

// noGroup is the group of a client that has none. The client reads nothing without
// one, though it neither joins it nor commits to it when its partitions are
// assigned by hand.
const noGroup = "kafka-bench-no-group"

// defaultHeartbeat is the client's own interval (heartbeat.interval.ms). Kafka's
// advice is a third of the session timeout at most, so that no single heartbeat
// that is lost or late puts a member out of its group.
const defaultHeartbeat = 3 * time.Second

// consumerProperties translates cfg. What is set beyond it makes the client do the
// same work as the others: records are returned as they are in the log, whether
// their transaction has ended or not, and classic groups share out partitions
// without taking all of them back first.
func consumerProperties(cfg driver.ConsumerConfig) (properties, error) {
	if err := checkConsumer(cfg); err != nil {
		return nil, err
	}
	p := common(cfg.Brokers, cfg.ClientID)
	if err := p.admit(cfg.Access); err != nil {
		return nil, fmt.Errorf("%w: consumer: %w", driver.ErrConfig, err)
	}
	p["auto.offset.reset"] = "earliest"
	p["enable.auto.commit"] = "false"
	p["isolation.level"] = "read_uncommitted"
	p["group.id"] = noGroup
	if cfg.Group != "" {
		p.join(cfg)
	}
	if cfg.ControlRecords {
		// The client passes control records in silence, but at a partition's end it
		// says how far it has come.
		p["enable.partition.eof"] = "true"
	}
	p.fetch(cfg)
	return p, nil
}

func (p properties) join(cfg driver.ConsumerConfig) {
	p["group.id"], p["group.protocol"] = cfg.Group, cfg.Protocol
	if cfg.Protocol == protocolConsumer {
		return // the broker says the rest
	}
	p["partition.assignment.strategy"] = "cooperative-sticky"
	if cfg.SessionTimeout > 0 {
		p.setTime("session.timeout.ms", cfg.SessionTimeout)
		p.setTime("heartbeat.interval.ms", min(defaultHeartbeat, cfg.SessionTimeout/3))
	}
}

func (p properties) fetch(cfg driver.ConsumerConfig) {
	if cfg.FetchMinBytes > 0 {
		p.setInt("fetch.min.bytes", int64(cfg.FetchMinBytes))
	}
	if cfg.FetchMaxBytes > 0 {
		// The client raises it to message.max.bytes, and does not tell.
		p.setInt("fetch.max.bytes", max(int64(cfg.FetchMaxBytes), defaultInt("message.max.bytes")))
	}
	if cfg.FetchMaxPartitionBytes > 0 {
		p.setInt("max.partition.fetch.bytes", int64(cfg.FetchMaxPartitionBytes))
	}
	if cfg.FetchMaxWait > 0 {
		p.setTime("fetch.wait.max.ms", cfg.FetchMaxWait)
	}
}

func checkConsumer(cfg driver.ConsumerConfig) error {
	switch {
	case len(cfg.Brokers) == 0:
		return fmt.Errorf("%w: consumer: no brokers", driver.ErrConfig)
	case cfg.Topic == "":
		return fmt.Errorf("%w: consumer: no topic", driver.ErrConfig)
	case cfg.Group == "" && cfg.Partitions == nil:
		return fmt.Errorf("%w: consumer: no group, and no partitions", driver.ErrConfig)
	case cfg.Group != "" && cfg.Partitions != nil:
		return fmt.Errorf("%w: consumer: a group and partitions by hand; it is one or the other", driver.ErrConfig)
	case cfg.Group != "" && cfg.Protocol != protocolClassic && cfg.Protocol != protocolConsumer:
		return fmt.Errorf("%w: consumer: group protocol %q is not known; it is %s or %s",
			driver.ErrConfig, cfg.Protocol, protocolClassic, protocolConsumer)
	case cfg.Protocol == protocolConsumer && cfg.SessionTimeout != 0:
		return fmt.Errorf("%w: consumer: with group protocol consumer the broker sets the session timeout (group.consumer.session.timeout.ms), got %v",
			driver.ErrConfig, cfg.SessionTimeout)
	case cfg.SessionTimeout < 0 || cfg.FetchMaxWait < 0:
		return fmt.Errorf("%w: consumer: a negative session timeout or fetch wait", driver.ErrConfig)
	case cfg.MaxPollRecords < 0:
		return fmt.Errorf("%w: consumer: at most %d records in a poll", driver.ErrConfig, cfg.MaxPollRecords)
	case cfg.FetchMinBytes < 0 || cfg.FetchMaxBytes < 0 || cfg.FetchMaxPartitionBytes < 0:
		return fmt.Errorf("%w: consumer: a negative fetch size", driver.ErrConfig)
	}
	return nil
}
