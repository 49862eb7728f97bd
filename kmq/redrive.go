package kmq

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"

	"kafkabench.example/kafka-bench/kmq/internal/engine"
	"kafkabench.example/kafka-bench/kmq/internal/lease"
)

// Redrive copies the dead letters that cfg.DeadLetterTopic has now to its retry topic, from where the group's queues
// deliver them again, from attempt 1 on. It returns how many it has copied. The dead letters stay where they are; the
// group "<Group>-redrive" commits how far they are copied, so that a second Redrive copies only later ones. If it fails,
// the next one may copy some of the last 1,000 once more. Dead letters of other topics and groups are passed over.
//
// cfg is as for the group's queues. Markers, Share and an unordered OffsetMap have a retry topic; for others the error is
// [ErrConfig]. Otherwise it is the cluster's. One Redrive of a group at a time may run.
func Redrive(ctx context.Context, cfg Config) (copied int64, err error) {
	if cfg, err = cfg.resolve(); err != nil {
		return 0, err
	}
	e := cfg.engine()
	if e.RetryTopic == "" {
		return 0, fmt.Errorf("%w: a queue of engine %s and order %s has no retry topic: produce its dead letters to topic %s again", ErrConfig, cfg.Engine, cfg.Order, cfg.Topic)
	}
	r := redriver{cfg: e, group: e.Group + "-redrive"}
	client, err := kgo.NewClient(e.ClientOptions(append(e.ProducerOptions(), kgo.FetchIsolationLevel(kgo.ReadCommitted()), kgo.KeepControlRecords())...)...)
	if err != nil {
		return 0, fmt.Errorf("%w: %w", ErrConfig, err)
	}
	defer client.Close()
	r.client, r.admin, r.copier = client, kadm.NewClient(client), engine.NewCopier(&r.cfg, client)
	defer r.copier.Close()
	if err = r.begin(ctx); err == nil {
		err = r.copyAll(ctx)
	}
	return r.copied, err
}

type redriver struct {
	cfg    engine.Config
	group  string
	client *kgo.Client
	admin  *kadm.Client
	copier *engine.Copier

	partitions int             // of the retry topic
	ends       map[int32]int64 // of the partitions with dead letters to copy
	copied     int64
}

// begin looks up what is to be copied.
func (r *redriver) begin(ctx context.Context) error {
	topics, err := r.admin.ListTopics(ctx, r.cfg.RetryTopic, r.cfg.DeadLetterTopic)
	if err != nil {
		return fmt.Errorf("kmq: look up topic %s: %w", r.cfg.RetryTopic, err)
	}
	for _, name := range []string{r.cfg.RetryTopic, r.cfg.DeadLetterTopic} {
		switch err := topics[name].Err; {
		case errors.Is(err, kerr.UnknownTopicOrPartition):
			return fmt.Errorf("%w: topic %s does not exist: no queue of this topic and group with a retry topic has been opened", ErrConfig, name)
		case err != nil:
			return fmt.Errorf("kmq: look up topic %s: %w", name, err)
		}
	}
	r.partitions = len(topics[r.cfg.RetryTopic].Partitions)
	dead := r.cfg.DeadLetterTopic
	starts, err := r.admin.ListStartOffsets(ctx, dead)
	if err == nil {
		err = starts.Error()
	}
	var ends kadm.ListedOffsets
	if err == nil {
		ends, err = r.admin.ListCommittedOffsets(ctx, dead)
	}
	if err == nil {
		err = ends.Error()
	}
	if err != nil {
		return fmt.Errorf("kmq: read the offsets of topic %s: %w", dead, err)
	}
	done, err := r.admin.FetchOffsets(ctx, r.group)
	if err != nil && !errors.Is(err, kerr.GroupIDNotFound) {
		return fmt.Errorf("kmq: read the commits of group %s: %w", r.group, err)
	}
	r.ends = make(map[int32]int64)
	from := make(map[int32]kgo.Offset)
	for id, end := range ends[dead] {
		first := starts[dead][id].Offset
		if o, ok := done.Lookup(dead, id); ok && o.Err == nil && o.At <= end.Offset {
			first = max(first, o.At)
		}
		if first < end.Offset {
			r.ends[id], from[id] = end.Offset, kgo.NewOffset().At(first)
		}
	}
	r.client.AddConsumePartitions(map[string]map[int32]kgo.Offset{dead: from})
	return nil
}

const (
	redriveBatch = 1000
	// redriveStalls is how long copyAll waits for a record. The client also returns the ends of transactions, so each
	// partition ends with something that comes.
	redriveStalls = 30 * time.Second
)

func (r *redriver) copyAll(ctx context.Context) error {
	for len(r.ends) > 0 {
		waiting, cancel := context.WithTimeout(ctx, redriveStalls)
		fetches := r.client.PollRecords(waiting, redriveBatch)
		stalled := waiting.Err() != nil
		cancel()
		switch err := fetches.Err(); {
		case ctx.Err() != nil:
			return ctx.Err()
		case stalled && fetches.NumRecords() == 0:
			return fmt.Errorf("kmq: %d partitions of topic %s were not read to their ends, since no record came for %v: redrive the group again",
				len(r.ends), r.cfg.DeadLetterTopic, redriveStalls)
		case err != nil && !stalled:
			return fmt.Errorf("kmq: read topic %s: %w", r.cfg.DeadLetterTopic, err)
		}
		if err := r.copyBatch(ctx, fetches.Records()); err != nil {
			return err
		}
	}
	return nil
}

func (r *redriver) copyBatch(ctx context.Context, dead []*kgo.Record) error {
	var copies []*kgo.Record
	var next kadm.Offsets
	for _, d := range dead {
		end, wanted := r.ends[d.Partition]
		if !wanted || d.Offset >= end {
			continue
		}
		if c, ours := lease.Redriven(d, r.cfg.Topic, r.cfg.Group, r.cfg.RetryTopic, r.partitions); ours && !d.Attrs.IsControl() {
			copies = append(copies, c)
		}
		next.AddOffset(d.Topic, d.Partition, d.Offset+1, d.LeaderEpoch)
		if d.Offset+1 >= end {
			delete(r.ends, d.Partition)
		}
	}
	if err := errors.Join(r.copier.Write(ctx, copies...)...); err != nil {
		return fmt.Errorf("kmq: copy dead letters to topic %s: %w", r.cfg.RetryTopic, err)
	}
	r.copied += int64(len(copies))
	if err := r.admin.CommitAllOffsets(ctx, r.group, next); err != nil {
		return fmt.Errorf("kmq: commit the offsets of group %s: %w", r.group, err)
	}
	return nil
}
