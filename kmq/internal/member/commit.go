package member

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"kafkabench.example/kafka-bench/kmq/internal/engine"
	"kafkabench.example/kafka-bench/kmq/internal/step"
)

// commitFor bounds one attempt at a commit, however long its caller would wait; the next is
// made CommitEvery later.
const commitFor = 10 * time.Second

// commitNowAndThen commits every CommitEvery until the member ends.
func (m *Member) commitNowAndThen() {
	trouble, denied := engine.NewComplaint(m.cfg.Log), new(denials)
	tick := time.NewTicker(m.cfg.CommitEvery)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
		case <-m.running.Done():
			return
		}
		err := m.Commit(m.running)
		switch {
		case err == nil:
			denied = new(denials)
		case m.running.Err() != nil:
		case denied.endMember(err):
			m.finish(err)
			return
		default:
			trouble.About("commit", err)
		}
	}
}

// Commit commits what is committable, now, once no other commit is under way. It returns when
// that is durable, or with the reason why it is not, which may be that it took longer than
// 10 s; then it is committed next time.
func (m *Member) Commit(ctx context.Context) error { return m.commit(ctx, nil) }

// commit is one at a time, and one request at a time: what a revocation commits is never overtaken by what
// was committable before it, and by the time that partitions are another member's, nothing
// is on its way any more. It needs as many requests as the metadata does; one that fails holds up no other.
func (m *Member) commit(ctx context.Context, partitions []int32) error {
	select {
	case m.offsets.committing <- struct{}{}:
		defer func() { <-m.offsets.committing }()
	case <-ctx.Done():
		return fmt.Errorf("kmq: commit the offsets of group %s: another commit is under way: %w", m.cfg.Group, ctx.Err())
	}
	ctx, cancel := context.WithTimeout(ctx, commitFor)
	defer cancel()
	var failed error
	for left := m.offsets.changed(m.cfg.Handler.Committable(partitions)); len(left) > 0 && (failed == nil || ctx.Err() == nil); {
		to := m.offsets.part(left)
		err := m.commitOnce(ctx, to)
		if tooLarge(err) && m.offsets.refused(to) {
			m.cfg.Log.Warn("kmq: a commit was refused, perhaps for all its metadata together; it is tried again in parts",
				"bytes", m.offsets.most)
			maps.Copy(left, to)
			continue
		}
		failed = errors.Join(failed, err)
	}
	if failed != nil {
		return fmt.Errorf("kmq: commit the offsets of group %s: %w", m.cfg.Group, failed)
	}
	return nil
}

// tooLarge is whether a commit may have been refused because it was too large for one batch:
// Kafka 4 has no word of its own for that.
func tooLarge(err error) bool {
	return errors.Is(err, kerr.UnknownServerError) || errors.Is(err, kerr.InvalidCommitOffsetSize)
}

// commitOnce commits by one request.
func (m *Member) commitOnce(ctx context.Context, to map[int32]Offset) error {
	epochs := make(map[int32]kgo.EpochOffset, len(to))
	for p, o := range to {
		epochs[p] = kgo.EpochOffset{Epoch: m.offsets.of(p).epochs.before(o.At), Offset: o.At}
	}
	ctx = kgo.PreCommitFnContext(ctx, func(req *kmsg.OffsetCommitRequest) error {
		m.addMetadata(req, to)
		return nil
	})
	var failed error
	m.client.CommitOffsetsSync(ctx, byTopic(m, epochs),
		func(_ *kgo.Client, _ *kmsg.OffsetCommitRequest, resp *kmsg.OffsetCommitResponse, err error) {
			failed = m.committed(ctx, resp, err, to)
		})
	if failed == nil {
		step.At(step.Committed)
	}
	return failed
}

func (m *Member) addMetadata(req *kmsg.OffsetCommitRequest, to map[int32]Offset) {
	for i := range req.Topics {
		t := &req.Topics[i]
		for j := range t.Partitions {
			p := &t.Partitions[j]
			p.Metadata = new(to[m.number(t.Topic, p.Partition)].Metadata)
		}
	}
}

// committed notes what a commit came to; a partition that failed does not undo the others.
func (m *Member) committed(ctx context.Context, resp *kmsg.OffsetCommitResponse, err error, to map[int32]Offset) error {
	if err != nil {
		m.offsets.unanswered(to)
		return err
	}
	var failed error
	for _, topic := range resp.Topics {
		name, err := m.nameOf(ctx, topic.Topic, topic.TopicID)
		if err != nil {
			failed = errors.Join(failed, err)
			continue
		}
		for _, p := range topic.Partitions {
			if err := kerr.ErrorForCode(p.ErrorCode); err != nil {
				failed = errors.Join(failed, fmt.Errorf("partition %d of topic %s: %w", p.Partition, name, err))
				continue
			}
			number := m.number(name, p.Partition)
			m.offsets.commit(number, to[number])
		}
	}
	return failed
}
