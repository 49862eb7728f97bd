package lease

import (
	"encoding/binary"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/twmb/franz-go/pkg/kgo"
)

// The headers of the queue's own, on the copies that it makes of a record. They are taken
// off before the copy is handed out.
const (
	HeaderOrigin     = "kmq-origin"     // where the record was first, as in 3@17 for offset 17 of partition 3
	HeaderDeliveries = "kmq-deliveries" // how often it was delivered so far, in decimal digits
	HeaderTopic      = "kmq-topic"      // the topic of the queue
	HeaderGroup      = "kmq-group"      // the group that made the copy
	HeaderError      = "kmq-error"      // the last error of a handler, or another reason why the last attempt failed
	HeaderAttempts   = "kmq-attempts"   // a line for each failed attempt: when, by RFC 3339, and why

	// On the copies of the retry topic only.
	HeaderDue = "kmq-due" // from when on the copy may be delivered, by RFC 3339

	// On dead letters only.
	HeaderReason    = "kmq-reason"    // why it was given up
	HeaderTimestamp = "kmq-timestamp" // the record's timestamp, by RFC 3339; the dead letter's own is the time of its writing
)

const originBytes = 12

// AppendID appends the 12 bytes that name a place: partition and offset, big endian.
func AppendID(to []byte, id ID) []byte {
	to = binary.BigEndian.AppendUint32(to, uint32(id.Partition))
	return binary.BigEndian.AppendUint64(to, uint64(id.Offset))
}

// ParseID reads what AppendID wrote; false if it is not that.
func ParseID(b []byte) (ID, bool) {
	if len(b) != originBytes {
		return ID{}, false
	}
	id := ID{Partition: int32(binary.BigEndian.Uint32(b)), Offset: int64(binary.BigEndian.Uint64(b[4:]))}
	return id, id.Partition >= 0 && id.Offset >= 0
}

// ParseOrigin reads what ID.String wrote, or else the twelve bytes of AppendID, which earlier versions wrote. Digits and
// an @ as such bytes would be a partition above 700 million.
func ParseOrigin(b []byte) (ID, bool) {
	partition, offset, _ := strings.Cut(string(b), "@")
	p, errP := strconv.ParseInt(partition, 10, 32)
	o, errO := strconv.ParseInt(offset, 10, 64)
	if errP != nil || errO != nil || p < 0 || o < 0 {
		return ParseID(b)
	}
	return ID{Partition: int32(p), Offset: o}, true
}

// FromRecord is the open lease of a record that was fetched. It takes the queue's headers off the record; those that
// can't be read were not written by a queue and stay on. Only a copy in the retry topic counts on from the deliveries
// before it; a dead letter that was moved back to the queue's topic begins anew.
func FromRecord(r *kgo.Record) *Lease {
	l := new(Lease)
	l.from(r)
	return l
}

// piece is how many leases share a piece of memory: one that is long open keeps no more
// than so many records of others from being freed.
const piece = 16

// FromRecords are the leases of a poll, in a few pieces of memory.
func FromRecords(records []*kgo.Record) []*Lease {
	return AppendRecords(make([]*Lease, 0, len(records)), records)
}

// AppendRecords appends what [FromRecords] returns.
func AppendRecords(to []*Lease, records []*kgo.Record) []*Lease {
	var free []Lease
	for i, r := range records {
		if len(free) == 0 {
			free = make([]Lease, min(piece, len(records)-i))
		}
		l := &free[0]
		l.from(r)
		to, free = append(to, l), free[1:]
	}
	return to
}

func (l *Lease) from(r *kgo.Record) {
	l.Record = r
	l.At = ID{Partition: r.Partition, Offset: r.Offset}
	l.Attempt = 1
	if IsRetry(r.Partition) {
		l.fromRetry(r)
	}
	if slices.ContainsFunc(r.Headers, own) {
		r.Headers = plain(r.Headers)
	}
	l.keep(r)
}

