package lease

import (
	"context"
	"reflect"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

// Whatever became of a record that was handed out, the next lease has it as it was fetched.
func TestOriginal(t *testing.T) {
	type hooks struct{}
	ctx := context.WithValue(t.Context(), hooks{}, 1)
	fetched := func() *kgo.Record {
		return &kgo.Record{
			Topic: "t", Partition: 2, Offset: 5, Timestamp: time.UnixMilli(7), Context: ctx,
			Key: []byte("k"), Value: []byte("v"), Headers: []kgo.RecordHeader{{Key: "h", Value: []byte("1")}},
		}
	}
	l := FromRecord(fetched())
	for attempt := 1; attempt <= 3; attempt++ {
		if l.Attempt != attempt || !reflect.DeepEqual(l.Record, fetched()) || !reflect.DeepEqual(l.Original(), fetched()) {
			t.Fatalf("attempt %d: %+v; the original: %+v", attempt, l.Record, l.Original())
		}
		l.Record.Headers[0].Value = []byte("2")
		l.Original().Headers[0].Value = []byte("3")
		l.Record.Headers = append(l.Record.Headers, kgo.RecordHeader{Key: "more"})
		l.Record.Topic, l.Record.Partition, l.Record.Offset, l.Record.Timestamp = "out", 3, 9, time.UnixMilli(8)
		l.Record.Key, l.Record.Value, l.Record.Context = nil, nil, nil
		l = l.Again()
	}
}
