package lease

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/twmb/franz-go/pkg/kgo"
	"pgregory.net/rapid"
)

func TestIDBytes(t *testing.T) {
	id := ID{Partition: 0x01020304, Offset: 0x05060708090a0b0c}
	b := AppendID([]byte{0xff}, id)
	if want := []byte{0xff, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}; !slices.Equal(b, want) {
		t.Errorf("% x, want % x", b, want)
	}
	for _, bad := range [][]byte{nil, b, b[2:], {0x80, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}, {0, 0, 0, 0, 0xff, 0, 0, 0, 0, 0, 0, 0}} {
		if got, ok := ParseID(bad); ok {
			t.Errorf("% x is read as %v", bad, got)
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
		for attempt := 1; attempt <= 4; attempt++ {
			l := FromRecord(r)
			if l.Attempt != attempt || l.Origin != first || l.At.Offset != r.Offset {
				t.Fatalf("attempt %d of %v at %v, want %d of %v", l.Attempt, l.Origin, l.At, attempt, first)
			}
			same := slices.EqualFunc(l.Record.Headers, headers, func(a, b kgo.RecordHeader) bool {
				return a.Key == b.Key && slices.Equal(a.Value, b.Value)
			})
			if !same || string(r.Key) != "k" || string(r.Value) != "v" || !r.Timestamp.Equal(time.UnixMilli(7)) || r.Partition != first.Partition {
				t.Fatalf("attempt %d: %+v", attempt, r)
			}
			r = Copy(l.Record, l.Origin, "t", l.Attempt)
			r.Offset = first.Offset + int64(100*attempt)
		}
	})
}

func TestDeadLetter(t *testing.T) {
	r := &kgo.Record{
		Topic: "t", Partition: 7, Offset: 9, Headers: []kgo.RecordHeader{{Key: "own"}},
		Timestamp: time.Date(2026, 11, 29, 10, 0, 0, 5e8, time.UTC),
	}
	long := strings.Repeat("é", MostReason)
	d := DeadLetter(r, ID{Partition: 7, Offset: 3}, 4, long, "g", "dead", 3)
	if d.Topic != "dead" || d.Partition != 1 {
		t.Errorf("it goes to %s[%d]", d.Topic, d.Partition)
	}
	got := make(map[string]string)
	for _, h := range d.Headers {
		got[h.Key] = string(h.Value)
	}
	if got[HeaderTopic] != "t" || got[HeaderGroup] != "g" || got[HeaderDeliveries] != "4" || got[HeaderOrigin] != "7@3" ||
		got[HeaderTimestamp] != "2026-11-29T10:00:00.500Z" || len(got) != 7 || time.Since(d.Timestamp) > time.Hour {
		t.Errorf("headers %q", got)
	}
	if reason := got[HeaderReason]; len(reason) > MostReason || len(reason) < MostReason-4 || !utf8.ValidString(reason) {
		t.Errorf("the reason has %d bytes, valid %v", len(reason), utf8.ValidString(reason))
	}

	// Moved back by hand with all its headers, it begins anew.
	d.Topic, d.Partition, d.Offset = "t", 2, 50
	l := FromRecord(d)
	if l.Attempt != 1 || l.Origin != (ID{Partition: 2, Offset: 50}) || len(l.Record.Headers) != 1 {
		t.Errorf("moved back: attempt %d of %v, headers %v", l.Attempt, l.Origin, l.Record.Headers)
	}
}

// Copies of earlier versions have the origin in 12 bytes.
func TestOriginOfAnEarlierVersion(t *testing.T) {
	want := ID{Partition: 3, Offset: 17}
	for _, origin := range [][]byte{AppendID(nil, want), []byte("3@17")} {
		l := FromRecord(&kgo.Record{Offset: 50, Headers: []kgo.RecordHeader{{Key: HeaderOrigin, Value: origin}, {Key: HeaderDeliveries, Value: []byte("2")}}})
		if l.Origin != want || l.Attempt != 3 || len(l.Record.Headers) != 0 {
			t.Errorf("%q: attempt %d of %v, headers %v", origin, l.Attempt, l.Origin, l.Record.Headers)
		}
	}
}

// A dead letter has the newest error whole, and a line for each of the newest attempts.
func TestHistoryOfADeadLetter(t *testing.T) {
	at := time.Date(2026, 11, 29, 10, 0, 0, 0, time.UTC)
	l := FromRecord(&kgo.Record{})
	for i := range 20 {
		l.Failed(fmt.Sprintf("error %d\nof line 2", i), at.Add(time.Duration(i)*time.Second))
		l = l.Again()
	}
	l.Failed(strings.Repeat("x", 5000), at.Add(time.Minute))
	got := make(map[string]string)
	for _, h := range l.DeadLetter(21, "hopeless", "g", "dead", 1).Headers {
		got[h.Key] = string(h.Value)
	}
	lines := strings.Split(got[HeaderAttempts], "\n")
	if len(got[HeaderError]) != mostError || len(lines) != mostFailures || lines[0] != "2026-11-29T10:00:05.000Z error 5" ||
		lines[15] != "2026-11-29T10:01:00.000Z "+strings.Repeat("x", mostEarlier) {
		t.Errorf("an error of %d bytes and %q", len(got[HeaderError]), lines)
	}
}

func TestForeignHeadersStay(t *testing.T) {
	r := &kgo.Record{Offset: 5, Headers: []kgo.RecordHeader{
		{Key: HeaderOrigin, Value: []byte("mine")}, {Key: HeaderDeliveries, Value: []byte("many")}, {Key: HeaderDeliveries, Value: []byte("-1")},
	}}
	l := FromRecord(r)
	if l.Attempt != 1 || l.Origin.Offset != 5 || len(l.Record.Headers) != 3 {
		t.Errorf("attempt %d of %v, headers %v", l.Attempt, l.Origin, l.Record.Headers)
	}
}

func BenchmarkFromRecords(b *testing.B) {
	records := make([]*kgo.Record, 500)
	for i := range records {
		records[i] = &kgo.Record{Offset: int64(i), Headers: []kgo.RecordHeader{{Key: "trace"}}}
	}
	b.ReportAllocs()
	for done := 0; done < b.N; done += len(records) {
		FromRecords(records)
	}
}
