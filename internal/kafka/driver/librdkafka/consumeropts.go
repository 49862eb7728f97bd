//go:build librdkafka && cgo

package librdkafka

import (
	"cmp"
	"fmt"
	"time"

	"kafkabench.example/kafka-bench/internal/kafka/driver"
)

// The client needs a group to read. If its partitions are assigned by hand, it neither joins this
// group nor commits to it.
const noGroup = "kafka-bench-no-group"

// defaultHeartbeat is the client's own interval (heartbeat.interval.ms).
const defaultHeartbeat = 3 * time.Second

// consumerProperties makes the client work like the others: it returns the records of aborted transactions too, and
// classic groups rebalance incrementally by default.
func consumerProperties(cfg driver.ConsumerConfig) (properties, error) {
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
		// The client skips control records silently. With this property it reports the offset at a
		// partition's end.
		p["enable.partition.eof"] = "true"
	}
	p.fetch(cfg)
	p.give(cfg.Client)
	return p, nil
}

func (p properties) join(cfg driver.ConsumerConfig) {
	p["group.id"], p["group.protocol"] = cfg.Group, cfg.Protocol
	if cfg.Protocol == driver.ProtocolConsumer {
		return // the broker sets the rest
	}
	p["partition.assignment.strategy"] = cmp.Or(cfg.Assignor, driver.Cooperative)
	if cfg.SessionTimeout > 0 {
		p.setTime("session.timeout.ms", cfg.SessionTimeout)
		p.setTime("heartbeat.interval.ms", cfg.Heartbeat(defaultHeartbeat))
	}
}

func (p properties) fetch(cfg driver.ConsumerConfig) {
	if cfg.FetchMinBytes > 0 {
		p.setInt("fetch.min.bytes", int64(cfg.FetchMinBytes))
	}
	if cfg.FetchMaxBytes > 0 {
		// Otherwise the client would silently raise a lower value to message.max.bytes.
		p.setInt("fetch.max.bytes", max(int64(cfg.FetchMaxBytes), defaultInt("message.max.bytes")))
	}
	if cfg.FetchMaxPartitionBytes > 0 {
		p.setInt("max.partition.fetch.bytes", int64(cfg.FetchMaxPartitionBytes))
	}
	if cfg.FetchMaxWait > 0 {
		p.setTime("fetch.wait.max.ms", cfg.FetchMaxWait)
	}
}
