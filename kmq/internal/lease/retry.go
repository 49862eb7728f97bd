package lease

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

// A queue may read two topics: its own, and that of its group's retries. It knows a partition of the latter by a number
// below zero, which is a partition in an ID too.

// Retry returns the number by which a queue knows a partition of its retry topic. It is its own inverse.
func Retry(partition int32) int32 { return ^partition }

// IsRetry reports whether a number is that of a partition of the retry topic.
func IsRetry(partition int32) bool { return partition < 0 }

// NumberInTopic returns the number of a partition within its topic.
func NumberInTopic(partition int32) int32 {
	if IsRetry(partition) {
		return Retry(partition)
	}
	return partition
}

// RetryCopy returns the record to be produced for a retry topic with so many partitions: a [Copy] that says whose it is,
// from when on it may be delivered, and how its attempts failed.
func (l *Lease) RetryCopy(deliveries int, due time.Time, group, to string, partitions int) *kgo.Record {
	c := Copy(l.Original(), l.Origin(), to, deliveries)
	c.Partition %= int32(max(partitions, 1))
	c.Headers = append(c.Headers,
		kgo.RecordHeader{Key: HeaderTopic, Value: []byte(l.topic)},
		kgo.RecordHeader{Key: HeaderGroup, Value: []byte(group)},
	)
	if !due.IsZero() {
		c.Headers = append(c.Headers, kgo.RecordHeader{Key: HeaderDue, Value: []byte(instant(due))})
	}
	c.Headers = append(c.Headers, l.history()...)
	return c
}

// Redriven returns the record to be produced for a retry topic with so many partitions, to deliver the record of a dead
// letter from the first attempt again. It returns false if the dead letter is not of that topic and group.
func Redriven(dead *kgo.Record, topic, group, to string, partitions int) (*kgo.Record, bool) {
	origin, _, copied := provenance(dead.Headers)
	r, of, by := *dead, "", ""
	for _, h := range dead.Headers {
		switch h.Key {
		case HeaderTopic:
			of = string(h.Value)
		case HeaderGroup:
			by = string(h.Value)
		case HeaderTimestamp:
			if at, err := time.Parse(time.RFC3339, string(h.Value)); err == nil {
				r.Timestamp = at
			}
		}
	}
	if !copied || of != topic || by != group {
		return nil, false
	}
	r.Partition = origin.Partition % int32(max(partitions, 1))
	c := Copy(&r, origin, to, 0)
	c.Headers = append(c.Headers,
		kgo.RecordHeader{Key: HeaderTopic, Value: []byte(topic)},
		kgo.RecordHeader{Key: HeaderGroup, Value: []byte(group)},
	)
	return c, true
}

// ErrForeign is a record of a retry topic that another topic's or group's queue has written.
var ErrForeign = errors.New("kmq: the retry topic has a record of another queue")

// CheckRetry returns [ErrForeign] if a record of a retry topic says that it is of another topic or group.
func CheckRetry(r *kgo.Record, topic, group string) error {
	for _, h := range r.Headers {
		if h.Key == HeaderTopic && string(h.Value) != topic || h.Key == HeaderGroup && string(h.Value) != group {
			return fmt.Errorf("%w: offset %d of partition %d of topic %s has %s=%s, and this queue reads topic %s with group %s: name a RetryTopic of its own",
				ErrForeign, r.Offset, NumberInTopic(r.Partition), r.Topic, h.Key, h.Value, topic, group)
		}
	}
	return nil
}

// fromRetry is from for a record of the retry topic. The application gets the record with the topic and the place that it
// had at first.
func (l *Lease) fromRetry(r *kgo.Record) {
	origin, deliveries, copied := provenance(r.Headers)
	if copied {
		l.Attempt = deliveries + 1
	} else {
		origin = ID{Partition: Retry(r.Partition), Offset: r.Offset}
	}
	l.amend(func(p *tries) { p.origin = origin })
	r.Partition, r.Offset = origin.Partition, origin.Offset
	var newest, all string
	for _, h := range r.Headers {
		switch h.Key {
		case HeaderTopic:
			r.Topic = string(h.Value)
		case HeaderDue:
			if due, err := time.Parse(time.RFC3339, string(h.Value)); err == nil {
				l.SetDue(due)
			}
		case HeaderError:
			newest = string(h.Value)
		case HeaderAttempts:
			all = string(h.Value)
		}
	}
	l.remember(all, newest)
}

// remember restores what history has written.
func (l *Lease) remember(attempts, newest string) {
	var all []failure
	for line := range strings.Lines(attempts) {
		at, text, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		if t, err := time.Parse(time.RFC3339, at); err == nil {
			all = append(all, failure{t.UnixMilli(), text})
		}
	}
	if len(all) > 0 {
		all[len(all)-1].text = newest
		l.amend(func(p *tries) { p.failures = all })
	}
}
