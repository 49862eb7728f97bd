package lease

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"pgregory.net/rapid"
)

func TestNumbersOfTheRetryTopic(t *testing.T) {
	for partition := range int32(3) {
		number := Retry(partition)
		if !IsRetry(number) || IsRetry(partition) || Retry(number) != partition || NumberInTopic(number) != partition || NumberInTopic(partition) != partition {
			t.Errorf("partition %d is number %d", partition, number)
		}
	}
}

// What a copy says is what the next owner reads, however often it is copied.
func TestCopyOfCopies(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		headers := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) kgo.RecordHeader {
			return kgo.RecordHeader{
				Key:   rapid.SampledFrom([]string{"a", "b", HeaderOrigin, HeaderDeliveries}).Draw(t, "key"),
				Value: rapid.SliceOfN(rapid.Byte(), 0, 3).Draw(t, "value"), // never 12 bytes
			}
		}), 0, 4).Draw(t, "headers")
		headers = slices.DeleteFunc(headers, own) // digits, by chance
		r := &kgo.Record{
			Topic: "t", Partition: rapid.Int32Range(0, 5).Draw(t, "partition"), Offset: rapid.Int64Range(0, 1<<40).Draw(t, "offset"),
			Key: []byte("k"), Value: []byte("v"), Headers: slices.Clone(headers), Timestamp: time.UnixMilli(7),
		}
		first := ID{Partition: r.Partition, Offset: r.Offset}
		at, due, partitions := first, time.Time{}, rapid.IntRange(1, 6).Draw(t, "partitions")
		for attempt := 1; attempt <= 4; attempt++ {
			l := FromRecord(r)
			if l.Attempt != attempt || l.Origin() != first || l.At != at || !l.Due().Equal(due) {
				t.Fatalf("attempt %d of %v at %v, due %v; want %d of %v at %v, %v", l.Attempt, l.Origin(), l.At, l.Due(), attempt, first, at, due)
			}
			same := slices.EqualFunc(l.Record.Headers, headers, func(a, b kgo.RecordHeader) bool {
				return a.Key == b.Key && slices.Equal(a.Value, b.Value)
			})
			if !same || string(r.Key) != "k" || string(r.Value) != "v" || !r.Timestamp.Equal(time.UnixMilli(7)) ||
				r.Topic != "t" || r.Partition != first.Partition || r.Offset != first.Offset {
				t.Fatalf("attempt %d: %+v", attempt, r)
			}
			due = time.Time{}
			if attempt%2 == 0 {
				due = time.UnixMilli(int64(1000 * attempt))
			}
			r = l.RetryCopy(attempt, due, "g", "t.g.retry", partitions)
			if r.Topic != "t.g.retry" || int(r.Partition) != int(first.Partition)%partitions || CheckRetry(r, "t", "g") != nil {
				t.Fatalf("a copy to %s[%d]: %v", r.Topic, r.Partition, CheckRetry(r, "t", "g"))
			}
			r.Partition, r.Offset = Retry(r.Partition), int64(100*attempt)
			at = ID{Partition: r.Partition, Offset: r.Offset}
		}
	})
}

// A copy has the notes of failed attempts, so the dead letter of another process has them, too.
func TestCopyKeepsTheHistory(t *testing.T) {
	at := time.Date(2026, 11, 29, 10, 0, 0, 0, time.UTC)
	l := FromRecord(&kgo.Record{Topic: "t"})
	l.Failed("no answer\nfrom bank", at)
	l.Failed("no money\nleft", at.Add(time.Second))
	want := l.DeadLetter(2, "hopeless", "g", "dead", 1).Headers
	r := l.RetryCopy(2, time.Time{}, "g", "retry", 1)
	r.Partition = Retry(0)
	got := FromRecord(r).DeadLetter(2, "hopeless", "g", "dead", 1).Headers
	if !slices.EqualFunc(got, want, func(a, b kgo.RecordHeader) bool { return a.Key == b.Key && string(a.Value) == string(b.Value) }) {
		t.Errorf("%q, want %q", got, want)
	}
}

// What is no copy of this queue is a new record, or refused if it says that it is another queue's.
func TestOthersInTheRetryTopic(t *testing.T) {
	header := func(key, value string) kgo.RecordHeader { return kgo.RecordHeader{Key: key, Value: []byte(value)} }
	for _, c := range []struct {
		name     string
		headers  []kgo.RecordHeader
		foreign  bool
		attempt  int
		origin   ID
		ownTopic string
	}{
		{"no copy", nil, false, 1, ID{Partition: 1, Offset: 9}, "retry"},
		{"the origin of an earlier version", []kgo.RecordHeader{{Key: HeaderOrigin, Value: AppendID(nil, ID{Partition: 3, Offset: 17})},
			header(HeaderDeliveries, "2"), header(HeaderTopic, "t")}, false, 3, ID{Partition: 3, Offset: 17}, "t"},
		{"another group's", []kgo.RecordHeader{header(HeaderTopic, "t"), header(HeaderGroup, "h")}, true, 0, ID{}, ""},
		{"another topic's", []kgo.RecordHeader{header(HeaderTopic, "u"), header(HeaderGroup, "g")}, true, 0, ID{}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := &kgo.Record{Topic: "retry", Partition: Retry(1), Offset: 9, Headers: c.headers}
			if err := CheckRetry(r, "t", "g"); errors.Is(err, ErrForeign) != c.foreign {
				t.Fatal(err)
			}
			if c.foreign {
				return
			}
			if l := FromRecord(r); l.Attempt != c.attempt || l.Origin() != c.origin || l.At != (ID{Partition: Retry(1), Offset: 9}) ||
				len(l.Record.Headers) != 0 || l.Record.Topic != c.ownTopic {
				t.Errorf("attempt %d of %v at %v, %+v", l.Attempt, l.Origin(), l.At, l.Record)
			}
		})
	}
}

// A record of the queue's own topic begins anew, whatever its headers say.
func TestTheQueuesTopicBeginsAnew(t *testing.T) {
	copied := FromRecord(&kgo.Record{Topic: "t", Partition: 3, Offset: 17}).RetryCopy(2, time.Now(), "g", "t", 4)
	copied.Offset = 50
	if l := FromRecord(copied); l.Attempt != 1 || l.Origin() != (ID{Partition: 3, Offset: 50}) || !l.Due().IsZero() || len(l.Record.Headers) != 0 {
		t.Errorf("attempt %d of %v, due %v, %+v", l.Attempt, l.Origin(), l.Due(), l.Record)
	}
}
