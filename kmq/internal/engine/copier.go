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

// refused are the errors by which a broker, or the client before it, will not have a
// record as it is.
var refused = []error{
	kerr.MessageTooLarge, kerr.RecordListTooLarge, kerr.InvalidRecord, kerr.InvalidTimestamp,
	kerr.PolicyViolation, kerr.UnsupportedForMessageFormat,
}

// Refused is whether an error is about the record that was to be written, and not about the
// topic or who writes: others can be written, and that one is to be set aside. Such an
// error is [Fatal] too.
func Refused(err error) bool {
	return slices.ContainsFunc(refused, func(r error) bool { return errors.Is(err, r) })
}

// Copier writes copies of records. A broker's limit is one of compressed batches, while a
// client's is of what is not compressed: a copy that is too large for a batch of its
// client is written alone, with the compression that its original had, or a better one.
// Its methods may be called on any goroutine.
type Copier struct {
	cfg    *Config
	client *kgo.Client
	codec  *leastOf
	turn   chan struct{} // one large record at a time, until its outcome is known

	mu     sync.Mutex
	large  *kgo.Client
	closed bool

	missing Missing // the dead-letter topic, or not
}

// NewCopier writes by a client that has cfg.ProducerOptions. It does not close that one.
func NewCopier(cfg *Config, client *kgo.Client) *Copier {
	return &Copier{cfg: cfg, client: client, codec: newLeastOf(), turn: make(chan struct{}, 1)}
}

// Write produces records once each and waits for all, at most until ctx or the client ends.
// The errors are those of the records, in their order. A record whose outcome is not known
// by then has ctx's error, or kgo.ErrClientClosed: it may be in the log, or come there yet,
// and is to be taken neither as written nor as not written. Where a broker does not answer
// there is no waiting for more: what an idempotent producer has sent it does not give up.
func (c *Copier) Write(ctx context.Context, records ...*kgo.Record) []error {
	errs := c.together(ctx, records)
	for i, err := range errs {
		if errors.Is(err, kerr.MessageTooLarge) {
			errs[i] = c.alone(ctx, *records[i])
		}
	}
	return errs
}

// Bury writes a dead letter, with backoff, for as long as that may be mended by itself. It
// returns an error that is [Fatal], ctx's, or that of a topic that is [Missing] for too long.
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

// together writes records by the client that the copier was given.
func (c *Copier) together(ctx context.Context, records []*kgo.Record) []error {
	type outcome struct {
		of  int
		err error
	}
	written := make(chan outcome, len(records)) // has room for what comes when nobody waits any more
	for i, r := range records {
		to := *r // the client's own, while this one may be tried again
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

// otherwise gives an error to those that are not known.
func otherwise(errs []error, known []bool, err error) []error {
	for i := range errs {
		if !known[i] {
			errs[i] = err
		}
	}
	return errs
}

// alone writes one record in a batch of its own.
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

// forLarge is the client that writes large records.
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

// Close ends what the copier opened, and with it the writing of a large record that is under
// way. Nothing large is written any more.
func (c *Copier) Close() {
	c.mu.Lock()
	c.closed = true
	large := c.large
	c.mu.Unlock()
	if large != nil {
		large.Close()
	}
}

// LargeOptions are those of a producer that leaves it to the brokers whether a batch is too
// large, and compresses well, for engines that write copies by a client of their own
// (within a transaction). Give such a client no more at once than a batch may have.
func LargeOptions() []kgo.Opt { return newLeastOf().options() }

// mostBytes is the largest batch that the client has.
const mostBytes = 1 << 30

func (l *leastOf) options() []kgo.Opt {
	return []kgo.Opt{kgo.ProducerBatchMaxBytes(mostBytes), kgo.BrokerMaxWriteBytes(mostBytes), kgo.WithCompressor(l)}
}

// leastOf compresses by the codec that is asked for and by zstd, and takes what is shorter.
type leastOf struct {
	like   atomic.Int32 // a kgo.CompressionCodecType
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
