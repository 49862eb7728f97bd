package markers

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"

	"kafka-bench/kmq/internal/engine"
)

// watchEvery is how often retention is looked at.
const watchEvery = 30 * time.Second

// aged is the share of a topic's retention after which what is still needed is an alarm.
const aged = 0.75

// reach is what is still needed of one partition: the oldest record that is lent, and the
// marker of its start; -1 is nothing.
type reach struct {
	partition      int32
	record, marker int64
}

// watch compares what is still needed with what retention has deleted, or will delete
// next.
type watch struct {
	cfg    *engine.Config
	cl     *kgo.Client
	needed func() []reach

	mu   sync.Mutex
	last string
	gone string // what can't be mended: markers that were deleted before they were read

	stop context.CancelFunc
	done chan struct{}
}

func newWatch(cfg *engine.Config, cl *kgo.Client, needed func() []reach) *watch {
	w := &watch{cfg: cfg, cl: cl, needed: needed, done: make(chan struct{})}
	ctx, stop := context.WithCancel(context.Background())
	w.stop = stop
	go w.run(ctx)
	return w
}

func (w *watch) close() {
	w.stop()
	<-w.done
}

// alarm says what is about to be lost; empty: nothing.
func (w *watch) alarm() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.gone != "" && w.last != "" {
		return w.gone + "; " + w.last
	}
	return w.gone + w.last
}

// deleted notes that markers were deleted that a tracker had not read: what they said of
// records that were lent is lost. That stays an alarm.
func (w *watch) deleted(partition int32, from, to int64) {
	alarm := fmt.Sprintf("markers %d to %d of partition %d of topic %s were deleted before a tracker had done with them: records that were lent may never come again",
		from, to-1, partition, w.cfg.MarkersTopic)
	w.mu.Lock()
	w.gone = alarm
	w.mu.Unlock()
	w.cfg.Log.Error("kmq: markers are lost", "alarm", alarm)
}

func (w *watch) run(ctx context.Context) {
	defer close(w.done)
	trouble := engine.NewComplaint(w.cfg.Log)
	every := time.NewTicker(watchEvery)
	defer every.Stop()
	for {
		if err := w.look(ctx); err != nil && ctx.Err() == nil {
			trouble.About("compare the retention of the topics with what is not settled", err)
		}
		select {
		case <-every.C:
		case <-ctx.Done():
			return
		}
	}
}

// look compares once.
func (w *watch) look(ctx context.Context) error {
	adm := kadm.NewClient(w.cl)
	needed := w.needed()
	queue, err := bounds(ctx, adm, w.cl, w.cfg.Topic)
	if err != nil {
		return err
	}
	marks, err := bounds(ctx, adm, w.cl, w.cfg.MarkersTopic)
	if err != nil {
		return err
	}
	committed, err := adm.FetchOffsetsForTopics(ctx, w.cfg.Group, w.cfg.Topic)
	if err != nil && !errors.Is(err, kerr.GroupIDNotFound) {
		return fmt.Errorf("kmq: read the offsets of group %s: %w", w.cfg.Group, err)
	}
	read, err := adm.FetchOffsetsForTopics(ctx, Group(w.cfg.Group), w.cfg.MarkersTopic)
	if err != nil && !errors.Is(err, kerr.GroupIDNotFound) {
		return fmt.Errorf("kmq: read the offsets of group %s: %w", Group(w.cfg.Group), err)
	}
	w.sizes(ctx, adm, &queue, &marks)
	var said []string
	for _, r := range needed {
		if o, ok := read.Lookup(w.cfg.MarkersTopic, r.partition); ok && o.Err == nil && o.At >= 0 && r.marker < 0 {
			r.marker = o.At // what no tracker has read may be needed
		}
		low := r.record
		if o, ok := committed.Lookup(w.cfg.Topic, r.partition); ok && o.Err == nil && o.At >= 0 && (low < 0 || o.At < low) {
			low = o.At // what waits is not settled either
		}
		said = append(said, queue.threatens(r.partition, low)...)
		said = append(said, marks.threatens(r.partition, r.marker)...)
	}
	w.say(strings.Join(said, "; "))
	return nil
}

// say keeps the alarm, and logs it when it changes.
func (w *watch) say(alarm string) {
	w.mu.Lock()
	before := w.last
	w.last = alarm
	w.mu.Unlock()
	switch {
	case alarm != "" && alarm != before:
		w.cfg.Log.Warn("kmq: retention does not cover what is not settled", "alarm", alarm)
	case alarm == "" && before != "":
		w.cfg.Log.Info("kmq: retention covers what is not settled again")
	}
}

