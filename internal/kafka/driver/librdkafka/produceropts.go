//go:build librdkafka && cgo

package librdkafka

import (
	"fmt"
	"strconv"
	"time"

	"kafkabench.example/kafka-bench/internal/kafka/driver"
)

const (
	// maxIdempotentInFlight is the highest number of produce requests in flight with
	// which Kafka keeps the order of an idempotent producer, and its default then.
	maxIdempotentInFlight = 5
	// minMessageBytes is the lowest message.max.bytes that the client takes.
	minMessageBytes = 1000
	// maxZstdLevel is the highest level of any codec that the client takes
	// (compression.level), though zstd has 22.
	maxZstdLevel = 12
)

// producerProperties translates cfg, which driver.CheckProducer has passed.
// Combinations that the client would refuse with words of its own, or silently ignore,
// are errors here.
func producerProperties(cfg driver.ProducerConfig) (properties, error) {
	if err := checkProducer(cfg); err != nil {
		return nil, err
	}
	p := common(cfg.Brokers, cfg.ClientID)
	if err := p.admit(cfg.Access); err != nil {
		return nil, fmt.Errorf("%w: producer: %w", driver.ErrConfig, err)
	}
	p["acks"] = acksWord(cfg.Acks)
	p["linger.ms"] = strconv.FormatFloat(float64(cfg.Linger)/float64(time.Millisecond), 'f', -1, 64)
	if cfg.Compression != "" {
		p.compress(cfg.Compression, cfg.Level)
	}
	p.bound(cfg)
	p["enable.idempotence"] = strconv.FormatBool(cfg.Idempotent)
	switch {
	case cfg.InFlight > 0:
		p.setInt("max.in.flight.requests.per.connection", int64(cfg.InFlight))
	case cfg.Idempotent: // the client does so by itself, and does not tell
		p.setInt("max.in.flight.requests.per.connection", maxIdempotentInFlight)
	}
	if cfg.OneRecord {
		p.setInt("batch.num.messages", 1)
	}
	p.give(cfg.Client)
	return p, nil
}

// bound sets the limits of batches, of the buffer and of time.
//
// batch.size alone is no limit: a record that is larger goes by itself. For other
// clients it is one, so message.max.bytes is set with it. The client sends one
// batch in a request, so that it bounds the same thing, and makes room for batches
// above its default, too.
//
// The client counts a record as buffered until a whole batch of delivery reports
// is read, a little longer than its owner does. With twice the room, Produce does
// not find the buffer full as long as the owner keeps to its bound.
func (p properties) bound(cfg driver.ProducerConfig) {
	if cfg.BatchBytes > 0 {
		p.setInt("batch.size", int64(cfg.BatchBytes))
		p.setInt("message.max.bytes", max(minMessageBytes, int64(cfg.BatchBytes)))
	}
	if cfg.MaxBuffered > 0 {
		p.setInt("queue.buffering.max.messages", 2*int64(cfg.MaxBuffered))
	}
	if cfg.DeliveryTimeout > 0 {
		p.setTime("delivery.timeout.ms", cfg.DeliveryTimeout)
	}
}

// compress sets codec and level. Of a level that zstd has and the client does not
// take, the nearest stands for it, which the settings show.
func (p properties) compress(codec string, level int) {
	p["compression.type"] = codec
	if level > 0 {
		p.setInt("compression.level", int64(min(level, maxZstdLevel)))
	}
}

// checkProducer checks what this client does not take, beside what no client does.
func checkProducer(cfg driver.ProducerConfig) error {
	switch {
	case cfg.Idempotent && cfg.InFlight > maxIdempotentInFlight:
		return fmt.Errorf("%w: producer: idempotent allows at most %d requests in flight, got %d",
			driver.ErrConfig, maxIdempotentInFlight, cfg.InFlight)
	case cfg.DeliveryTimeout > 0 && cfg.DeliveryTimeout < time.Millisecond:
		return fmt.Errorf("%w: producer: delivery timeout %v; it is 1ms and more, or 0 for the client's default",
			driver.ErrConfig, cfg.DeliveryTimeout)
	}
	return nil
}

func acksWord(acks driver.Acks) string {
	if acks == driver.AcksAll {
		return "all"
	}
	return strconv.Itoa(int(acks))
}
