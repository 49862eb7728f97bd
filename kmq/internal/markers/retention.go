package markers

import (
	"context"
	"errors"
	"fmt"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"

	"kafkabench.example/kafka-bench/kmq/internal/engine"
	"kafkabench.example/kafka-bench/kmq/internal/lease"
	"kafkabench.example/kafka-bench/kmq/internal/retention"
)

// need is what is still needed of a partition: the oldest locked record, and the oldest marker of a locked one; -1:
// nothing. Of a partition of the retry topic, the marker is part of the need of the partition with the same number.
type need struct {
	partition      int32 // see [lease.Retry]
	record, marker int64
}

func (p *part) needs() (all []need) {
	p.mu.Lock()
	defer p.mu.Unlock()
	marker := int64(-1)
	for _, l := range p.lanes {
		n := need{partition: l.number, record: -1, marker: -1}
		if record, ok := l.state.Oldest(); ok {
			n.record, marker = record, p.lowest()
		}
		all = append(all, n)
	}
	all[0].marker = marker
	return all
}

// newWatch watches the queue's topic, the group's retry topic and the markers': what is locked must be covered, and what
// the group or the trackers have not read.
func newWatch(cfg *engine.Config, cl *kgo.Client, locked func() []need) *retention.Watch {
	adm := kadm.NewClient(cl)
	return retention.New(cl, cfg.Log, func(ctx context.Context) ([]retention.Need, error) {
		needs := locked()
		committed, err := offsetsOf(ctx, adm, cfg.Group, cfg.Topic, cfg.RetryTopic)
		if err != nil {
			return nil, err
		}
		read, err := offsetsOf(ctx, adm, Group(cfg.Group), cfg.MarkersTopic)
		if err != nil {
			return nil, err
		}
		var all []retention.Need
		for _, n := range needs {
			all = append(all, n.with(cfg, committed, read)...)
		}
		return all, nil
	}, cfg.Topic, cfg.RetryTopic, cfg.MarkersTopic)
}

// with adds what the group has committed of the partition, and the trackers' group of its markers.
func (n need) with(cfg *engine.Config, committed, read kadm.OffsetResponses) (all []retention.Need) {
	low, marker := n.record, n.marker
	topic, partition := cfg.TopicOf(n.partition), lease.NumberInTopic(n.partition)
	if o, ok := read.Lookup(cfg.MarkersTopic, partition); ok && o.Err == nil && marker < 0 && !lease.IsRetry(n.partition) {
		marker = o.At // what no tracker has read may be needed
	}
	if o, ok := committed.Lookup(topic, partition); ok && o.Err == nil && o.At >= 0 && (low < 0 || o.At < low) {
		low = o.At // what waits is not settled either
	}
	if low >= 0 {
		all = append(all, retention.Need{Topic: topic, Partition: partition, From: low})
	}
	if marker >= 0 {
		all = append(all, retention.Need{Topic: cfg.MarkersTopic, Partition: partition, From: marker})
	}
	return all
}

// offsetsOf returns what a group has committed of topics; nothing if there is no such group.
func offsetsOf(ctx context.Context, adm *kadm.Client, group string, topics ...string) (kadm.OffsetResponses, error) {
	all, err := adm.FetchOffsetsForTopics(ctx, group, topics...)
	if err != nil && !errors.Is(err, kerr.GroupIDNotFound) {
		return nil, fmt.Errorf("kmq: read the offsets of group %s: %w", group, err)
	}
	return all, nil
}

// settled says up to where a lane may know all records as settled: whoever has read the markers up to end knows the
// starts of all records below committed.
type settled struct{ committed, end int64 }

// deleteSettled deletes the records of the retry topic that are settled: those below what the group has committed and
// below the oldest that is open. A marker that cannot be read may be a start, so then nothing is deleted.
func (t *Tracker) deleteSettled(ctx context.Context) error {
	adm := kadm.NewClient(t.client)
	committed, err := offsetsOf(ctx, adm, t.cfg.Group, t.cfg.RetryTopic)
	if err != nil {
		return err
	}
	ends, err := adm.ListEndOffsets(ctx, t.cfg.MarkersTopic) // after the commits, whose records' starts are below
	if err != nil {
		return fmt.Errorf("kmq: list the end of topic %s: %w", t.cfg.MarkersTopic, err)
	}
	below := make(map[int32]int64)
	for _, p := range t.all(nil) {
		o, ok := committed.Lookup(t.cfg.RetryTopic, p.partition)
		end, known := ends.Lookup(t.cfg.MarkersTopic, p.partition)
		if ok && known && o.Err == nil && end.Err == nil {
			if at := p.lanes[1].settle(settled{committed: o.At, end: end.Offset}); at > 0 {
				below[p.partition] = at
			}
		}
	}
	if t.unreadable.Load() > 0 {
		return nil
	}
	return t.deletions.DeleteBelow(ctx, below)
}

// settle returns the offset below which all records are settled, by what an earlier call was told; 0: none is known.
func (l *lane) settle(next settled) (below int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.state.Position() >= l.settled.end {
		below = l.settled.committed
		if oldest, ok := l.state.Oldest(); ok {
			below = min(below, oldest)
		}
	}
	l.settled = next
	return below
}

// Deleted raises an alarm for good: what the deleted markers said of locked records is lost.
func (h trackerHandler) Deleted(partition int32, from, to int64) {
	alarm := fmt.Sprintf("markers %d to %d of partition %d of topic %s were deleted before a tracker had done with them: records that were lent may never come again",
		from, to-1, partition, h.cfg.MarkersTopic)
	h.watch.Keep(alarm)
	h.cfg.Log.Error("kmq: markers are lost", "alarm", alarm)
}
