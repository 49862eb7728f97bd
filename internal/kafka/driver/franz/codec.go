package franz

import (
	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"
	"github.com/twmb/franz-go/pkg/kgo"
)

// codec translates Kafka's levels (compression.gzip.level and others) to those of the client's libraries; 0 is the
// codec's default.
func codec(name string, level int) kgo.CompressionCodec {
	switch {
	case name == "snappy":
		return kgo.SnappyCompression()
	case name == "gzip" && level == 0:
		return kgo.GzipCompression()
	case name == "gzip":
		return kgo.GzipCompression().WithLevel(level)
	case name == "lz4" && level == 0:
		return kgo.Lz4Compression()
	case name == "lz4":
		// The library's levels are the bits 9 to 17.
		return kgo.Lz4Compression().WithLevel(int(lz4.Level1) << (level - 1))
	case name == "zstd" && level == 0:
		return kgo.ZstdCompression()
	case name == "zstd":
		// The library has four levels; each stands for a range of zstd's.
		return kgo.ZstdCompression().WithLevel(int(zstd.EncoderLevelFromZstd(level)))
	}
	return kgo.NoCompression()
}
