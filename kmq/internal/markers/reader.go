package markers

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"kafkabench.example/kafka-bench/kmq/internal/window"
)

// reader reads records of the queue's topic at the offsets that are asked for, by fetch
// requests of its own: a consumer would read ahead what nobody asked for.
type reader struct {
	cl        *kgo.Client
	topic     string
	committed bool // read what is committed

	mu      sync.Mutex
	leaders map[int32]int32
	id      [16]byte
}

func newReader(cl *kgo.Client, topic string, committed bool) *reader {
	return &reader{cl: cl, topic: topic, committed: committed}
}

// The bounds of one fetch.
const (
	fetchLeast = 16 << 10
	fetchMost  = 1 << 20
	readMost   = 2 << 20 // and of one read, which then comes less far than it was asked to
	// nearby is how far apart records may be to be read by one fetch.
	nearby = 512
	// guess is how large records are taken to be before one was read.
	guess = 1 << 10
)

// errNotYet: the offset is not readable, and may come to be. errBehind, which is one: it
// is not in the log of the leader.
var (
	errNotYet = errors.New("the offset can't be read yet")
	errBehind = fmt.Errorf("%w: it is behind the end of the partition", errNotYet)
)

// found is what a read knows of the records that it was asked for.
type found struct {
	records []*kgo.Record // by offset
	missing []window.Range
	// through is up to where everything that was asked for is one or the other.
	through int64
}

// read reads the records at wanted, which are in order and do not overlap. It says how far
// it came, with an error or because there was much to be read. A record whose offset is not one that was
// asked for is never returned; an offset that the log has passed by is missing.
func (r *reader) read(ctx context.Context, partition int32, wanted []window.Range) (found, error) {
	f := found{through: wanted[0].From}
	size, all := int64(guess), int64(0)
	for at := (cursor{wanted: wanted}); !at.over() && all < readMost; {
		from := at.offset()
		records, next, bytes, err := r.fetch(ctx, partition, from, at.bytes(size))
		switch {
		case errors.Is(err, kerr.OffsetOutOfRange):
			start, err := r.start(ctx, partition)
			if err != nil {
				return f, err
			}
			if start <= from {
				return f, fmt.Errorf("kmq: read offset %d of partition %d of topic %s: %w", from, partition, r.topic, errBehind)
			}
			next, records = start, nil
		case err != nil:
			return f, err
		case next <= from:
			return f, fmt.Errorf("kmq: read offset %d of partition %d of topic %s: %w", from, partition, r.topic, errNotYet)
		}
		if bytes > 0 {
			size = max(1, bytes/(next-from))
		}
		all += bytes
		at.take(&f, records, next)
		f.through = next
	}
	return f, nil
}

// cursor goes through offsets that are wanted.
type cursor struct {
	wanted []window.Range
	into   int64 // offsets of the first range that are done with
}

func (c *cursor) over() bool    { return len(c.wanted) == 0 }
func (c *cursor) offset() int64 { return c.wanted[0].From + c.into }

// bytes is how much to ask for: enough for what is wanted nearby, of records of that size.
func (c *cursor) bytes(size int64) int32 {
	last := c.wanted[0].To
	for _, w := range c.wanted[1:] {
		if w.From-last > nearby || (w.To-c.offset())*size > fetchMost {
			break
		}
		last = w.To
	}
	return int32(min(fetchMost, max(fetchLeast, (last-c.offset())*size*5/4)))
}

// take goes on to next. Of what is wanted below it, f is given the records that are there,
// and the rest as missing.
func (c *cursor) take(f *found, records []*kgo.Record, next int64) {
	for !c.over() && c.offset() < next {
		offset := c.offset()
		for len(records) > 0 && records[0].Offset < offset {
			records = records[1:]
		}
		if len(records) > 0 && records[0].Offset == offset && !records[0].Attrs.IsControl() {
			f.records = append(f.records, records[0])
		} else if n := len(f.missing); n > 0 && f.missing[n-1].To == offset {
			f.missing[n-1].To++
		} else {
			f.missing = append(f.missing, window.Range{From: offset, To: offset + 1})
		}
		if c.into++; c.offset() == c.wanted[0].To {
			c.wanted, c.into = c.wanted[1:], 0
		}
	}
}

