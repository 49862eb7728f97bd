package sarama

import (
	"fmt"
	"time"

	ibm "github.com/IBM/sarama"

	"kafkabench.example/kafka-bench/internal/kafka/driver"
	"kafkabench.example/kafka-bench/internal/plan/native"
)

func consumerConfig(cfg driver.ConsumerConfig, n *network) (*ibm.Config, error) {
	if err := driver.CheckConsumer(New(), cfg); err != nil {
		return nil, err
	}
	config := newConfig(n, cfg.Brokers, cfg.ClientID, cfg.Access)
	if err := native.SetFields(config, "", cfg.Client); err != nil {
		return nil, fmt.Errorf("%w: consumer: %w", driver.ErrConfig, err)
	}
	c := &config.Consumer
	c.Return.Errors = true
	c.Offsets.Initial = ibm.OffsetOldest
	c.Offsets.AutoCommit.Enable = false
	c.Retry.BackoffFunc = func(int) time.Duration { return n.unlessCut(c.Retry.Backoff) }
	if strategy, chosen := strategies[cfg.Assignor]; chosen {
		c.Group.Rebalance.GroupStrategies = []ibm.BalanceStrategy{strategy()}
	}
	if cfg.SessionTimeout > 0 {
		c.Group.Session.Timeout = cfg.SessionTimeout
		c.Group.Heartbeat.Interval = cfg.Heartbeat(c.Group.Heartbeat.Interval)
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
