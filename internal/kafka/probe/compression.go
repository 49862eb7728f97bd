package probe

import (
	"bytes"
	"fmt"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// Codec is one compression codec measured on batches of a run's own records.
type Codec struct {
	Name                   string
	Level                  int // 0 is the codec's default
	Batches                int
	Uncompressed           int64 // bytes of the batches' records sections
	Compressed             int64
	CompressS, DecompressS float64 // time on one core
}

var codecs = []struct {
	name  string
	codec kgo.CompressionCodec
	kind  kgo.CompressionCodecType
}{
	{"none", kgo.NoCompression(), kgo.CodecNone},
	{"snappy", kgo.SnappyCompression(), kgo.CodecSnappy},
	{"lz4", kgo.Lz4Compression(), kgo.CodecLz4},
	{"zstd", kgo.ZstdCompression(), kgo.CodecZstd},
	{"gzip", kgo.GzipCompression(), kgo.CodecGzip},
}

const codecBudget = 60 * time.Millisecond

// Codecs measures every codec on the given batches, each as EncodeBatch returns it. level applies only to the codec
// called name.
func Codecs(batches [][]byte, name string, level int) ([]Codec, error) {
	measured := make([]Codec, 0, len(codecs))
	for _, c := range codecs {
		m := Codec{Name: c.name, Batches: len(batches)}
		if c.name == name && level != 0 {
			c.codec, m.Level = c.codec.WithLevel(level), level
		}
		if err := measureCodec(&m, c.codec, c.kind, batches); err != nil {
			return nil, fmt.Errorf("measuring codec %s: %w", c.name, err)
		}
		measured = append(measured, m)
	}
	return measured, nil
}

func measureCodec(m *Codec, codec kgo.CompressionCodec, kind kgo.CompressionCodecType, batches [][]byte) error {
	compressor, err := kgo.DefaultCompressor(codec)
	if err != nil {
		return err
	}
	compressed := make([][]byte, len(batches))
	for i, batch := range batches {
		compressed[i] = compress(compressor, batch)
		m.Uncompressed += int64(len(batch))
		m.Compressed += int64(len(compressed[i]))
	}
	if compressor == nil {
		return nil
	}
	m.CompressS = perPass(func() error {
		var scratch bytes.Buffer
		for _, batch := range batches {
			scratch.Reset()
			compressor.Compress(&scratch, batch)
		}
		return nil
	})
	decompressor := kgo.DefaultDecompressor()
	m.DecompressS = perPass(func() error {
		for _, c := range compressed {
			if _, err = decompressor.Decompress(c, kind); err != nil {
				return err
			}
		}
		return nil
	})
	return err
}

func compress(c kgo.Compressor, batch []byte) []byte {
	if c == nil {
		return batch
	}
	var dst bytes.Buffer
	out, _ := c.Compress(&dst, batch)
	return bytes.Clone(out)
}

// perPass returns the seconds of the fastest pass, which was disturbed least.
func perPass(pass func() error) float64 {
	best := time.Duration(0)
	for began := time.Now(); time.Since(began) < codecBudget; {
		start := time.Now()
		if pass() != nil {
			break
		}
		if took := time.Since(start); best == 0 || took < best {
			best = took
		}
	}
	return best.Seconds()
}

// EncodeBatch returns the part of a Kafka record batch (format v2) that a codec compresses: the
// records section, with n records from number first on.
func EncodeBatch(first, n int, record func(i int) kmsg.Record) []byte {
	var batch []byte
	for i := range n {
		r := record(first + i)
		r.OffsetDelta = int32(i)
		// Length excludes the length prefix itself, which takes one byte while Length is 0.
		r.Length = int32(len(r.AppendTo(nil)) - 1)
		batch = r.AppendTo(batch)
	}
	return batch
}
