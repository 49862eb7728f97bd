package segmentio

import (
	"fmt"
	"time"

	"github.com/segmentio/kafka-go"

	"kafkabench.example/kafka-bench/internal/kafka/driver"
)

// writerOptions translates cfg, which driver.CheckProducer has passed, into a Writer
// without its transport and its functions.
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

// transportOptions are the Transport without its dialer and its login.
func transportOptions(cfg driver.ProducerConfig) (*kafka.Transport, error) {
	t := &kafka.Transport{
		ClientID:       cfg.ClientID,
		MetadataTopics: []string{cfg.Topic}, // or it would read those of all topics
	}
	return t, set(t, ofTransport, "producer", cfg.Client)
}

// codecs are the client's compressions by Kafka's names. Without a name it does not
// compress, which is its default.
var codecs = map[string]kafka.Compression{
	"": 0, "none": 0, "gzip": kafka.Gzip, "snappy": kafka.Snappy, "lz4": kafka.Lz4, "zstd": kafka.Zstd,
}

// shortest is the linger of a Writer that is not to linger; zero would be its default,
// a second.
const shortest = time.Nanosecond

// The bounds of a batch in records.
const (
	defaultBatchRecords = 100 // the client's own
	mostBatchRecords    = 1000
	smallRecordBytes    = 64
)

// batchRecords is the client's other bound of a batch: Writer.BatchSize, in records.
// Other clients have none, so where a batch lingers, it is raised until the bound in
// bytes is met first with all but the smallest records. There is a price: the Writer
// allocates about 150 bytes for each record that a batch might hold, however few it
// does. So a batch that does not linger, which is small, keeps the default, and none
// is allowed more than mostBatchRecords.
func batchRecords(cfg driver.ProducerConfig) int {
	if cfg.OneRecord {
		return 1
	}
	if cfg.Linger <= 0 || cfg.BatchBytes == 0 {
		return defaultBatchRecords
	}
	return min(max(int(cfg.BatchBytes)/smallRecordBytes, defaultBatchRecords), mostBatchRecords)
}

// The client's waits between attempts (Writer.WriteBackoffMin and Max) and its
// number of attempts, which hold where the caller sets no delivery timeout.
const (
	minBackoff      = 100 * time.Millisecond
	maxBackoff      = time.Second
	defaultAttempts = 10
)

// enoughAttempts are as many as a delivery timeout can take, if each fails at once:
// it is the timeout that ends them (see attempts.go), not their number.
func enoughAttempts(timeout time.Duration) int {
	return defaultAttempts + int(timeout/maxBackoff) + 1
}

// backoff is how long the client waits before it tries again after so many attempts.
func backoff(attempts int) time.Duration {
	return min(time.Duration(attempts*attempts)*minBackoff, maxBackoff)
}
