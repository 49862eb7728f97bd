package inspect

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"

	"kafkabench.example/kafka-bench/kmq/internal/lease"
	"kafkabench.example/kafka-bench/kmq/internal/marker"
	"kafkabench.example/kafka-bench/kmq/internal/markers"
	"kafkabench.example/kafka-bench/kmq/internal/tracker"
	"kafkabench.example/kafka-bench/kmq/internal/window"
)

// stalls is how long a read waits for records: the last offsets may hold none.
const stalls = 3 * time.Second

func (i *inspector) markersTopic() string {
	if i.cfg.MarkersTopic != "" {
		return i.cfg.MarkersTopic
	}
	return i.cfg.Topic + "-markers"
}

// marked is false without permission to read.
func (i *inspector) marked(ctx context.Context) bool {
	topic := i.markersTopic()
	spans, err := i.spans(ctx, topic)
	if err != nil {
		return false
	}
	for id, s := range spans {
		s.From = max(s.From, s.To-readAtMost)
		spans[id] = s
	}
	looking, stop := context.WithCancel(ctx)
	defer stop()
	found, ours := false, marker.Of(i.cfg.Group)
	_ = i.read(looking, topic, spans, func(r *kgo.Record) {
		m, err := marker.Parse(r.Key, r.Value)
		if m.Group == ours && (err == nil || errors.Is(err, marker.ErrVersion)) {
			found = true
			stop()
		}
	})
	return found
}

// markers reads the markers that the tracker's group would read next.
func (i *inspector) markers(ctx context.Context) error {
	topic, group := i.markersTopic(), markers.Group(i.cfg.Group)
	committed, err := i.offsets(ctx, group)
	if err != nil {
		return err
	}
	spans, err := i.spans(ctx, topic)
	if err != nil {
		return err
	}
	partitions := 0
	for _, p := range i.parts {
		if !lease.IsRetry(p.ID) {
			partitions++
		}
	}
	if len(spans) != partitions {
		return fmt.Errorf("%w: topic %s has %d partitions, and %s has %d: it is not the topic of its markers",
			lease.ErrConfig, topic, len(spans), i.cfg.Topic, partitions)
	}
	states := make(map[int32]*tracker.State)
	for id, s := range spans {
		if o, ok := committed.Lookup(topic, id); ok && o.Err == nil && o.At > s.From {
			s.From = min(o.At, s.To)
			spans[id] = s
		}
		states[id], states[lease.Retry(id)] = tracker.New(s.From), tracker.New(s.From)
	}
	handed := make(map[int32]int64)
	var unreadable error
	ours := marker.Of(i.cfg.Group)
	err = i.read(ctx, topic, spans, func(r *kgo.Record) {
		m, err := marker.Parse(r.Key, r.Value)
		here, others := lease.NumberInTopic(m.Partition) == r.Partition, m.Group != 0 && m.Group != ours
		switch {
		case others && here && (err == nil || errors.Is(err, marker.ErrVersion)):
			return
		case err != nil || !here:
			unreadable = fmt.Errorf("kmq: topic %s, partition %d, offset %d: %w", topic, r.Partition, r.Offset, err)
			return
		}
		if m.Type == marker.Start {
			handed[m.Partition] = max(handed[m.Partition], m.Offset+int64(m.Count))
		}
		states[m.Partition].Apply(r.Offset, r.Timestamp, tracker.Seen{}, m)
	})
	if err == nil {
		err = unreadable
	}
	if err != nil {
		return err
	}
	for _, p := range i.parts {
		s := states[p.ID]
		if s == nil { // of a retry topic with more partitions
			continue
		}
		p.InFlight, p.open = int64(s.Open()), s.Ranges()
		p.unlent = max(p.unlent, handed[p.ID]) // starts are written before commits
		p.Waiting = max(p.End-p.unlent, 0)
	}
	return nil
}

