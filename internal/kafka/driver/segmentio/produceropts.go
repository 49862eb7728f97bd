package segmentio

import (
	"fmt"
	"time"

	"github.com/segmentio/kafka-go"

	"kafkabench.example/kafka-bench/internal/kafka/driver"
)

func writerOptions(cfg driver.ProducerConfig) (*kafka.Writer, error) {
	w := &kafka.Writer{
		Addr:         kafka.TCP(cfg.Brokers...),
		Topic:        cfg.Topic,
		Async:        true,
		RequiredAcks: kafka.RequiredAcks(cfg.Acks),
		Compression:  codecs[cfg.Compression],
		BatchBytes:   int64(cfg.BatchBytes),
		BatchSize:    batchRecords(cfg),
		BatchTimeout: max(cfg.Linger, shortest),
	}
	if cfg.DeliveryTimeout > 0 {
		w.MaxAttempts = enoughAttempts(cfg.DeliveryTimeout)
	}
	if err := set(w, ofWriter, "producer", cfg.Client); err != nil {
		return nil, err
	}
	if w.BatchSize < 1 || w.ReadTimeout < 0 || w.WriteTimeout < 0 {
		return nil, fmt.Errorf("%w: producer: %sBatchSize below 1, or a negative time", driver.ErrConfig, ofWriter)
	}
	return w, nil
}

func transportOptions(cfg driver.ProducerConfig) (*kafka.Transport, error) {
	t := &kafka.Transport{
		ClientID:       cfg.ClientID,
		MetadataTopics: []string{cfg.Topic}, // otherwise the client would read the metadata of all topics
	}
	return t, set(t, ofTransport, "producer", cfg.Client)
}

// The client's default is none.
var codecs = map[string]kafka.Compression{
	"": 0, "none": 0, "gzip": kafka.Gzip, "snappy": kafka.Snappy, "lz4": kafka.Lz4, "zstd": kafka.Zstd,
}

// shortest is the BatchTimeout for no linger; 0 would mean the Writer's default of 1 s.
const shortest = time.Nanosecond

const (
	defaultBatchRecords = 100
	mostBatchRecords    = 1000
	smallRecordBytes    = 64
)

// Writer.BatchSize is the client's second limit of a batch, in records, which other clients lack. For batches that
// linger it is so high that the limit in bytes applies first, except for very small records. The Writer allocates
// about 150 bytes for each possible record, so batches that do not linger keep the default.
func batchRecords(cfg driver.ProducerConfig) int {
	if cfg.OneRecord {
		return 1
	}
	if cfg.Linger <= 0 || cfg.BatchBytes == 0 {
		return defaultBatchRecords
	}
	return min(max(int(cfg.BatchBytes)/smallRecordBytes, defaultBatchRecords), mostBatchRecords)
}

// The Writer's defaults of WriteBackoffMin, WriteBackoffMax and MaxAttempts. The driver's own
// retries (feed.go) use them too.
const (
	minBackoff      = 100 * time.Millisecond
	maxBackoff      = time.Second
	defaultAttempts = 10
)

// More attempts than fit into the delivery timeout, so that the timeout ends them (attempts.go).
func enoughAttempts(timeout time.Duration) int {
	return defaultAttempts + int(timeout/maxBackoff) + 1
}

func backoff(attempts int) time.Duration {
	return min(time.Duration(attempts*attempts)*minBackoff, maxBackoff)
}
