package probe

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"
)

func sample(i int) (key, value []byte) {
	return fmt.Appendf(nil, "key-%d", i), bytes.Repeat(fmt.Appendf(nil, "value %d; ", i), 20)
}

// What EncodeBatch writes is what Kafka's own decoder reads.
func TestEncodeBatchIsKafkasFormat(t *testing.T) {
	const n = 7
	batch := EncodeBatch(3, n, sample)
	for i := range n {
		var r kmsg.Record
		if err := r.ReadFrom(batch); err != nil {
			t.Fatalf("record %d: %v", i, err)
		}
		key, value := sample(3 + i)
		if int(r.OffsetDelta) != i || !bytes.Equal(r.Key, key) || !bytes.Equal(r.Value, value) {
			t.Errorf("record %d: offset delta %d, key %q, value %q", i, r.OffsetDelta, r.Key, r.Value)
		}
		batch = batch[len(r.AppendTo(nil)):]
	}
	if len(batch) != 0 {
		t.Errorf("%d bytes are left", len(batch))
	}
}

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
