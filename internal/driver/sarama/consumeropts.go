package sarama

import (
	"fmt"
	"time"

	ibm "github.com/IBM/sarama"

	"kafka-bench/internal/driver"
)

// protocolClassic is the group protocol of the client, as Kafka names it (consumer
// setting "group.protocol").
const protocolClassic = "classic"

// consumerConfig translates cfg into the client's configuration.
func consumerConfig(cfg driver.ConsumerConfig, n *network) (*ibm.Config, error) {
	if err := driver.CheckConsumer(New(), cfg); err != nil {
		return nil, err
	}
	if err := checkConsumer(cfg); err != nil {
		return nil, err
	}
	config := newConfig(n, cfg.ClientID, cfg.Access)
	c := &config.Consumer
	c.Return.Errors = true
	c.Offsets.Initial = ibm.OffsetOldest
	c.Offsets.AutoCommit.Enable = false
	c.Retry.BackoffFunc = func(int) time.Duration { return n.unlessCut(c.Retry.Backoff) }
	if cfg.SessionTimeout > 0 {
		c.Group.Session.Timeout = cfg.SessionTimeout
		// Kafka's advice is a third at most, so that no single heartbeat that is
		// lost or late puts a member out of its group.
		c.Group.Heartbeat.Interval = min(c.Group.Heartbeat.Interval, cfg.SessionTimeout/3)
	}
	if cfg.FetchMinBytes > 0 {
		c.Fetch.Min = cfg.FetchMinBytes
	}
	if cfg.FetchMaxBytes > 0 {
		c.Fetch.MaxBytes = cfg.FetchMaxBytes
	}
	if cfg.FetchMaxPartitionBytes > 0 {
		c.Fetch.Default = cfg.FetchMaxPartitionBytes
	}
	if cfg.FetchMaxWait > 0 {
		c.MaxWaitTime = cfg.FetchMaxWait
	}
	if err := config.Validate(); err != nil {
		return nil, fmt.Errorf("%w: consumer: %w", driver.ErrConfig, err)
	}
	return config, nil
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
	case cfg.Group != "" && cfg.Protocol != protocolClassic:
		return fmt.Errorf("%w: consumer: group protocol %q is not known; with sarama it is %s", driver.ErrConfig, cfg.Protocol, protocolClassic)
	case cfg.SessionTimeout < 0 || cfg.FetchMaxWait < 0:
		return fmt.Errorf("%w: consumer: a negative session timeout or fetch wait", driver.ErrConfig)
	case cfg.MaxPollRecords < 0:
		return fmt.Errorf("%w: consumer: at most %d records in a poll", driver.ErrConfig, cfg.MaxPollRecords)
	case cfg.FetchMinBytes < 0 || cfg.FetchMaxBytes < 0 || cfg.FetchMaxPartitionBytes < 0:
		return fmt.Errorf("%w: consumer: a negative fetch size", driver.ErrConfig)
	}
	return nil
}