// sizes looks up how large partitions are whose size is bounded. Where that is not
// permitted, it is said, and only their age is compared.
func (w *watch) sizes(ctx context.Context, adm *kadm.Client, all ...*bound) {
	for _, b := range all {
		if b.most == 0 {
			continue
		}
		var asked kadm.TopicsSet
		for partition := range b.start[b.topic] {
			asked.Add(b.topic, partition)
		}
		dirs, err := adm.DescribeAllLogDirs(ctx, asked)
		if err != nil {
			w.cfg.Log.Warn("kmq: how large a topic is can't be compared with its retention", "topic", b.topic, "error", err)
			continue
		}
		b.bytes = map[int32]int64{}
		dirs.Each(func(d kadm.DescribedLogDir) {
			d.Topics.Each(func(p kadm.DescribedLogDirPartition) {
				if p.Topic == b.topic {
					b.bytes[p.Partition] = max(b.bytes[p.Partition], p.Size)
				}
			})
		})
	}
}

// span of a topic's partitions: where they start, where they end, and from which offset on
// they are not aged.
type bound struct {
	topic             string
	start, end, young kadm.ListedOffsets
	retention         time.Duration // 0: for ever
	most              int64         // bytes of a partition that are kept; 0: all
	bytes             map[int32]int64
}

func bounds(ctx context.Context, adm *kadm.Client, cl *kgo.Client, topic string) (b bound, err error) {
	b.topic = topic
	v, err := engine.TopicConfig(ctx, cl, topic, retentionTime)
	if err != nil {
		return b, err
	}
	if v != nil {
		if ms, err := strconv.ParseInt(*v, 10, 64); err == nil && ms > 0 {
			b.retention = time.Duration(min(ms, int64(1<<53)/int64(time.Millisecond))) * time.Millisecond
		}
	}
	if v, err = engine.TopicConfig(ctx, cl, topic, retentionBytes); err != nil {
		return b, err
	}
	if v != nil {
		if n, err := strconv.ParseInt(*v, 10, 64); err == nil && n >= 0 {
			b.most = max(n, 1)
		}
	}
	if b.start, err = adm.ListStartOffsets(ctx, topic); err != nil {
		return b, fmt.Errorf("kmq: list the start of topic %s: %w", topic, err)
	}
	if b.end, err = adm.ListEndOffsets(ctx, topic); err != nil {
		return b, fmt.Errorf("kmq: list the end of topic %s: %w", topic, err)
	}
	if b.retention > 0 {
		old := time.Now().Add(-time.Duration(float64(b.retention) * aged))
		if b.young, err = adm.ListOffsetsAfterMilli(ctx, old.UnixMilli(), topic); err != nil {
			return b, fmt.Errorf("kmq: list topic %s by time: %w", topic, err)
		}
	}
	return b, nil
}

// threatens says whether retention has deleted what is needed from low on, or is about to.
func (b *bound) threatens(partition int32, low int64) []string {
	start, ok := b.start.Lookup(b.topic, partition)
	end, okEnd := b.end.Lookup(b.topic, partition)
	if !ok || !okEnd || start.Err != nil || end.Err != nil || low < 0 || low >= end.Offset {
		return nil
	}
	if low < start.Offset {
		return []string{fmt.Sprintf("offsets %d to %d of partition %d of topic %s are deleted and were not settled", low, start.Offset-1, partition, b.topic)}
	}
	said := b.outgrown(partition, low, start.Offset, end.Offset)
	if b.retention == 0 {
		return said
	}
	young, ok := b.young.Lookup(b.topic, partition)
	if ok && young.Err == nil && low < young.Offset {
		said = append(said, fmt.Sprintf("offset %d of partition %d of topic %s is not settled and older than %v of its %s of %v",
			low, partition, b.topic, time.Duration(float64(b.retention)*aged).Round(time.Second), retentionTime, b.retention))
	}
	return said
}

// outgrown says whether so much has been written since what is needed from low on that the
// bound of the partition's size is near, as far as offsets tell bytes.
func (b *bound) outgrown(partition int32, low, start, end int64) []string {
	size := b.bytes[partition]
	if b.most == 0 || size == 0 || end <= start {
		return nil
	}
	since := float64(size) * float64(end-low) / float64(end-start)
	if since < aged*float64(b.most) {
		return nil
	}
	return []string{fmt.Sprintf("offset %d of partition %d of topic %s is not settled and about %.0f bytes were written since: its %s is %d",
		low, partition, b.topic, since, retentionBytes, b.most)}
}
