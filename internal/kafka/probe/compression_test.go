package probe

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"
)

func sample(i int) kmsg.Record {
	return kmsg.Record{
		Key: fmt.Appendf(nil, "key-%d", i), Value: bytes.Repeat(fmt.Appendf(nil, "value %d; ", i), 20),
	}
}

func TestEncodeBatchIsKafkasFormat(t *testing.T) {
	const n = 7
	batch := EncodeBatch(3, n, sample)
	for i := range n {
		var r kmsg.Record
		if err := r.ReadFrom(batch); err != nil {
			t.Fatalf("record %d: %v", i, err)
		}
		want := sample(3 + i)
		if int(r.OffsetDelta) != i || !bytes.Equal(r.Key, want.Key) || !bytes.Equal(r.Value, want.Value) {
			t.Errorf("record %d: offset delta %d, key %q, value %q", i, r.OffsetDelta, r.Key, r.Value)
		}
		batch = batch[len(r.AppendTo(nil)):]
	}
	if len(batch) != 0 {
		t.Errorf("%d bytes are left", len(batch))
	}
}
