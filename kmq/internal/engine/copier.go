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

	"kafka-bench/kmq/internal/lease"
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

	mu     sync.Mutex // one large record at a time
	large  *kgo.Client
	codec  *leastOf
	closed bool
}

// NewCopier writes by a client that has cfg.ProducerOptions. It does not close that one.
func NewCopier(cfg *Config, client *kgo.Client) *Copier {
	return &Copier{cfg: cfg, client: client, codec: newLeastOf()}
}

// Write produces records once each and waits for all. The errors are those of the records,
// in their order.
func (c *Copier) Write(ctx context.Context, records ...*kgo.Record) []error {
	errs := make([]error, len(records))
	var written sync.WaitGroup
	written.Add(len(records))
	for i, r := range records {
		to := *r // the client's own, while this one may be tried again
		c.client.Produce(ctx, &to, func(_ *kgo.Record, err error) {
			errs[i] = err
			written.Done()
		})
	}
	written.Wait()
	for i, err := range errs {
		if errors.Is(err, kerr.MessageTooLarge) {
			errs[i] = c.alone(ctx, *records[i])
		}
	}
	return errs
}

// alone writes one record in a batch of its own.
func (c *Copier) alone(ctx context.Context, r kgo.Record) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return lease.ErrClosed
	}
	if c.large == nil {
		cl, err := kgo.NewClient(c.cfg.ClientOptions(append(c.cfg.ProducerOptions(), c.codec.options()...)...)...)
		if err != nil {
			return fmt.Errorf("%w: %w", lease.ErrConfig, err)
		}
		c.large = cl
	}
	c.codec.like.Store(int32(r.Attrs.CompressionType()))
	return c.large.ProduceSync(ctx, &r).FirstErr()
}

// Close ends what the copier opened. Nothing large is written any more.
func (c *Copier) Close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closed = true
	if c.large != nil {
		c.large.Close()
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
