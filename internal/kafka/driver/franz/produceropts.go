package franz

import (
	"fmt"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"kafkabench.example/kafka-bench/internal/kafka/driver"
)

// With idempotence, the client fixes the number of produce requests in flight on a connection.
const idempotentInFlight = 5

// producerOptions rejects what the client would reject or silently ignore.
func producerOptions(cfg driver.ProducerConfig) ([]kgo.Opt, error) {
	if err := checkProducer(cfg); err != nil {
		return nil, err
	}
	options := []kgo.Opt{
		kgo.SeedBrokers(cfg.Brokers...),
		kgo.DisableClientMetrics(),
		kgo.RecordPartitioner(kgo.ManualPartitioner()),
		kgo.RequiredAcks(requiredAcks(cfg.Acks)),
		kgo.ProducerLinger(cfg.Linger),
	}
	options = append(options, cfg.Access.Login()...)
	if cfg.ClientID != "" {
		options = append(options, kgo.ClientID(cfg.ClientID))
	}
	if cfg.Compression != "" {
		options = append(options, kgo.ProducerBatchCompression(codec(cfg.Compression, cfg.Level)))
	}
	if cfg.BatchBytes > 0 {
		options = append(options, kgo.ProducerBatchMaxBytes(cfg.BatchBytes))
	}
	if cfg.MaxBuffered > 0 {
		options = append(options, kgo.MaxBufferedRecords(cfg.MaxBuffered))
	}
	options = append(options, orderOptions(cfg)...)
	options = append(options, deliveryOptions(cfg)...)
	given, err := producerNatives.given(cfg.Client)
	return append(options, given...), err
}

func orderOptions(cfg driver.ProducerConfig) []kgo.Opt {
	if cfg.Idempotent {
		return nil
	}
	options := []kgo.Opt{kgo.DisableIdempotentWrite()}
	if cfg.InFlight > 0 {
		options = append(options, kgo.MaxProduceRequestsInflightPerBroker(cfg.InFlight))
	}
	return options
}

// The client checks a record's age only before it writes a request and after one has ended. So the two request
// timeouts together must not exceed the delivery timeout, as in Kafka's own client. A record may still exceed it:
// after an error that needs new metadata, the client waits up to 5 s for the metadata
// (kgo.MetadataMinAge) before it checks the record.
func deliveryOptions(cfg driver.ProducerConfig) []kgo.Opt {
	if cfg.DeliveryTimeout == 0 {
		return nil
	}
	options := []kgo.Opt{kgo.RecordDeliveryTimeout(cfg.DeliveryTimeout)}
	if half := cfg.DeliveryTimeout / 2; half < requestTimeout {
		options = append(options, kgo.ProduceRequestTimeout(half), kgo.RequestTimeoutOverhead(half))
	}
	if cfg.Idempotent {
		options = append(options, kgo.AllowIdempotentProduceCancellation())
	}
	return options
}

// requestTimeout is the client's default of both kgo.ProduceRequestTimeout and kgo.RequestTimeoutOverhead.
const requestTimeout = 10 * time.Second

func checkProducer(cfg driver.ProducerConfig) error {
	switch {
	case cfg.Idempotent && cfg.InFlight != 0 && cfg.InFlight != idempotentInFlight:
		return fmt.Errorf("%w: producer: idempotent always has %d requests in flight with franz-go, got %d; leave it out or switch idempotent off",
			driver.ErrConfig, idempotentInFlight, cfg.InFlight)
	case cfg.DeliveryTimeout > 0 && cfg.DeliveryTimeout < time.Second:
		return fmt.Errorf("%w: producer: delivery timeout %v; franz-go takes 1s and more, or 0 for none", driver.ErrConfig, cfg.DeliveryTimeout)
	}
	return nil
}

func requiredAcks(acks driver.Acks) kgo.Acks {
	switch acks {
	case driver.AcksNone:
		return kgo.NoAck()
	case driver.AcksLeader:
		return kgo.LeaderAck()
	default:
		return kgo.AllISRAcks()
	}
}
