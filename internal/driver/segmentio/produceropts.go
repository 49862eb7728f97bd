package segmentio

import (
	"fmt"
	"time"

	"github.com/segmentio/kafka-go"

	"kafka-bench/internal/driver"
)

// writerOptions translates cfg into a Writer without its transport and its functions.
// Combinations that the client does not have are errors.
func writerOptions(cfg driver.ProducerConfig) (*kafka.Writer, error) {
	if err := checkProducer(cfg); err != nil {
		return nil, err
	}
	codec, known := codecs[cfg.Compression]
	if !known {
		return nil, fmt.Errorf("%w: compression %q is not known; it is one of none, gzip, snappy, lz4, zstd", driver.ErrConfig, cfg.Compression)
	}
	w := &kafka.Writer{
		Addr:         kafka.TCP(cfg.Brokers...),
		Topic:        cfg.Topic,
		Async:        true,
		RequiredAcks: kafka.RequiredAcks(cfg.Acks),
		Compression:  codec,
		BatchBytes:   int64(cfg.BatchBytes),
		BatchSize:    batchRecords(cfg),
		BatchTimeout: max(cfg.Linger, shortest),
	}
	if cfg.DeliveryTimeout > 0 {
		w.MaxAttempts = enoughAttempts(cfg.DeliveryTimeout)
	}
	return w, nil
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
	case cfg.Linger < 0:
		return fmt.Errorf("%w: producer: linger %v is negative", driver.ErrConfig, cfg.Linger)
	case cfg.BatchBytes < 0:
		return fmt.Errorf("%w: producer: batches of %d bytes", driver.ErrConfig, cfg.BatchBytes)
	case cfg.MaxBuffered < 0:
		return fmt.Errorf("%w: producer: %d buffered records", driver.ErrConfig, cfg.MaxBuffered)
	case cfg.DeliveryTimeout < 0:
		return fmt.Errorf("%w: producer: delivery timeout %v is negative", driver.ErrConfig, cfg.DeliveryTimeout)
	}
	return nil
}
