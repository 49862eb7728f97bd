package retention

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"

	"kafkabench.example/kafka-bench/kmq/internal/engine"
)

// Topic configs of retention.
const (
	Time  = "retention.ms"
	Bytes = "retention.bytes"

	policy = "cleanup.policy"
)

// aged is the part of the retention after which a needed record causes an alarm.
const aged = 0.75

type bound struct {
	topic             string
	start, end, young kadm.ListedOffsets
	retention         time.Duration // 0: unlimited
	most              int64         // bytes of a partition; 0: unlimited
	bytes             map[int32]int64
}

// threat is a deletion of needed records; about does not change while the threat lasts.
type threat struct{ about, text string }

func (w *Watch) bound(ctx context.Context, adm *kadm.Client, topic string) (*bound, error) {
	b := &bound{topic: topic}
	configs, err := engine.TopicConfigs(ctx, w.cl, topic)
	unknown := "the retention of " + topic
	switch {
	case denied(err):
		if w.news(unknown) {
			w.log.Warn("kmq: the retention of a topic can't be read; there is an alarm only after records were deleted", "watched", topic, "error", err)
		}
	case err != nil:
		return nil, err
	default:
		delete(w.silent, unknown)
		b.configure(configs)
	}
	if b.start, err = adm.ListStartOffsets(ctx, topic); err != nil {
		return nil, fmt.Errorf("kmq: list the start of topic %s: %w", topic, err)
	}
	if b.end, err = adm.ListEndOffsets(ctx, topic); err != nil {
		return nil, fmt.Errorf("kmq: list the end of topic %s: %w", topic, err)
	}
	if b.retention > 0 {
		old := time.Now().Add(-time.Duration(float64(b.retention) * aged))
		if b.young, err = adm.ListOffsetsAfterMilli(ctx, old.UnixMilli(), topic); err != nil {
			return nil, fmt.Errorf("kmq: list topic %s by time: %w", topic, err)
		}
	}
	return b, nil
}

func denied(err error) bool {
	return errors.Is(err, kerr.TopicAuthorizationFailed) || errors.Is(err, kerr.ClusterAuthorizationFailed)
}

func (b *bound) configure(configs map[string]string) {
	if p, ok := configs[policy]; ok && !strings.Contains(p, "delete") {
		return // nothing is deleted by age or size
	}
	if ms, err := strconv.ParseInt(configs[Time], 10, 64); err == nil && ms > 0 {
		b.retention = time.Duration(min(ms, int64(1<<53)/int64(time.Millisecond))) * time.Millisecond
	}
	if n, err := strconv.ParseInt(configs[Bytes], 10, 64); err == nil && n >= 0 {
		b.most = max(n, 1)
	}
}

// sizes reads the partitions' sizes, which matter with retention.bytes. Without the permission only
// ages are compared.
func (w *Watch) sizes(ctx context.Context, adm *kadm.Client, b *bound, needs []Need) {
	var asked kadm.TopicsSet
	for _, n := range needs {
		if n.Topic == b.topic {
			asked.Add(n.Topic, n.Partition)
		}
	}
	if b.most == 0 || len(asked) == 0 {
		return
	}
	unknown := "the size of " + b.topic
	dirs, err := adm.DescribeAllLogDirs(ctx, asked)
	if err != nil {
		if ctx.Err() == nil && w.news(unknown) {
			w.log.Warn("kmq: the size of a topic can't be read; only the age of its records is checked", "watched", b.topic, "error", err)
		}
		return
	}
	delete(w.silent, unknown)
	b.bytes = make(map[int32]int64)
	dirs.Each(func(d kadm.DescribedLogDir) {
		d.Topics.Each(func(p kadm.DescribedLogDirPartition) {
			if p.Topic == b.topic {
				b.bytes[p.Partition] = max(b.bytes[p.Partition], p.Size)
			}
		})
	})
}

func (b *bound) span(partition int32) (start, end int64, ok bool) {
	s, okStart := b.start.Lookup(b.topic, partition)
	e, okEnd := b.end.Lookup(b.topic, partition)
	return s.Offset, e.Offset, okStart && okEnd && s.Err == nil && e.Err == nil
}

func (b *bound) threatens(n Need) []threat {
	partition, low := n.Partition, n.From
	start, end, ok := b.span(partition)
	if low == Start {
		low = start
	}
	if !ok || low >= end {
		return nil
	}
	if low < start {
		return []threat{b.threat(partition, "deleted", fmt.Sprintf("offsets %d to %d of partition %d of topic %s are deleted and were not settled",
			low, start-1, partition, b.topic))}
	}
	said := b.outgrown(partition, low, start, end)
	if b.retention == 0 {
		return said
	}
	young, ok := b.young.Lookup(b.topic, partition)
	if ok && young.Err == nil && low < young.Offset {
		said = append(said, b.threat(partition, "old", fmt.Sprintf("offset %d of partition %d of topic %s is not settled and older than %v of its %s of %v",
			low, partition, b.topic, time.Duration(float64(b.retention)*aged).Round(time.Second), Time, b.retention)))
	}
	return said
}

func (b *bound) endangers(partition int32, offset int64, timestamp time.Time) bool {
	if b.retention > 0 && time.Since(timestamp) > b.retention/2 {
		return true
	}
	start, end, ok := b.span(partition)
	size := b.bytes[partition]
	return ok && b.most > 0 && end > start && float64(size)*float64(end-offset)/float64(end-start) > 0.9*float64(b.most)
}

func (b *bound) outgrown(partition int32, low, start, end int64) []threat {
	size := b.bytes[partition]
	if b.most == 0 || size == 0 || end <= start {
		return nil
	}
	since := float64(size) * float64(end-low) / float64(end-start)
	if since < aged*float64(b.most) {
		return nil
	}
	return []threat{b.threat(partition, "large", fmt.Sprintf("offset %d of partition %d of topic %s is not settled and about %.0f bytes were written since: its %s is %d",
		low, partition, b.topic, since, Bytes, b.most))}
}

func (b *bound) threat(partition int32, kind, text string) threat {
	return threat{about: fmt.Sprintf("%s %d %s", b.topic, partition, kind), text: text}
}
