// Package share is the engine that uses one of Kafka's own share groups (KIP-932). The broker locks
// each delivered record and counts its deliveries.
//
// This package adds what the protocol leaves to the client. Records stay open across polls,
// although franz-go accepts them at the next poll (hiddenlock.go, ADR 0012). And the broker silently
// archives a record whose deliveries reach a limit. Before that, the record moves to the group's
// retry topic, which the same share group reads, or becomes a dead letter (copies.go, ADR 0012).
//
// Files to know: share.go, group.go, member.go, locks.go, acks.go, settle.go, copies.go, hiddenlock.go.
package share

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"kafkabench.example/kafka-bench/kmq/internal/engine"
	"kafkabench.example/kafka-bench/kmq/internal/lease"
	"kafkabench.example/kafka-bench/kmq/internal/step"
)

// Engine implements [engine.Engine] with a share group.
type Engine struct {
	cfg     engine.Config
	group   groupFacts
	set     *lease.Set
	member  *member
	copies  *kgo.Client
	copier  *engine.Copier
	givenUp *engine.GivenUp
	deletes *engine.Deletions

	ctx    context.Context
	cancel context.CancelFunc
	run    sync.WaitGroup

	mu     sync.Mutex
	ready  []*lease.Lease // in the set, but not delivered
	closed bool
	failed error
	some   chan struct{}

	closing  sync.Once
	closeErr error
	counts   counts
}

type counts struct {
	delivered, acked, nacked, rejected, expired, lost, redelivered, moved, deadLettered, retried atomic.Int64

	mu       sync.Mutex
	lateness engine.Histogram
}

// New joins the group and begins to fetch. The first records come after two heartbeats, 10 s by default. The error is
// a lease.ErrConfig or the cluster's.
func New(ctx context.Context, cfg engine.Config) (engine.Engine, error) {
	// Otherwise a first copy could wait 5 s for the metadata of a new topic.
	copies, err := kgo.NewClient(cfg.ClientOptions(append(cfg.ProducerOptions(), kgo.MetadataMinAge(100*time.Millisecond))...)...)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", lease.ErrConfig, err)
	}
	e := &Engine{cfg: cfg, copies: copies, givenUp: engine.NewGivenUp(cfg.Log), some: make(chan struct{}, 1)}
	if e.group, err = prepareGroup(ctx, copies, cfg); err != nil {
		copies.Close()
		return nil, err
	}
	e.copier, e.deletes = engine.NewCopier(&e.cfg, copies), engine.NewDeletions(copies, cfg.RetryTopic)
	if e.member, err = newMember(e); err != nil {
		copies.Close()
		return nil, fmt.Errorf("%w: %w", lease.ErrConfig, err)
	}
	e.ctx, e.cancel = context.WithCancel(context.WithoutCancel(ctx))
	e.set = lease.NewSet(cfg.MaxInFlight, e.expired)
	e.run.Go(e.member.fetch)
	e.run.Go(e.member.keep)
	e.run.Go(func() { engine.Every(e.ctx, deleteEvery, cfg.Log, "delete settled retries", e.deleteRetries) })
	return e, nil
}

// Take takes what the poller holds: see engine.Engine. The brokers lock and count a record when they send it.
func (e *Engine) Take(ctx context.Context, max int) ([]*lease.Lease, error) {
	for {
		taken, err := e.take(max)
		if err != nil || len(taken) > 0 {
			return taken, err
		}
		select {
		case <-e.some:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// Lend begins the deadlines here: see engine.Engine.
func (e *Engine) Lend(_ context.Context, leases []*lease.Lease, to lease.Holder) ([]*lease.Lease, error) {
	kept := e.set.LendTo(leases, time.Now().Add(cmp.Or(e.cfg.Visibility, e.member.lockDuration())), to)
	for _, l := range kept {
		if l.Attempt > 1 {
			e.counts.redelivered.Add(1)
		}
	}
	if len(kept) > 0 {
		e.counts.delivered.Add(int64(len(kept)))
		step.At(step.Handed)
	}
	return kept, nil
}

// Return puts records before all others that are ready: see engine.Engine.
func (e *Engine) Return(leases []*lease.Lease) {
	for _, l := range leases {
		e.set.ForgetHolder(l)
	}
	e.mu.Lock()
	e.ready = slices.Concat(leases, e.ready)
	e.mu.Unlock()
	wake(e.some)
}

// ForgetHolder implements [engine.Engine].
func (e *Engine) ForgetHolder(l *lease.Lease) { e.set.ForgetHolder(l) }

func (e *Engine) take(max int) ([]*lease.Lease, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	switch {
	case e.closed:
		wake(e.some)
		return nil, lease.ErrClosed
	case e.failed != nil:
		wake(e.some)
		return nil, e.failed
	}
	n := min(max, len(e.ready))
	taken := append([]*lease.Lease(nil), e.ready[:n]...)
	clear(e.ready[:n])
	e.ready = e.ready[n:]
	if n > 0 {
		wake(e.member.taken)
	}
	if len(e.ready) > 0 {
		wake(e.some)
	}
	return taken, nil
}

func (e *Engine) waiting() int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return len(e.ready)
}

func (e *Engine) offer(leases []*lease.Lease) {
	e.mu.Lock()
	e.ready = append(e.ready, leases...)
	wake(e.some)
	e.mu.Unlock()
}

func (e *Engine) fail(err error) {
	e.mu.Lock()
	if e.failed == nil {
		e.failed = err
		e.cfg.Log.Error("kmq: the member of the group has ended", "error", err)
	}
	wake(e.some)
	e.mu.Unlock()
}

// Flush sends waiting acknowledgements and waits for the brokers' answers. It returns an error if any was refused or
// not answered since the last error.
func (e *Engine) Flush(ctx context.Context) error {
	return e.member.flush(ctx)
}

// Close releases what is not settled, flushes, and leaves the group.
func (e *Engine) Close(ctx context.Context) error {
	e.closing.Do(func() { e.closeErr = e.close(ctx) })
	return e.closeErr
}

func (e *Engine) close(ctx context.Context) error {
	e.mu.Lock()
	e.closed, e.ready = true, nil
	wake(e.some)
	e.mu.Unlock()

	e.cancel()
	e.run.Wait()
	e.set.Close()
	e.set.LoseAll(nil)
	err := e.member.close(ctx)
	e.copier.Close()
	e.copies.Close()
	return err
}

// Counts returns the counters. No partition is ever paused, and CommitBehind is 0.
func (e *Engine) Counts() engine.Counts {
	c := engine.Counts{
		Delivered: e.counts.delivered.Load(), Acked: e.counts.acked.Load(), Nacked: e.counts.nacked.Load(),
		Rejected: e.counts.rejected.Load(), Retried: e.counts.retried.Load(), Expired: e.counts.expired.Load(), Lost: e.counts.lost.Load(),
		Redelivered: e.counts.redelivered.Load(), Tailed: e.counts.moved.Load(), DeadLettered: e.counts.deadLettered.Load(),
		InFlight: e.set.Len(), OldestUnacked: e.set.Oldest(),
	}
	e.counts.mu.Lock()
	c.Lateness = e.counts.lateness
	e.counts.mu.Unlock()
	return c
}
