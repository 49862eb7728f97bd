package kmq

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"

	"kafkabench.example/kafka-bench/backpressure"
	"kafkabench.example/kafka-bench/backpressure/kgogate"
	"kafkabench.example/kafka-bench/kmq/internal/offsetmap"
)

// Lag returns the lag of the queues of cfg.Group for a gate before their producers: the records of cfg.Topic that are not
// settled, as the group's commits say. It is the Gate.Source of a [kgogate.Config], or the Source of another gate. Only
// Topic, Group, Engine and Logger of cfg are used; it reads through client, and is safe for concurrent use.
//
//   - [OffsetMap]: acknowledged records beyond the committed offset are no lag, so a slow record keeps no gate closed.
//   - [Plain]: the lag of a consumer group. A slow record holds up the commit, and so the gate.
//   - [Markers]: records that are handed out are no lag, because the commit has passed them: at most MaxInFlight for each
//     process.
//   - [Share]: the lag that the broker reports; in Kafka before 4.2, the records from the first unsettled one on.
//
// What was acknowledged shows with the next commit, so a gate needs a bound above the rate × [Config.CommitEvery].
func Lag(client *kgo.Client, cfg Config) (backpressure.Source, error) {
	m := new(mistakes)
	if client == nil {
		m.add("Lag has no client")
	}
	m.topic("Topic", cfg.Topic)
	if cfg.Group == "" {
		m.add("Group is empty")
	}
	if err := m.err(); err != nil {
		return nil, err
	}
	l := queueLag{admin: kadm.NewClient(client), topic: cfg.Topic, group: cfg.Group}
	if _, share := cfg.Engine.(Share); share {
		return backpressure.SourceFunc(l.readShare), nil
	}
	committed, err := kgogate.Lag(client, kgogate.Config{Group: cfg.Group, Topics: []string{cfg.Topic}, Gate: backpressure.Config{Logger: cfg.Logger}})
	if err != nil {
		return nil, err
	}
	if _, maps := cfg.Engine.(OffsetMap); !maps && cfg.Engine != nil {
		return committed, nil
	}
	l.committed = committed
	return backpressure.SourceFunc(l.readMaps), nil
}

type queueLag struct {
	admin        *kadm.Client
	topic, group string
	committed    backpressure.Source
}

// readMaps reads the maps first: then the lag never looks too small.
func (l queueLag) readMaps(ctx context.Context) (backpressure.Reading, error) {
	maps, err := l.admin.FetchOffsetsForTopics(ctx, l.group, l.topic)
	if err != nil && !errors.Is(err, kerr.GroupIDNotFound) {
		return backpressure.Reading{}, fmt.Errorf("kmq: read the commits of group %s: %w", l.group, err)
	}
	r, err := l.committed.Read(ctx)
	if err != nil {
		return r, err
	}
	settled := make(map[int32]int64)
	maps.Each(func(o kadm.OffsetResponse) {
		done, err := offsetmap.Map(o.At, o.Metadata)
		if o.Err != nil || o.At < 0 || err != nil { // the lag then looks too large
			return
		}
		settled[o.Partition] = o.At
		for _, d := range done {
			settled[o.Partition] += d.Len()
		}
	})
	return withSettled(r.Partitions, settled, r.Unreadable), nil
}

func (l queueLag) readShare(ctx context.Context) (backpressure.Reading, error) {
	before, err := l.ends(ctx)
	if err != nil {
		return backpressure.Reading{}, err
	}
	starts, err := l.admin.ListStartOffsets(ctx, l.topic)
	if err == nil {
		err = starts.Error()
	}
	if err != nil {
		return backpressure.Reading{}, fmt.Errorf("kmq: read the first offsets of topic %s: %w", l.topic, err)
	}
	groups, err := l.admin.DescribeShareGroupOffsets(ctx, l.group)
	if err == nil && !errors.Is(groups[l.group].Err, kerr.GroupIDNotFound) {
		err = groups[l.group].Err
	}
	if err != nil {
		return backpressure.Reading{}, fmt.Errorf("kmq: read the offsets of share group %s: %w", l.group, err)
	}
	after, err := l.ends(ctx)
	if err != nil {
		return backpressure.Reading{}, err
	}
	var partitions []backpressure.Partition
	settled := make(map[int32]int64)
	for id, end := range after[l.topic] {
		partitions = append(partitions, backpressure.Partition{Topic: l.topic, ID: id, Committed: starts[l.topic][id].Offset, End: end.Offset})
		if o, ok := groups[l.group].Offsets.Lookup(l.topic, id); ok && o.Err == nil {
			settled[id] = o.StartOffset
			if o.Lag >= 0 {
				settled[id] = before[l.topic][id].Offset - o.Lag // of an earlier end: not too many
			}
		}
	}
	slices.SortFunc(partitions, func(a, b backpressure.Partition) int { return int(a.ID - b.ID) })
	return withSettled(partitions, settled, false), nil
}

func (l queueLag) ends(ctx context.Context) (kadm.ListedOffsets, error) {
	ends, err := l.admin.ListEndOffsets(ctx, l.topic)
	if err == nil {
		err = ends.Error()
	}
	if err != nil {
		return nil, fmt.Errorf("kmq: read the ends of topic %s: %w", l.topic, err)
	}
	return ends, nil
}

// withSettled counts the settled records of each partition, wherever they are, as if they were the first ones.
func withSettled(partitions []backpressure.Partition, settled map[int32]int64, unreadable bool) backpressure.Reading {
	r := backpressure.Reading{Partitions: partitions, Unreadable: unreadable}
	for i, p := range partitions {
		p.Committed = max(p.Committed, min(settled[p.ID], p.End))
		partitions[i] = p
		r.Lag += p.End - p.Committed
		r.Committed += p.Committed
	}
	return r
}
