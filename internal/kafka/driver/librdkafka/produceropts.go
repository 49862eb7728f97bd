//go:build librdkafka && cgo

package librdkafka

import (
	"fmt"
	"strconv"
	"time"

	"kafkabench.example/kafka-bench/internal/kafka/driver"
)

const (
	// maxIdempotentInFlight is the highest number of produce requests in flight that keeps their order.
	maxIdempotentInFlight = 5
	// minMessageBytes is the lowest message.max.bytes that the client accepts.
	minMessageBytes = 1000
	// maxZstdLevel is the highest level of any codec that the client accepts (compression.level), although zstd has 22.
	maxZstdLevel = 12
)

// producerProperties rejects what the client would reject or silently ignore.
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
	case cfg.Idempotent: // the client's own behaviour, which it does not report
		p.setInt("max.in.flight.requests.per.connection", maxIdempotentInFlight)
	}
	if cfg.OneRecord {
		p.setInt("batch.num.messages", 1)
	}
	p.give(cfg.Client)
	return p, nil
}

// Unlike in other clients, a batch of one record may exceed batch.size here, so bound also sets
// message.max.bytes. This also allows batches above the client's default.
//
// The client counts a record as buffered slightly longer than the record's owner does. With twice the limit,
// Produce does not find the buffer full if the owner stays within its limit.
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

// compress lowers a zstd level to the client's highest, and Settings then reports the highest.
func (p properties) compress(codec string, level int) {
	p["compression.type"] = codec
	if level > 0 {
		p.setInt("compression.level", int64(min(level, maxZstdLevel)))
	}
}

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
