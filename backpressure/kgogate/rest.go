package kgogate

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"kafkabench.example/kafka-bench/backpressure"
)

// Offsets that no consumer can read are no lag: those that retention deleted, the markers that end transactions,
// aborted records, and records that compaction removed. A group that has read everything may stay before them for
// good, and a gate that counted them would never open again.

const (
	// standsStill is how long a partition must stand still before the source looks what its rest is.
	standsStill = 5 * time.Second
	// recordStays is after how long a record that was found is looked for again: compaction may have removed it.
	recordStays = time.Minute
	// restBytes is how much of a partition one look reads, and restsAtOnce how many partitions.
	restBytes   = 1 << 20
	restsAtOnce = 16
	fetchBytes  = 64 << 10
)

// rest is what is known of a partition beyond the group's commit.
type rest struct {
	committed, end  int64
	committedAt, at time.Time // when the commit moved last, and either of the two
	empty           int64     // no record is below it
	lookedAt        time.Time // for the start of the log
	readAt          time.Time // for a record
	unreadable      bool      // it may not be read
	record          bool      // a record is at empty
}

// countRecords moves the committed offsets over offsets that have no record, as far as that is known. It returns true
// if a rest that stands still may not be read.
func (s *lagSource) countRecords(ctx context.Context, partitions []backpressure.Partition) (unreadable bool, err error) {
	if bound := s.cfg.MaxLag; bound > 0 && int64(len(partitions)) > bound {
		s.notice("bound", "the bound of %d is below the number of partitions, %d: if transactional producers write to them, each may end with an offset that is no record, and the gate may close for %v at a time",
			bound, len(partitions), standsStill)
	}
	now := time.Now()
	var started []string
	var looks []int
	for i, p := range partitions {
		r := s.restOf(p, now)
		if p.Committed >= p.End {
			continue
		}
		if now.Sub(r.committedAt) >= standsStill && now.Sub(r.lookedAt) >= standsStill {
			started = append(started, p.Topic)
		}
		again := standsStill
		if r.record {
			again = recordStays
		}
		if now.Sub(r.at) >= standsStill && r.empty < p.End && now.Sub(r.readAt) >= again {
			looks = append(looks, i)
		}
	}
	if len(started) > 0 {
		if err := s.skipDeleted(ctx, slices.Compact(started), partitions); err != nil {
			return false, err
		}
	}
	slices.SortStableFunc(looks, func(a, b int) int { return s.rest(partitions[a]).readAt.Compare(s.rest(partitions[b]).readAt) })
	for _, i := range looks[:min(len(looks), restsAtOnce)] { // the others at the next reading
		s.rest(partitions[i]).readAt = now
		s.findRecord(ctx, partitions[i])
	}
	for i, p := range partitions {
		r := s.rest(p)
		partitions[i].Committed = max(p.Committed, min(r.empty, p.End))
		unreadable = unreadable || r.unreadable && partitions[i].Committed < p.End && now.Sub(r.at) >= standsStill
	}
	return unreadable, nil
}

func (s *lagSource) rest(p backpressure.Partition) *rest { return s.rests[partition{p.Topic, p.ID}] }

func (s *lagSource) restOf(p backpressure.Partition, now time.Time) *rest {
	id := partition{p.Topic, p.ID}
	r := s.rests[id]
	if r == nil || p.End < r.end || p.Committed < r.committed { // new, or its log was cut
		r = &rest{committed: p.Committed, end: p.End, committedAt: now, at: now, empty: p.Committed}
		s.rests[id] = r
	}
	if p.Committed != r.committed {
		r.committed, r.committedAt, r.at = p.Committed, now, now
		r.record = r.record && p.Committed <= r.empty
		r.empty = max(r.empty, p.Committed)
	}
	if p.End != r.end {
		r.end, r.at = p.End, now
	}
	return r
}

func (s *lagSource) skipDeleted(ctx context.Context, topics []string, partitions []backpressure.Partition) error {
	starts, err := s.client.ListStartOffsets(ctx, topics...)
	if err = s.check("first offset", starts, err); err != nil {
		return err
	}
	now := time.Now()
	for _, p := range partitions {
		r := s.rest(p)
		if start, ok := starts.Lookup(p.Topic, p.ID); ok && p.Committed < p.End {
			r.record = r.record && start.Offset <= r.empty
			r.empty, r.lookedAt = max(r.empty, start.Offset), now
		}
	}
	return nil
}

// findRecord reads on from where no record is known, committed records only, until it finds one or the stable end. An
// error is no fault of the reading: the rest counts as lag until the next look.
func (s *lagSource) findRecord(ctx context.Context, p backpressure.Partition) {
	r := s.rest(p)
	topics, err := s.client.ListTopics(ctx, p.Topic)
	if err != nil {
		return
	}
	detail := topics[p.Topic]
	at, ok := detail.Partitions[p.ID]
	if !ok || at.Err != nil || at.Leader < 0 {
		return
	}
	for read := 0; read < restBytes && r.empty < p.End; {
		records, next, bytes, err := s.fetch(ctx, at.Leader, detail.ID, p, r.empty)
		r.unreadable = errors.Is(err, kerr.TopicAuthorizationFailed)
		switch {
		case err != nil:
			return
		case len(records) > 0:
			r.empty, r.record = records[0].Offset, true
			return
		case next <= r.empty: // an open transaction follows
			return
		}
		r.empty, r.record = next, false
		read += bytes
	}
}

func (s *lagSource) fetch(ctx context.Context, leader int32, id kadm.TopicID, p backpressure.Partition, from int64) (records []*kgo.Record, next int64, bytes int, err error) {
	req := kmsg.NewPtrFetchRequest()
	req.MaxWaitMillis, req.MinBytes, req.MaxBytes, req.IsolationLevel = 0, 1, fetchBytes, 1
	topic := kmsg.NewFetchRequestTopic()
	topic.Topic, topic.TopicID = p.Topic, id
	part := kmsg.NewFetchRequestTopicPartition()
	part.Partition, part.FetchOffset, part.PartitionMaxBytes = p.ID, from, fetchBytes
	topic.Partitions = append(topic.Partitions, part)
	req.Topics = append(req.Topics, topic)
	raw, err := s.reader.Broker(int(leader)).RetriableRequest(ctx, req)
	if err != nil {
		return nil, from, 0, err
	}
	resp := raw.(*kmsg.FetchResponse)
	if err := kerr.ErrorForCode(resp.ErrorCode); err != nil {
		return nil, from, 0, err
	}
	if len(resp.Topics) != 1 || len(resp.Topics[0].Partitions) != 1 {
		return nil, from, 0, fmt.Errorf("kgogate: the answer lacks partition %d of topic %s", p.ID, p.Topic)
	}
	answer := &resp.Topics[0].Partitions[0]
	bytes = len(answer.RecordBatches)
	fetched, next := kgo.ProcessFetchPartition(kgo.ProcessFetchPartitionOpts{
		Offset: from, IsolationLevel: kgo.ReadCommitted(), Topic: p.Topic, Partition: p.ID,
	}, answer, kgo.DefaultDecompressor(), nil)
	return fetched.Records, next, max(bytes, 1), fetched.Err
}