// readUnsettled finds the oldest timestamps.
func (i *inspector) readUnsettled(ctx context.Context) error {
	spans := make(map[string]map[int32]window.Range)
	byNumber := make(map[int32]*Partition)
	for _, p := range i.parts {
		byNumber[p.ID] = p
		span := p.readable()
		if span.Len() > readAtMost {
			span.To = span.From + 1
		}
		topic := i.topicOf(p.ID)
		if spans[topic] == nil {
			spans[topic] = make(map[int32]window.Range)
		}
		spans[topic][lease.NumberInTopic(p.ID)] = span
	}
	for topic, of := range spans {
		err := i.read(ctx, topic, of, func(r *kgo.Record) {
			number := r.Partition
			if topic != i.cfg.Topic {
				number = lease.Retry(number)
			}
			p := byNumber[number]
			if p.unsettled(r.Offset) && (p.OldestUnacked.IsZero() || r.Timestamp.Before(p.OldestUnacked)) {
				p.OldestUnacked = r.Timestamp
			}
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func (p *Partition) readable() window.Range {
	from := max(p.unlent, p.start)
	if len(p.open) > 0 {
		from = max(p.open[0].From, p.start)
	}
	return window.Range{From: from, To: max(from, min(p.End, p.stable))}
}

func (p *Partition) unsettled(offset int64) bool {
	if offset >= p.unlent {
		return true
	}
	_, found := slices.BinarySearchFunc(p.open, offset, func(r window.Range, offset int64) int {
		switch {
		case r.To <= offset:
			return -1
		case r.From > offset:
			return 1
		}
		return 0
	})
	return found
}

func (i *inspector) spans(ctx context.Context, topic string) (map[int32]window.Range, error) {
	starts, err := i.adm.ListStartOffsets(ctx, topic)
	var ends kadm.ListedOffsets
	if err == nil {
		ends, err = i.adm.ListCommittedOffsets(ctx, topic)
	}
	if err != nil {
		return nil, fmt.Errorf("kmq: the offsets of topic %s: %w", topic, err)
	}
	spans := make(map[int32]window.Range)
	for id, end := range ends[topic] {
		if start := starts[topic][id]; end.Err == nil && start.Err == nil {
			spans[id] = window.Range{From: start.Offset, To: end.Offset}
		}
	}
	return spans, nil
}

// read reads in offset order. A range must not end beyond the last stable offset, because brokers
// hold back later records.
func (i *inspector) read(ctx context.Context, topic string, spans map[int32]window.Range, f func(*kgo.Record)) error {
	from := make(map[int32]kgo.Offset)
	for id, s := range spans {
		if s.From < s.To {
			from[id] = kgo.NewOffset().At(s.From)
		}
	}
	if len(from) == 0 {
		return nil
	}
	client, err := kgo.NewClient(i.cfg.ClientOptions(
		kgo.ConsumePartitions(map[string]map[int32]kgo.Offset{topic: from}),
		kgo.FetchIsolationLevel(kgo.ReadCommitted()), kgo.KeepControlRecords())...)
	if err != nil {
		return fmt.Errorf("%w: %w", lease.ErrConfig, err)
	}
	defer client.Close()
	for len(from) > 0 {
		waiting, cancel := context.WithTimeout(ctx, stalls)
		fetches := client.PollFetches(waiting)
		cancel()
		if err := ctx.Err(); err != nil {
			return err
		}
		if waiting.Err() != nil && fetches.NumRecords() == 0 {
			return nil
		}
		for _, e := range fetches.Errors() {
			if waiting.Err() == nil {
				return fmt.Errorf("kmq: read topic %s, partition %d: %w", e.Topic, e.Partition, e.Err)
			}
		}
		fetches.EachRecord(func(r *kgo.Record) {
			s := spans[r.Partition]
			if r.Offset < s.To && !r.Attrs.IsControl() {
				f(r)
			}
			if r.Offset+1 >= s.To {
				delete(from, r.Partition)
			}
		})
	}
	return nil
}