// fetch reads records from an offset on, and says which offset comes after them and how
// large they were.
func (r *reader) fetch(ctx context.Context, partition int32, from int64, most int32) (records []*kgo.Record, next, bytes int64, err error) {
	leader, id, err := r.leader(ctx, partition)
	if err != nil {
		return nil, 0, 0, err
	}
	req := kmsg.NewPtrFetchRequest()
	req.MaxWaitMillis, req.MinBytes, req.MaxBytes = 0, 1, most
	topic := kmsg.NewFetchRequestTopic()
	topic.Topic, topic.TopicID = r.topic, id
	part := kmsg.NewFetchRequestTopicPartition()
	part.Partition, part.FetchOffset, part.PartitionMaxBytes = partition, from, most
	topic.Partitions = append(topic.Partitions, part)
	req.Topics = append(req.Topics, topic)
	level := kgo.ReadUncommitted()
	if r.committed {
		req.IsolationLevel, level = 1, kgo.ReadCommitted()
	}
	raw, err := r.cl.Broker(int(leader)).RetriableRequest(ctx, req)
	if err != nil {
		r.forget()
		return nil, 0, 0, fmt.Errorf("kmq: fetch from partition %d of topic %s: %w", partition, r.topic, err)
	}
	resp := raw.(*kmsg.FetchResponse)
	if err := kerr.ErrorForCode(resp.ErrorCode); err != nil {
		r.forget()
		return nil, 0, 0, fmt.Errorf("kmq: fetch from partition %d of topic %s: %w", partition, r.topic, err)
	}
	if len(resp.Topics) != 1 || len(resp.Topics[0].Partitions) != 1 {
		return nil, 0, 0, fmt.Errorf("kmq: fetch from partition %d of topic %s: the answer has it not", partition, r.topic)
	}
	rp := &resp.Topics[0].Partitions[0]
	bytes = int64(len(rp.RecordBatches))
	fetched, next := kgo.ProcessFetchPartition(kgo.ProcessFetchPartitionOpts{
		KeepControlRecords: true, Offset: from, IsolationLevel: level, Topic: r.topic, Partition: partition,
	}, rp, kgo.DefaultDecompressor(), nil)
	if fetched.Err != nil {
		if !errors.Is(fetched.Err, kerr.OffsetOutOfRange) {
			r.forget()
		}
		return nil, 0, 0, fmt.Errorf("kmq: fetch from partition %d of topic %s: %w", partition, r.topic, fetched.Err)
	}
	return fetched.Records, next, bytes, nil
}

// start is the first offset that is in the log.
func (r *reader) start(ctx context.Context, partition int32) (int64, error) {
	req := kmsg.NewPtrListOffsetsRequest()
	topic := kmsg.NewListOffsetsRequestTopic()
	topic.Topic = r.topic
	part := kmsg.NewListOffsetsRequestTopicPartition()
	part.Partition, part.Timestamp = partition, -2
	topic.Partitions = append(topic.Partitions, part)
	req.Topics = append(req.Topics, topic)
	resp, err := req.RequestWith(ctx, r.cl)
	if err != nil {
		return 0, fmt.Errorf("kmq: ask for the start of partition %d of topic %s: %w", partition, r.topic, err)
	}
	if len(resp.Topics) != 1 || len(resp.Topics[0].Partitions) != 1 {
		return 0, fmt.Errorf("kmq: ask for the start of partition %d of topic %s: the answer has it not", partition, r.topic)
	}
	p := resp.Topics[0].Partitions[0]
	return p.Offset, kerr.ErrorForCode(p.ErrorCode)
}

// leader is where a partition is, and the topic's id, from the last look at the metadata.
func (r *reader) leader(ctx context.Context, partition int32) (int32, [16]byte, error) {
	r.mu.Lock()
	leader, ok := r.leaders[partition]
	id := r.id
	r.mu.Unlock()
	if ok {
		return leader, id, nil
	}
	req := kmsg.NewPtrMetadataRequest()
	req.AllowAutoTopicCreation = false
	topic := kmsg.NewMetadataRequestTopic()
	topic.Topic = &r.topic
	req.Topics = append(req.Topics, topic)
	resp, err := req.RequestWith(ctx, r.cl)
	if err != nil {
		return 0, id, fmt.Errorf("kmq: look up the leaders of topic %s: %w", r.topic, err)
	}
	if len(resp.Topics) != 1 {
		return 0, id, fmt.Errorf("kmq: look up the leaders of topic %s: the answer has it not", r.topic)
	}
	if err := kerr.ErrorForCode(resp.Topics[0].ErrorCode); err != nil {
		return 0, id, fmt.Errorf("kmq: look up the leaders of topic %s: %w", r.topic, err)
	}
	leaders := map[int32]int32{}
	for _, p := range resp.Topics[0].Partitions {
		if p.Leader >= 0 {
			leaders[p.Partition] = p.Leader
		}
	}
	r.mu.Lock()
	r.leaders, r.id = leaders, resp.Topics[0].TopicID
	id = r.id
	r.mu.Unlock()
	leader, ok = leaders[partition]
	if !ok {
		return 0, id, fmt.Errorf("kmq: partition %d of topic %s has no leader: %w", partition, r.topic, kerr.LeaderNotAvailable)
	}
	return leader, id, nil
}

// forget has the leaders looked up again.
func (r *reader) forget() {
	r.mu.Lock()
	r.leaders = nil
	r.mu.Unlock()
}
