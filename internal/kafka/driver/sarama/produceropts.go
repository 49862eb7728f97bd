package sarama

import (
	"fmt"
	"time"

	ibm "github.com/IBM/sarama"

	"kafkabench.example/kafka-bench/internal/kafka/driver"
	"kafkabench.example/kafka-bench/internal/plan/native"
)

// producerConfig rejects what the client would reject or silently ignore.
func producerConfig(cfg driver.ProducerConfig, n *network) (*ibm.Config, error) {
	if err := driver.CheckProducer(New(), cfg); err != nil {
		return nil, err
	}
	if err := checkProducer(cfg); err != nil {
		return nil, err
	}
	config := newConfig(n, cfg.Brokers, cfg.ClientID, cfg.Access)
	if err := native.SetFields(config, "", cfg.Client); err != nil { // before setPatience, which uses some of them
		return nil, fmt.Errorf("%w: producer: %w", driver.ErrConfig, err)
	}
	p := &config.Producer
	p.Return.Successes, p.Return.Errors = true, true
	p.Partitioner = ibm.NewManualPartitioner
	p.RequiredAcks = ibm.RequiredAcks(cfg.Acks)
	p.Flush.Frequency = cfg.Linger
	if cfg.Compression != "" {
		if err := p.Compression.UnmarshalText([]byte(cfg.Compression)); err != nil {
			return nil, fmt.Errorf("%w: producer: %w", driver.ErrConfig, err)
		}
	}
	if err := setLevel(config, cfg.Level); err != nil {
		return nil, err
	}
	if cfg.BatchBytes > 0 {
		p.MaxMessageBytes = int(cfg.BatchBytes)
	}
	if cfg.OneRecord {
		p.Flush.MaxMessages, p.Flush.Frequency = 1, 0 // a full batch does not wait
	}
	if cfg.InFlight > 0 {
		config.Net.MaxOpenRequests = cfg.InFlight
	}
	if cfg.Idempotent {
		p.Idempotent = true
		config.Net.MaxOpenRequests = 1 // the client requires 1, even if InFlight is higher
	}
	switch {
	case p.Retry.Backoff <= 0 || config.Metadata.Retry.Backoff <= 0:
		return nil, fmt.Errorf("%w: producer: Producer.Retry.Backoff is %v and Metadata.Retry.Backoff %v; give both more than 0",
			driver.ErrConfig, p.Retry.Backoff, config.Metadata.Retry.Backoff)
	case cfg.OneRecord && (p.Flush.Messages > 0 || p.Flush.Bytes > 0):
		return nil, fmt.Errorf("%w: producer: with load.batch 1 record, Producer.Flush.Messages and Producer.Flush.Bytes hold records back; leave them out",
			driver.ErrConfig)
	case cfg.Linger == 0 && (p.Flush.Messages > 0 || p.Flush.Bytes > 0):
		return nil, fmt.Errorf("%w: producer: without a linger time, Producer.Flush.Messages and Producer.Flush.Bytes hold the last records back for ever; give load.linger",
			driver.ErrConfig)
	}
	setPatience(config, cfg.DeliveryTimeout)
	p.Retry.BackoffFunc = func(int, int) time.Duration { return n.unlessCut(p.Retry.Backoff) }
	if err := config.Validate(); err != nil {
		return nil, fmt.Errorf("%w: producer: %w", driver.ErrConfig, err)
	}
	return config, nil
}

// The client counts levels as Kafka does, but has none for lz4 and would silently ignore one.
func setLevel(config *ibm.Config, level int) error {
	if level == 0 {
		return nil
	}
	switch codec := config.Producer.Compression; codec {
	case ibm.CompressionGZIP, ibm.CompressionZSTD:
		config.Producer.CompressionLevel = level
		return nil
	default:
		return fmt.Errorf("%w: producer: compression %v has no levels with sarama, got level %d; leave it out",
			driver.ErrConfig, codec, level)
	}
}

func checkProducer(cfg driver.ProducerConfig) error {
	if cfg.DeliveryTimeout > 0 && cfg.DeliveryTimeout < time.Second {
		return fmt.Errorf("%w: producer: delivery timeout %v; the driver takes 1s and more, or 0 for none",
			driver.ErrConfig, cfg.DeliveryTimeout)
	}
	return nil
}
