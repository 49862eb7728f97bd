package crash

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

func numbered(topic string, partitions int32, born time.Time, n int) *kgo.Record {
	r := &kgo.Record{
		Topic: topic, Partition: int32(n) % partitions,
		Key:       []byte("key-" + strconv.Itoa(n%50)),
		Value:     fmt.Appendf(nil, "%d %s", n, strings.Repeat(string(rune('a'+n%26)), 80)),
		Timestamp: born.Add(time.Duration(n) * time.Millisecond),
		Headers: []kgo.RecordHeader{
			{Key: "number", Value: []byte(strconv.Itoa(n))},
			{Key: "kmq-like", Value: []byte{0, 255, byte(n)}},
			{Key: "number", Value: []byte("twice")},
			{Key: "empty", Value: nil},
		},
	}
	if n%7 == 0 {
		r.Key = nil
	}
	return r
}

// numberOf returns -1 if the value has no number.
func numberOf(value []byte) int {
	digits, _, _ := bytes.Cut(value, []byte(" "))
	n, err := strconv.Atoi(string(digits))
	if err != nil {
		return -1
	}
	return n
}

// extra allows the queue's own headers.
func different(r *kgo.Record, partitions int32, born time.Time, n int, extra bool) string {
	want := numbered(r.Topic, partitions, born, n)
	headers := r.Headers
	if extra {
		headers = nil
		for _, h := range r.Headers {
			if !queueHeaders[h.Key] {
				headers = append(headers, h)
			}
		}
	}
	switch {
	case !bytes.Equal(r.Value, want.Value):
		return fmt.Sprintf("value %q", r.Value)
	case !bytes.Equal(r.Key, want.Key) || (r.Key == nil) != (want.Key == nil):
		return fmt.Sprintf("key %q", r.Key)
	case r.Timestamp.UnixMilli() != want.Timestamp.UnixMilli():
		return fmt.Sprintf("timestamp %v", r.Timestamp)
	case len(headers) != len(want.Headers):
		return fmt.Sprintf("headers %v", r.Headers)
	}
	for i, h := range headers {
		if h.Key != want.Headers[i].Key || !bytes.Equal(h.Value, want.Headers[i].Value) {
			return fmt.Sprintf("header %d: %q %q", i, h.Key, h.Value)
		}
	}
	return ""
}

var queueHeaders = map[string]bool{
	"kmq-origin": true, "kmq-deliveries": true, "kmq-reason": true, "kmq-topic": true, "kmq-group": true,
	"kmq-timestamp": true, "kmq-error": true, "kmq-attempts": true, "kmq-due": true,
}
