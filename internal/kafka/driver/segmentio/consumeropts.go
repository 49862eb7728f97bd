package segmentio

import (
	"cmp"
	"fmt"
	"time"

	"github.com/segmentio/kafka-go"

	"kafkabench.example/kafka-bench/internal/kafka/driver"
)

// The client's own defaults that the driver needs before the client sets them.
const (
	defaultMaxBytes    = 1e6
	defaultDialTimeout = 10 * time.Second // of kafka.DefaultDialer
	defaultHeartbeat   = 3 * time.Second
)

// The Reader subtracts roundTrip from kafka.ReaderConfig.MaxWait to get the broker's wait, or a
// quarter of MaxWait if MaxWait is shorter than roundTrip.
const roundTrip = time.Second

func brokerWait(maxWait time.Duration) time.Duration {
	if maxWait < roundTrip {
		return maxWait - maxWait/4
	}
	return maxWait - roundTrip
}

func readerOptions(cfg driver.ConsumerConfig) (kafka.ReaderConfig, error) {
	reader := kafka.ReaderConfig{
		Brokers:  cfg.Brokers,
		Topic:    cfg.Topic,
		MinBytes: int(cfg.FetchMinBytes),
		MaxBytes: maxBytes(cfg),
		// The tool measures the lag itself.
		ReadLagInterval: -1,
	}
	if cfg.FetchMaxWait > 0 {
		reader.MaxWait = cfg.FetchMaxWait + roundTrip
	}
	if reader.MinBytes > reader.MaxBytes {
		return reader, fmt.Errorf("%w: consumer: a fetch of at least %d bytes and at most %d", driver.ErrConfig,
			reader.MinBytes, reader.MaxBytes)
	}
	if err := set(&reader, ofReader, "consumer", cfg.Client); err != nil {
		return reader, err
	}
	if err := reader.Validate(); err != nil {
		return reader, fmt.Errorf("%w: consumer: %w", driver.ErrConfig, err)
	}
	return reader, checkReader(reader)
}

// checkReader refuses what Validate accepts, but NewReader panics at.
func checkReader(r kafka.ReaderConfig) error {
	least, most := cmp.Or(r.ReadBackoffMin, 100*time.Millisecond), cmp.Or(r.ReadBackoffMax, time.Second)
	switch {
	case least > most:
		return fmt.Errorf("%w: consumer: ReaderConfig.ReadBackoffMin is %v and ReadBackoffMax %v; give at least as much", driver.ErrConfig,
			least, most)
	case r.QueueCapacity < 0:
		return fmt.Errorf("%w: consumer: ReaderConfig.QueueCapacity is %d; give at least 1", driver.ErrConfig, r.QueueCapacity)
	}
	return nil
}

func dialerOptions(cfg driver.ConsumerConfig) (*kafka.Dialer, error) {
	d := &kafka.Dialer{ClientID: cfg.ClientID, Timeout: defaultDialTimeout}
	return d, set(d, ofDialer, "consumer", cfg.Client)
}

// A fetch has only one partition, so both limits apply to it.
func maxBytes(cfg driver.ConsumerConfig) int {
	switch fetch, partition := int(cfg.FetchMaxBytes), int(cfg.FetchMaxPartitionBytes); {
	case fetch == 0 && partition == 0:
		return defaultMaxBytes
	case fetch == 0:
		return partition
	case partition == 0:
		return fetch
	default:
		return min(fetch, partition)
	}
}

func groupOptions(cfg driver.ConsumerConfig) (kafka.ConsumerGroupConfig, error) {
	group := kafka.ConsumerGroupConfig{
		ID:             cfg.Group,
		Brokers:        cfg.Brokers,
		Topics:         []string{cfg.Topic},
		StartOffset:    kafka.FirstOffset,
		SessionTimeout: cfg.SessionTimeout,
	}
	if cfg.SessionTimeout > 0 {
		group.HeartbeatInterval = cfg.Heartbeat(defaultHeartbeat)
	}
	if balancer, chosen := balancers[cfg.Assignor]; chosen {
		group.GroupBalancers = []kafka.GroupBalancer{balancer}
	}
	if err := set(&group, ofGroup, "consumer", cfg.Client); err != nil {
		return group, err
	}
	if err := group.Validate(); err != nil { // also sets the defaults
		return group, fmt.Errorf("%w: consumer: %w", driver.ErrConfig, err)
	}
	return group, nil
}
