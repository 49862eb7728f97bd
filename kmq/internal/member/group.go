package member

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"kafkabench.example/kafka-bench/kmq/internal/lease"
	"kafkabench.example/kafka-bench/kmq/internal/step"
)

// onFetched notes what is committed: the client has no other place that tells the
// metadata. onAssigned, which needs it, follows.
func (m *Member) onFetched(ctx context.Context, _ *kgo.Client, resp *kmsg.OffsetFetchResponse) error {
	m.turn.Lock()
	defer m.turn.Unlock()
	m.offsets.fetched, m.offsets.leaders = make(map[int32]Offset), make(map[int32]int32)
	for _, group := range resp.Groups {
		for _, topic := range group.Topics {
			name, err := m.nameOf(ctx, topic.Topic, topic.TopicID)
			if err != nil {
				return err
			}
			for _, p := range topic.Partitions {
				committed := Offset{At: max(p.Offset, -1)}
				if p.Offset >= 0 && p.Metadata != nil {
					committed.Metadata = *p.Metadata
				}
				number := m.number(name, p.Partition)
				m.offsets.fetched[number], m.offsets.leaders[number] = committed, p.LeaderEpoch
			}
		}
	}
	return nil
}

// onAssigned begins partitions, before anything is fetched of them.
func (m *Member) onAssigned(ctx context.Context, at map[string]map[int32]kgo.Offset) (map[string]map[int32]kgo.Offset, error) {
	m.turn.Lock()
	defer m.turn.Unlock()
	partitions := make(map[int32]kgo.Offset)
	for topic, of := range at {
		for p, offset := range of {
			partitions[m.number(topic, p)] = offset
		}
	}
	var begins []int32 // read from the start of their log
	for p := range partitions {
		committed, ok := m.offsets.fetched[p]
		if !ok {
			committed.At = -1
		}
		from, err := m.cfg.Handler.Assigned(ctx, p, committed)
		if err != nil {
			return nil, fmt.Errorf("kmq: begin partition %d of topic %s: %w", lease.NumberInTopic(p), m.topicOf(p), err)
		}
		m.offsets.assign(p, committed, from)
		m.Resume(p)
		if from >= 0 {
			partitions[p] = kgo.NewOffset().At(from)
			continue
		}
		partitions[p] = kgo.NewOffset().AtStart()
		begins = append(begins, p)
	}
	m.begins(ctx, begins, partitions)
	if err := m.checkAssigned(ctx, partitions); err != nil {
		return nil, err
	}
	if len(partitions) > 0 {
		m.cfg.Log.Info("kmq: partitions assigned", logged(sorted(partitions))...)
	}
	return byTopic(m, partitions), nil
}

// startFor bounds how long is asked for where logs begin.
const startFor = time.Second

// begins fills in where the logs of partitions begin. The client would find it out by
// itself, and fetch the other partitions meanwhile: where these have nothing, that fetch
// waits at the broker, and all records of the former wait for it.
func (m *Member) begins(ctx context.Context, of []int32, at map[int32]kgo.Offset) {
	if len(of) == 0 || len(of) == len(at) {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, startFor)
	defer cancel()
	topics := []string{m.cfg.Topic}
	if m.cfg.Retries {
		topics = append(topics, m.cfg.RetryTopic)
	}
	starts, err := kadm.NewClient(m.client).ListStartOffsets(ctx, topics...)
	if err != nil {
		m.cfg.Log.Info("kmq: where the logs of partitions begin is left to the client", "error", err)
		return
	}
	for _, p := range of {
		if start, ok := starts.Lookup(m.topicOf(p), lease.NumberInTopic(p)); ok && start.Err == nil {
			at[p] = kgo.NewOffset().At(start.Offset)
		}
	}
}

// onRevoked takes partitions away; the client waits for it before it polls again, and the
// group before it gives them to another member.
func (m *Member) onRevoked(ctx context.Context, _ *kgo.Client, revoked map[string][]int32) {
	ctx, cancel := context.WithTimeout(ctx, m.revokeFor)
	defer cancel()
	partitions := m.of(revoked)
	if len(partitions) == 0 {
		return
	}
	m.cfg.Log.Info("kmq: partitions revoked", logged(partitions)...)
	m.awaitHandlers(ctx, partitions)
	m.turn.Lock()
	defer m.turn.Unlock()
	if err := m.letGo(ctx, partitions); err != nil {
		m.cfg.Log.Warn("kmq: what was settled last of revoked partitions may be delivered again", append(logged(partitions), "error", err)...)
	}
}

// onLost takes partitions away that may belong to others already: nothing can be committed.
func (m *Member) onLost(_ context.Context, _ *kgo.Client, lost map[string][]int32) {
	m.turn.Lock()
	defer m.turn.Unlock()
	if partitions := m.of(lost); len(partitions) > 0 {
		m.cfg.Log.Warn("kmq: partitions lost: the group has put this member out", logged(partitions)...)
		m.forget(partitions)
	}
}

// handlersFor is how long a revocation waits for running handlers, but at most a third of its time, and interruptedFor how
// long for interrupted ones.
const (
	handlersFor    = 10 * time.Second
	interruptedFor = time.Second
)

// awaitHandlers lends nothing more of partitions, and waits until no handler works on a record of them: so the next owner
// begins no record before this one has ended the one before it. Handlers that take too long are interrupted.
func (m *Member) awaitHandlers(ctx context.Context, partitions []int32) {
	m.leaving.Lock()
	for _, p := range partitions {
		m.revoking[p] = true
	}
	m.leaving.Unlock()
	waits := min(handlersFor, m.revokeFor/3)
	waiting, cancel := context.WithTimeout(ctx, waits)
	err := m.cfg.Set.WaitUnheld(waiting, partitions)
	cancel()
	if err == nil {
		return
	}
	m.cfg.Log.Warn("kmq: handlers of revoked partitions are interrupted", append(logged(partitions), "after", waits)...)
	m.interruptHandlers(ctx, partitions)
}

// interruptHandlers ends the contexts of handlers and waits a moment for them.
func (m *Member) interruptHandlers(ctx context.Context, partitions []int32) {
	m.cfg.Set.Interrupt(partitions)
	waiting, cancel := context.WithTimeout(ctx, interruptedFor)
	defer cancel()
	if m.cfg.Set.WaitUnheld(waiting, partitions) != nil {
		m.cfg.Log.Warn("kmq: handlers ignore that their contexts have ended; another member may handle their records at the same time", logged(partitions)...)
	}
}

// of are the partitions of the topic that are owned.
func (m *Member) of(taken map[string][]int32) []int32 {
	owned := m.Owned()
	return slices.DeleteFunc(m.numbers(taken), func(p int32) bool { return !slices.Contains(owned, p) })
}

// letGo flushes, commits and forgets partitions, in this order: what is committed last is
// all that is known to be done. It is called in turn.
func (m *Member) letGo(ctx context.Context, partitions []int32) error {
	step.At(step.Revoking)
	err := m.cfg.Handler.Flush(ctx, partitions)
	if err == nil {
		step.At(step.Flushed)
	}
	// What is committable is right whether all of it was flushed or not.
	commitErr := m.commit(ctx, partitions)
	m.forget(partitions)
	if err != nil {
		return err
	}
	return commitErr
}

func (m *Member) forget(partitions []int32) {
	m.cfg.Handler.Forget(partitions)
	m.offsets.forget(partitions)
	m.leaving.Lock()
	for _, p := range partitions {
		delete(m.revoking, p)
	}
	m.leaving.Unlock()
	for _, p := range partitions {
		m.Resume(p)
	}
}
