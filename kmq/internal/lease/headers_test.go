package lease

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/twmb/franz-go/pkg/kgo"
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
	if l.Attempt != 1 || l.Origin() != (ID{Partition: 2, Offset: 50}) || len(l.Record.Headers) != 1 {
		t.Errorf("moved back: attempt %d of %v, headers %v", l.Attempt, l.Origin(), l.Record.Headers)
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
	r := &kgo.Record{Partition: Retry(0), Offset: 5, Headers: []kgo.RecordHeader{
		{Key: HeaderOrigin, Value: []byte("mine")}, {Key: HeaderDeliveries, Value: []byte("many")}, {Key: HeaderDeliveries, Value: []byte("-1")},
	}}
	l := FromRecord(r)
	if l.Attempt != 1 || l.Origin().Offset != 5 || len(l.Record.Headers) != 3 {
		t.Errorf("attempt %d of %v, headers %v", l.Attempt, l.Origin(), l.Record.Headers)
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
