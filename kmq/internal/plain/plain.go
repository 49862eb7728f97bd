// Package plain is the engine of an ordinary consumer group, with which the other engines are
// compared. It commits up to the first record that is not acknowledged.
//
// Files to know: plain.go.
package plain

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"kafkabench.example/kafka-bench/kmq/internal/engine"
	"kafkabench.example/kafka-bench/kmq/internal/lease"
	"kafkabench.example/kafka-bench/kmq/internal/member"
	"kafkabench.example/kafka-bench/kmq/internal/retention"
	"kafkabench.example/kafka-bench/kmq/internal/step"
	"kafkabench.example/kafka-bench/kmq/internal/window"
)

// Engine implements [engine.Engine]. It commits the first offset that is not done; the next owner of a revoked
// partition delivers its open records.
type Engine struct {
	cfg    engine.Config
	topics engine.Topics
	set    *lease.Set
	member *member.Member
	copies *engine.Copier
	watch  *retention.Watch

	givenUp *engine.GivenUp

	acked, rejected, lost, deadLettered, missing atomic.Int64

	mu         sync.Mutex
	partitions map[int32]*partition
	rejecting  map[*lease.Lease]chan struct{}
}

type partition struct {
	*window.Window
	begun bool // it has a commit, or a record was taken
}

// New opens the engine.
func New(ctx context.Context, cfg engine.Config) (engine.Engine, error) {
	topics, err := engine.LookUp(ctx, cfg)
	if err != nil {
		return nil, err
	}
	e := &Engine{
		cfg: cfg, topics: topics, givenUp: engine.NewGivenUp(cfg.Log),
		set: lease.NewSet(cfg.MaxInFlight, nil), partitions: make(map[int32]*partition),
		rejecting: make(map[*lease.Lease]chan struct{}),
	}
	e.member, err = member.Open(ctx, member.Config{Config: cfg, Handler: (*handler)(e), Set: e.set})
	if err != nil {
		e.set.Close()
		return nil, err
	}
	e.copies = engine.NewCopier(&e.cfg, e.member.Client())
	e.watch = retention.New(e.member.Client(), cfg.Log, e.needed, cfg.Topic)
	return e, nil
}

// Take implements [engine.Engine].
func (e *Engine) Take(ctx context.Context, max int) ([]*lease.Lease, error) {
	return e.member.Take(ctx, max)
}

// Lend implements [engine.Engine].
func (e *Engine) Lend(ctx context.Context, leases []*lease.Lease, to lease.Holder) ([]*lease.Lease, error) {
	return e.member.Lend(ctx, leases, to)
}

// Return implements [engine.Engine].
func (e *Engine) Return(leases []*lease.Lease) { e.member.Return(leases) }

// ForgetHolder implements [engine.Engine].
func (e *Engine) ForgetHolder(l *lease.Lease) { e.member.ForgetHolder(l) }

// Ack implements [engine.Engine].
func (e *Engine) Ack(ctx context.Context, l *lease.Lease) error {
	if err := e.turn(ctx, l); err != nil {
		return err
	}
	err := e.finish(l, lease.Accepted)
	e.mu.Unlock()
	if err != nil {
		return err
	}
	e.acked.Add(1)
	step.At(step.Acked)
	return nil
}

