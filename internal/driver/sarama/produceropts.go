package sarama

import (
	"fmt"
	"time"

	ibm "github.com/IBM/sarama"

	"kafka-bench/internal/driver"
)

// producerConfig translates cfg into the client's configuration. Combinations that
// the client would refuse, or silently ignore, are errors here.
func producerConfig(cfg driver.ProducerConfig, n *network) (*ibm.Config, error) {
	if err := driver.CheckProducer(New(), cfg); err != nil {
		return nil, err
	}
	if err := checkProducer(cfg); err != nil {
		return nil, err
	}
	config := newConfig(n, cfg.ClientID, cfg.Access)
	p := &config.Producer
	p.Return.Successes, p.Return.Errors = true, true
	p.Partitioner = ibm.NewManualPartitioner
	p.RequiredAcks = ibm.RequiredAcks(cfg.Acks) // both as Kafka counts them
	p.Flush.Frequency = cfg.Linger
	if cfg.Compression != "" {
		if err := p.Compression.UnmarshalText([]byte(cfg.Compression)); err != nil {
			return nil, fmt.Errorf("%w: producer: compression %q is not known; it is one of none, gzip, snappy, lz4, zstd", driver.ErrConfig, cfg.Compression)
		}
	}
	if err := setLevel(config, cfg.Level); err != nil {
		return nil, err
	}
	if cfg.BatchBytes > 0 {
		p.MaxMessageBytes = int(cfg.BatchBytes)
	}
	if cfg.InFlight > 0 {
		config.Net.MaxOpenRequests = cfg.InFlight
	}
	if cfg.Idempotent {
		p.Idempotent = true
		config.Net.MaxOpenRequests = 1 // the client insists, whatever the limit
	}
	setPatience(config, cfg.DeliveryTimeout)
	p.Retry.BackoffFunc = func(int, int) time.Duration { return n.unlessCut(p.Retry.Backoff) }
	if err := config.Validate(); err != nil {
		return nil, fmt.Errorf("%w: producer: %w", driver.ErrConfig, err)
	}
	return config, nil
}

// setLevel sets the level of compression, where 0 is the codec's default. The client
// counts the levels as Kafka does, but has none for lz4, and would not say so.
func setLevel(config *ibm.Config, level int) error {
	highest := 0
	switch config.Producer.Compression {
	case ibm.CompressionGZIP:
		highest = 9
	case ibm.CompressionZSTD:
		highest = 22
	}
	switch {
	case level == 0:
		return nil
	case highest == 0:
		return fmt.Errorf("%w: producer: compression %v has no levels with sarama, got level %d; leave it out", driver.ErrConfig, config.Producer.Compression, level)
	case level < 0 || level > highest:
		return fmt.Errorf("%w: producer: compression %v has the levels 1 to %d (0 is its default), got %d",
			driver.ErrConfig, config.Producer.Compression, highest, level)
	}
	config.Producer.CompressionLevel = level
	return nil
}

func checkProducer(cfg driver.ProducerConfig) error {
	switch {
	case len(cfg.Brokers) == 0:
		return fmt.Errorf("%w: producer: no brokers", driver.ErrConfig)
	case cfg.Topic == "":
		return fmt.Errorf("%w: producer: no topic", driver.ErrConfig)
	case cfg.OnDone == nil:
		return fmt.Errorf("%w: producer: OnDone is not set", driver.ErrConfig)
	case cfg.Acks < driver.AcksAll || cfg.Acks > driver.AcksLeader:
		return fmt.Errorf("%w: producer: acks %d; they are 0, 1 or all (-1)", driver.ErrConfig, cfg.Acks)
	case cfg.Idempotent && cfg.Acks != driver.AcksAll:
		return fmt.Errorf("%w: producer: idempotent needs acks all, got acks %d", driver.ErrConfig, cfg.Acks)
	case cfg.InFlight < 0:
		return fmt.Errorf("%w: producer: %d requests in flight; it is at least 1, or 0 for the client's default", driver.ErrConfig, cfg.InFlight)
	case cfg.Linger < 0:
		return fmt.Errorf("%w: producer: linger %v is negative", driver.ErrConfig, cfg.Linger)
	case cfg.BatchBytes < 0:
		return fmt.Errorf("%w: producer: batches of %d bytes", driver.ErrConfig, cfg.BatchBytes)
	case cfg.MaxBuffered < 0:
		return fmt.Errorf("%w: producer: %d buffered records", driver.ErrConfig, cfg.MaxBuffered)
	case cfg.DeliveryTimeout < 0 || cfg.DeliveryTimeout > 0 && cfg.DeliveryTimeout < time.Second:
		return fmt.Errorf("%w: producer: delivery timeout %v; the driver takes 1s and more, or 0 for none", driver.ErrConfig, cfg.DeliveryTimeout)
	}
	return nil
}
