package engine

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"

	"kafkabench.example/kafka-bench/kmq/internal/lease"
)

var refused = []error{
	kerr.MessageTooLarge, kerr.RecordListTooLarge, kerr.InvalidRecord, kerr.InvalidTimestamp,
	kerr.PolicyViolation, kerr.UnsupportedForMessageFormat,
}

// Refused reports whether an error concerns only the record, not the topic or the producer. The
// caller sets the record aside and writes the others. Such an error is [Fatal] too.
func Refused(err error) bool {
	return slices.ContainsFunc(refused, func(r error) bool { return errors.Is(err, r) })
}

// Copier writes copies of records. Brokers limit compressed batches, but the client limits
// uncompressed ones. So a copy that one of them refuses as too large gets a batch of its own,
// compressed with the original's codec or with zstd, whichever is shorter. A Copier's methods are
// safe for concurrent use.
type Copier struct {
	cfg    *Config
	client *kgo.Client
	codec  *leastOf
	turn   chan struct{}

	mu     sync.Mutex
	large  *kgo.Client
	closed bool

	missing Missing // of the dead-letter topic
}

// NewCopier returns a Copier that writes with client, which has cfg.ProducerOptions, and does not
// close it.
func NewCopier(cfg *Config, client *kgo.Client) *Copier {
	return &Copier{cfg: cfg, client: client, codec: newLeastOf(), turn: make(chan struct{}, 1)}
}

// Write produces each record once and waits for the results until ctx or the client ends. It returns one error for
// each record. A record without a result has ctx's error or kgo.ErrClientClosed, and may be in the log or still be
// written: an idempotent producer never gives up a record that it has sent.
func (c *Copier) Write(ctx context.Context, records ...*kgo.Record) []error {
	errs := c.together(ctx, records)
	for i, err := range errs {
		if errors.Is(err, kerr.MessageTooLarge) {
			errs[i] = c.alone(ctx, *records[i])
		}
	}
	return errs
}

// Bury writes a dead letter and retries with backoff. It returns a [Fatal] error, ctx's error, or
// the error of a topic that has been [Missing] for too long.
func (c *Copier) Bury(ctx context.Context, dead *kgo.Record) error {
	var refused error
	err := Persist(ctx, c.cfg.Log, "copy to the dead-letter topic", func(ctx context.Context) error {
		err := c.Write(ctx, dead)[0]
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.missing.Refuses(err) {
			refused = err
			return nil
		}
		return err
	})
	if err == nil {
		err = refused
	}
	return err
}

func (c *Copier) together(ctx context.Context, records []*kgo.Record) []error {
	type outcome struct {
		of  int
		err error
	}
	written := make(chan outcome, len(records)) // so that no late result blocks
	for i, r := range records {
		to := *r // a copy, which the client then owns: r may be retried
		c.client.Produce(ctx, &to, func(_ *kgo.Record, err error) { written <- outcome{i, err} })
	}
	errs, known := make([]error, len(records)), make([]bool, len(records))
	for range records {
		select {
		case w := <-written:
			errs[w.of], known[w.of] = w.err, true
		case <-ctx.Done():
			return otherwise(errs, known, ctx.Err())
		case <-c.client.Context().Done():
			return otherwise(errs, known, kgo.ErrClientClosed)
		}
	}
	return errs
}

func otherwise(errs []error, known []bool, err error) []error {
	for i := range errs {
		if !known[i] {
			errs[i] = err
		}
	}
	return errs
}

func (c *Copier) alone(ctx context.Context, r kgo.Record) error {
	cl, err := c.forLarge()
	if err != nil {
		return err
	}
	select {
	case c.turn <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	case <-cl.Context().Done():
		return lease.ErrClosed
	}
	c.codec.like.Store(int32(r.Attrs.CompressionType()))
	written := make(chan error, 1)
	cl.Produce(ctx, &r, func(_ *kgo.Record, err error) {
		<-c.turn
		written <- err
	})
	select {
	case err := <-written:
		return err
	case <-ctx.Done():
		return ctx.Err()
	case <-cl.Context().Done():
		return kgo.ErrClientClosed
	}
}

func (c *Copier) forLarge() (*kgo.Client, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return nil, lease.ErrClosed
	}
	if c.large == nil {
		cl, err := kgo.NewClient(c.cfg.ClientOptions(append(c.cfg.ProducerOptions(), c.codec.options()...)...)...)
		if err != nil {
			return nil, fmt.Errorf("%w: %w", lease.ErrConfig, err)
		}
		c.large = cl
	}
	return c.large, nil
}

// Close ends the client for large records; later large writes fail.
func (c *Copier) Close() {
	c.mu.Lock()
	c.closed = true
	large := c.large
	c.mu.Unlock()
	if large != nil {
		large.Close()
	}
}

// LargeOptions returns options of a producer that leaves the batch limit to the brokers and compresses well. It may
// have one batch at a time.
func LargeOptions() []kgo.Opt { return newLeastOf().options() }

const mostBytes = 1 << 30

func (l *leastOf) options() []kgo.Opt {
	return []kgo.Opt{kgo.ProducerBatchMaxBytes(mostBytes), kgo.BrokerMaxWriteBytes(mostBytes), kgo.WithCompressor(l)}
}

type leastOf struct {
	like   atomic.Int32
	codecs map[kgo.CompressionCodecType]kgo.Compressor
}

func newLeastOf() *leastOf {
	l := &leastOf{codecs: make(map[kgo.CompressionCodecType]kgo.Compressor)}
	for kind, codec := range map[kgo.CompressionCodecType]kgo.CompressionCodec{
		kgo.CodecGzip: kgo.GzipCompression(), kgo.CodecSnappy: kgo.SnappyCompression(),
		kgo.CodecLz4: kgo.Lz4Compression(), kgo.CodecZstd: kgo.ZstdCompression(),
	} {
		if c, err := kgo.DefaultCompressor(codec); err == nil {
			l.codecs[kind] = c
		}
	}
	return l
}

// Compress implements [kgo.Compressor].
func (l *leastOf) Compress(dst *bytes.Buffer, src []byte, flags ...kgo.CompressFlag) ([]byte, kgo.CompressionCodecType) {
	out, kind := l.codecs[kgo.CodecZstd].Compress(dst, src, flags...)
	like := kgo.CompressionCodecType(l.like.Load())
	if c := l.codecs[like]; c != nil && like != kgo.CodecZstd {
		var other bytes.Buffer
		if o, k := c.Compress(&other, src, flags...); len(o) < len(out) {
			return o, k
		}
	}
	return out, kind
}