// turn locks e.mu once no Reject of the lease is running.
func (e *Engine) turn(ctx context.Context, l *lease.Lease) error {
	for {
		e.mu.Lock()
		over := e.rejecting[l]
		if over == nil {
			return nil
		}
		e.mu.Unlock()
		select {
		case <-over:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// The caller of finish holds e.mu.
func (e *Engine) finish(l *lease.Lease, as lease.State) error {
	if err := e.set.Settle(l, as); err != nil {
		return err
	}
	// The partition is present: its loss would have lost the lease.
	e.partitions[l.At.Partition].Done(l.At.Offset)
	return nil
}

// Nack is unsupported.
func (e *Engine) Nack(context.Context, *lease.Lease, time.Duration) error {
	return fmt.Errorf("%w: an ordinary consumer group (engine plain) delivers a record again only to another consumer; choose markers, offsetmap or share to release single records", lease.ErrUnsupported)
}

// Extend is unsupported.
func (e *Engine) Extend(context.Context, *lease.Lease, time.Duration) error {
	return fmt.Errorf("%w: engine plain has no locks to extend; choose markers, offsetmap or share", lease.ErrUnsupported)
}

// Reject leaves the lease open until the copy is durable, so that a failure changes nothing. Other calls that
// settle the lease wait.
func (e *Engine) Reject(ctx context.Context, l *lease.Lease, reason string) error {
	if e.topics.DeadLetterPartitions == 0 {
		return fmt.Errorf("%w: there is no dead-letter topic to reject into; set DeadLetterTopic", lease.ErrUnsupported)
	}
	over, err := e.claim(ctx, l)
	if err != nil {
		return err
	}
	err = e.copy(ctx, l, reason)
	e.mu.Lock()
	defer e.mu.Unlock()
	delete(e.rejecting, l)
	defer close(over)
	if err != nil {
		return err
	}
	if err := e.finish(l, lease.Rejected); err != nil {
		return err
	}
	e.rejected.Add(1)
	return nil
}

func (e *Engine) claim(ctx context.Context, l *lease.Lease) (over chan struct{}, err error) {
	if err := e.turn(ctx, l); err != nil {
		return nil, err
	}
	defer e.mu.Unlock()
	if err := e.set.Check(l); err != nil {
		return nil, err
	}
	over = make(chan struct{})
	e.rejecting[l] = over
	return over, nil
}

func (e *Engine) copy(ctx context.Context, l *lease.Lease, reason string) error {
	dead := l.DeadLetter(l.Attempt, reason, e.cfg.Group, e.cfg.DeadLetterTopic, e.topics.DeadLetterPartitions)
	step.At(step.BeforeCopy)
	if err := e.copies.Bury(ctx, dead); err != nil {
		return fmt.Errorf("kmq: copy to the dead-letter topic %s: %w", e.cfg.DeadLetterTopic, err)
	}
	e.deadLettered.Add(1)
	e.givenUp.Record(l.Origin(), reason)
	step.At(step.Copied)
	return nil
}

// Flush implements [engine.Engine].
func (e *Engine) Flush(ctx context.Context) error {
	return engine.Persist(ctx, e.cfg.Log, "commit", e.member.Commit)
}

// Close implements [engine.Engine].
func (e *Engine) Close(ctx context.Context) error {
	e.watch.Close()
	err := e.member.Close(ctx)
	e.copies.Close()
	e.set.LoseAll(nil)
	e.set.Close()
	return err
}

// Counts implements [engine.Engine].
func (e *Engine) Counts() engine.Counts {
	c := engine.Counts{
		Acked: e.acked.Load(), Rejected: e.rejected.Load(),
		Lost: e.lost.Load(), DeadLettered: e.deadLettered.Load(), Missing: e.missing.Load(),
		RetentionAlarm: e.watch.Alarm(),
	}
	e.member.Counts(&c)
	return c
}

// needed returns each partition's oldest unsettled record, or the next offset to read.
func (e *Engine) needed(context.Context) ([]retention.Need, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	all := make([]retention.Need, 0, len(e.partitions))
	for id, p := range e.partitions {
		n := retention.Need{Topic: e.cfg.Topic, Partition: id}
		n.From = p.Committable()
		if !p.begun { // begins at the start of the log, so earlier deletions do not matter
			n.From = retention.Start
		}
		all = append(all, n)
	}
	return all, nil
}

// handler implements [member.Handler].
type handler Engine

func (h *handler) Assigned(_ context.Context, id int32, committed member.Offset) (int64, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.abandon([]int32{id}) // leases of a session that ended without a revocation
	h.partitions[id] = &partition{Window: window.New(committed.At), begun: committed.At >= 0}
	return committed.At, nil
}

// Deleted also counts records that were acknowledged but not committed.
func (h *handler) Deleted(partition int32, from, to int64) {
	h.missing.Add(to - from)
	h.cfg.Log.Warn("kmq: records were deleted before they were delivered: retention is too short for this queue",
		"partition", partition, "from", from, "to", to)
}

func (h *handler) Begin(_ context.Context, records []*kgo.Record) ([]*lease.Lease, error) {
	leases := lease.FromRecords(records)
	h.mu.Lock()
	defer h.mu.Unlock()
	leases = slices.DeleteFunc(leases, func(l *lease.Lease) bool {
		p := h.partitions[l.At.Partition]
		if p == nil || !p.Take(l.At.Offset) {
			return true
		}
		p.begun = true
		return false
	})
	h.set.AddAll(leases, time.Time{})
	return leases, nil
}

// Passed implements [member.Passer].
func (h *handler) Passed(partition int32, next int64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if p := h.partitions[partition]; p != nil {
		p.Pass(next)
		p.begun = true
	}
}

// Cut implements [member.Cutter].
func (h *handler) Cut(partition int32, offset int64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	p := h.partitions[partition]
	if p == nil {
		return
	}
	h.cfg.Log.Warn("kmq: the log of a partition was truncated or created again; its new records are delivered, "+
		"and the earlier ones from that offset on are lost",
		"partition", partition, "from", offset, "to", p.Next())
	above := func(l *lease.Lease) bool { return l.At.Partition == partition && l.At.Offset >= offset }
	maps.DeleteFunc(h.rejecting, func(l *lease.Lease, _ chan struct{}) bool { return above(l) })
	h.lost.Add(int64(len(h.set.LoseAll(above))))
	p.Cut(offset)
}

func (h *handler) Committable(partitions []int32) map[int32]member.Offset {
	h.mu.Lock()
	defer h.mu.Unlock()
	out := make(map[int32]member.Offset)
	for id, p := range h.partitions {
		if partitions == nil || slices.Contains(partitions, id) {
			out[id] = member.Offset{At: p.Committable()}
		}
	}
	return out
}

// Flush ends the open leases, so that the following commit has every acknowledgement, and waits for running
// Rejects.
func (h *handler) Flush(ctx context.Context, partitions []int32) error {
	h.mu.Lock()
	h.lose(partitions)
	var pending []chan struct{}
	for l, over := range h.rejecting {
		if slices.Contains(partitions, l.At.Partition) {
			pending = append(pending, over)
		}
	}
	h.mu.Unlock()
	for _, over := range pending {
		select {
		case <-over:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

func (h *handler) Forget(partitions []int32) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.abandon(partitions)
	for _, p := range partitions {
		delete(h.partitions, p)
	}
}

// The caller of abandon holds h.mu.
func (h *handler) abandon(partitions []int32) {
	maps.DeleteFunc(h.rejecting, func(l *lease.Lease, _ chan struct{}) bool { return slices.Contains(partitions, l.At.Partition) })
	h.lose(partitions)
}

// lose skips leases that a Reject has claimed; the caller holds h.mu.
func (h *handler) lose(partitions []int32) {
	n := h.set.LoseAll(func(l *lease.Lease) bool {
		return h.rejecting[l] == nil && slices.Contains(partitions, l.At.Partition)
	})
	h.lost.Add(int64(len(n)))
}