// provenance reads the headers of a copy; copied is false if they are not those of one.
func provenance(headers []kgo.RecordHeader) (origin ID, deliveries int, copied bool) {
	var hasOrigin, hasDeliveries bool
	for _, h := range headers {
		switch h.Key {
		case HeaderOrigin:
			origin, hasOrigin = ParseOrigin(h.Value)
		case HeaderDeliveries:
			deliveries, hasDeliveries = parseDeliveries(h.Value)
		}
	}
	return origin, deliveries, hasOrigin && hasDeliveries
}

// mostDeliveries is the bound of what is believed of a header.
const mostDeliveries = 1 << 30

func parseDeliveries(b []byte) (int, bool) {
	n, err := strconv.Atoi(string(b))
	return n, err == nil && n >= 0 && n <= mostDeliveries
}

// own is whether a header is the queue's.
func own(h kgo.RecordHeader) bool {
	if !strings.HasPrefix(h.Key, "kmq-") {
		return false
	}
	switch h.Key {
	case HeaderOrigin:
		_, ok := ParseOrigin(h.Value)
		return ok
	case HeaderDeliveries:
		_, ok := parseDeliveries(h.Value)
		return ok
	case HeaderReason, HeaderTopic, HeaderGroup, HeaderTimestamp, HeaderError, HeaderAttempts, HeaderDue:
		return true
	default:
		return false
	}
}

// plain are the headers without the queue's, in a slice of its own.
func plain(headers []kgo.RecordHeader) []kgo.RecordHeader {
	var rest []kgo.RecordHeader
	for _, h := range headers {
		if !own(h) {
			rest = append(rest, h)
		}
	}
	return rest
}

// Copy is the record to be produced for another delivery: key, value, headers and
// timestamp are those of r, whose place among the queue's records is origin and which was
// delivered so often so far. It goes to the partition of the number that r has, which
// needs a client with kgo.ManualPartitioner. Its Attrs tell how r was compressed. (A topic
// with LogAppendTime sets a timestamp of its own.) Of a lease that was handed out, r is
// [Lease.Original].
func Copy(r *kgo.Record, origin ID, topic string, deliveries int) *kgo.Record {
	rest := plain(r.Headers)
	headers := append(make([]kgo.RecordHeader, 0, len(rest)+5), rest...)
	headers = append(headers,
		kgo.RecordHeader{Key: HeaderOrigin, Value: []byte(origin.String())},
		kgo.RecordHeader{Key: HeaderDeliveries, Value: strconv.AppendInt(nil, int64(deliveries), 10)},
	)
	return &kgo.Record{
		Topic: topic, Partition: r.Partition,
		Key: r.Key, Value: r.Value, Headers: headers, Timestamp: r.Timestamp,
		Attrs: r.Attrs,
	}
}

// MostReason is how many bytes of a reason are kept.
const MostReason = 1024

// cut returns the beginning of a text, at most so many bytes in whole characters.
func cut(text string, most int) string {
	if len(text) <= most {
		return text
	}
	for most > 0 && !utf8.RuneStart(text[most]) {
		most--
	}
	return text[:most]
}

// Reason is why a dead letter was given up; empty if it is none.
func Reason(dead *kgo.Record) string {
	for _, h := range dead.Headers {
		if h.Key == HeaderReason {
			return string(h.Value)
		}
	}
	return ""
}

// DeadLetter is the record to be produced for a dead-letter topic with so many partitions:
// a [Copy] of r that says why, and whose it was. Its timestamp is now, so that retention counts from its death.
func DeadLetter(r *kgo.Record, origin ID, deliveries int, reason, group, to string, partitions int) *kgo.Record {
	from := r.Topic
	c := Copy(r, origin, to, deliveries)
	c.Partition = r.Partition % int32(max(partitions, 1))
	c.Headers = append(c.Headers,
		kgo.RecordHeader{Key: HeaderReason, Value: []byte(cut(reason, MostReason))},
		kgo.RecordHeader{Key: HeaderTopic, Value: []byte(from)},
		kgo.RecordHeader{Key: HeaderGroup, Value: []byte(group)},
		kgo.RecordHeader{Key: HeaderTimestamp, Value: []byte(instant(r.Timestamp))},
	)
	c.Timestamp = time.Now()
	return c
}
