package markers

import (
	"context"
	"errors"
	"fmt"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"

	"kafkabench.example/kafka-bench/kmq/internal/engine"
	"kafkabench.example/kafka-bench/kmq/internal/retention"
)

// need is what is still needed of one partition: the oldest locked record, and the marker of its
// start; -1: nothing.
type need struct {
	partition      int32
	record, marker int64
}

// newWatch watches the queue's topic and the markers': what is locked must be covered, and what the
// group or the trackers have not read.
func newWatch(cfg *engine.Config, cl *kgo.Client, locked func() []need) *retention.Watch {
	adm := kadm.NewClient(cl)
	return retention.New(cl, cfg.Log, func(ctx context.Context) ([]retention.Need, error) {
		needs := locked()
		committed, err := offsetsOf(ctx, adm, cfg.Group, cfg.Topic)
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
	}, cfg.Topic, cfg.MarkersTopic)
}

// with adds what the group has committed of the queue's topic, and the trackers' group of the markers'.
func (n need) with(cfg *engine.Config, committed, read kadm.OffsetResponses) []retention.Need {
	low, marker := n.record, n.marker
	if o, ok := read.Lookup(cfg.MarkersTopic, n.partition); ok && o.Err == nil && o.At >= 0 && marker < 0 {
		marker = o.At // what no tracker has read may be needed
	}
	if o, ok := committed.Lookup(cfg.Topic, n.partition); ok && o.Err == nil && o.At >= 0 && (low < 0 || o.At < low) {
		low = o.At // what waits is not settled either
	}
	var all []retention.Need
	if low >= 0 {
		all = append(all, retention.Need{Topic: cfg.Topic, Partition: n.partition, From: low})
	}
	if marker >= 0 {
		all = append(all, retention.Need{Topic: cfg.MarkersTopic, Partition: n.partition, From: marker})
	}
	return all
}

// offsetsOf returns what a group has committed of a topic; nothing if there is no such group.
func offsetsOf(ctx context.Context, adm *kadm.Client, group, topic string) (kadm.OffsetResponses, error) {
	all, err := adm.FetchOffsetsForTopics(ctx, group, topic)
	if err != nil && !errors.Is(err, kerr.GroupIDNotFound) {
		return nil, fmt.Errorf("kmq: read the offsets of group %s: %w", group, err)
	}
	return all, nil
}

// Deleted raises an alarm for good: what the deleted markers said of locked records is lost.
func (h trackerHandler) Deleted(partition int32, from, to int64) {
	alarm := fmt.Sprintf("markers %d to %d of partition %d of topic %s were deleted before a tracker had done with them: records that were lent may never come again",
		from, to-1, partition, h.cfg.MarkersTopic)
	h.watch.Keep(alarm)
	h.cfg.Log.Error("kmq: markers are lost", "alarm", alarm)
}
