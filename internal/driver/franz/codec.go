package franz

import (
	"fmt"

	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"
	"github.com/twmb/franz-go/pkg/kgo"

	"kafka-bench/internal/driver"
)

// codec returns the client's codec for a name and a level, where level 0 is the
// codec's default. Levels count as in Kafka (compression.gzip.level and its
// like), and are translated to what the client's libraries call them.
func codec(name string, level int) (kgo.CompressionCodec, error) {
	var none kgo.CompressionCodec
	switch name {
	case "none", "snappy":
		if level != 0 {
			return none, fmt.Errorf("%w: compression %s has no levels, got level %d", driver.ErrConfig, name, level)
		}
		if name == "none" {
			return kgo.NoCompression(), nil
		}
		return kgo.SnappyCompression(), nil
	case "gzip":
		if err := checkLevel(name, level, 9); err != nil {
			return none, err
		}
		if level == 0 {
			return kgo.GzipCompression(), nil
		}
		return kgo.GzipCompression().WithLevel(level), nil
	case "lz4":
		if err := checkLevel(name, level, 9); err != nil {
			return none, err
		}
		if level == 0 {
			return kgo.Lz4Compression(), nil
		}
		// The library's levels are the bits 9 to 17.
		return kgo.Lz4Compression().WithLevel(int(lz4.Level1) << (level - 1)), nil
	case "zstd":
		if err := checkLevel(name, level, 22); err != nil {
			return none, err
		}
		if level == 0 {
			return kgo.ZstdCompression(), nil
		}
		// The library has four levels; each stands for a range of zstd's.
		return kgo.ZstdCompression().WithLevel(int(zstd.EncoderLevelFromZstd(level))), nil
	}
	return none, fmt.Errorf("%w: compression %q is not known; it is one of none, gzip, snappy, lz4, zstd", driver.ErrConfig, name)
}

func checkLevel(name string, level, highest int) error {
	if level < 0 || level > highest {
		return fmt.Errorf("%w: compression %s has the levels 1 to %d (0 is its default), got %d", driver.ErrConfig, name, highest, level)
	}
	return nil
}
