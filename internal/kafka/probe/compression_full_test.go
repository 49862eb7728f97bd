//go:build full

package probe

import (
	"testing"
)

func TestCodecsAreMeasured(t *testing.T) {
	batches := [][]byte{EncodeBatch(0, 100, sample), EncodeBatch(100, 100, sample)}
	size := int64(len(batches[0]) + len(batches[1]))
	codecs, err := Codecs(batches, "zstd", 3)
	if err != nil {
		t.Fatal(err)
	}
	if len(codecs) != 5 || codecs[0].Name != "none" {
		t.Fatalf("%+v; want Kafka's five, none first", codecs)
	}
	for _, c := range codecs {
		switch {
		case c.Uncompressed != size || c.Batches != 2:
			t.Errorf("%s: %d bytes of %d batches, want %d of 2", c.Name, c.Uncompressed, c.Batches, size)
		case c.Name == "none" && (c.Compressed != size || c.CompressS != 0):
			t.Errorf("none: %+v", c)
		case c.Name != "none" && (c.Compressed*2 > size || c.CompressS <= 0 || c.DecompressS <= 0):
			t.Errorf("%s made %d of %d bytes, in %v s and back in %v s", c.Name, c.Compressed, size, c.CompressS, c.DecompressS)
		case c.Level != 0 && c.Name != "zstd", c.Level != 3 && c.Name == "zstd":
			t.Errorf("%s ran at level %d", c.Name, c.Level)
		}
	}
}
