// Package share is the engine that uses one of Kafka's own share groups (KIP-932). The broker locks
// each delivered record and counts its deliveries.
//
// This package adds what the protocol leaves to the client. Records stay open across polls,
// although franz-go accepts them at the next poll (veil.go, ADR 0030). And the broker silently
// archives a record whose deliveries reach a limit. Before that, the record becomes a dead letter.
//
// Files to know: share.go, group.go, member.go, locks.go, acks.go, settle.go, veil.go.
package share

import (
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

const mostEach = 500

// Engine implements [engine.Engine] with a share group.
type Engine struct {
	cfg     engine.Config
	group   groupFacts
	set     *lease.Set
	member  *member
	copies  *kgo.Client
	copier  *engine.Copier
	givenUp *engine.GivenUp

	ctx    context.Context
	cancel context.CancelFunc
	run    sync.WaitGroup

	mu     sync.Mutex
	ready  []*lease.Lease // in the set, but not delivered
	closed bool
	failed error
	some   chan struct{}
	unseen unseen

	closing  sync.Once
	closeErr error
	counts   counts
}

type counts struct {
	delivered, acked, nacked, rejected, expired, lost, redelivered, deadLettered, retried atomic.Int64

	mu       sync.Mutex
	lateness engine.Histogram
}

// New joins the group and begins to fetch. The first records come after two heartbeats, 10 s by default. The error is
// a lease.ErrConfig or the cluster's.
func New(ctx context.Context, cfg engine.Config) (engine.Engine, error) {
	// Otherwise a first Reject could wait 5 s for the metadata of a new dead-letter topic.
	copies, err := kgo.NewClient(cfg.ClientOptions(append(cfg.ProducerOptions(), kgo.MetadataMinAge(100*time.Millisecond))...)...)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", lease.ErrConfig, err)
	}
	e := &Engine{cfg: cfg, copies: copies, givenUp: engine.NewGivenUp(cfg.Log), some: make(chan struct{}, 1)}
	e.copier = engine.NewCopier(&e.cfg, copies)
	if e.group, err = prepareGroup(ctx, copies, cfg); err != nil {
		copies.Close()
		return nil, err
	}
	if most := e.group.limit - 1; cfg.MaxDeliveries == 0 || cfg.MaxDeliveries > most {
		cfg.Log.Info("kmq: the brokers allow fewer deliveries than MaxDeliveries: a record becomes a dead letter after them",
			"deliveries", most, "setting", "group.share.max.delivery.count.limit")
	}
	e.ctx, e.cancel = context.WithCancel(context.WithoutCancel(ctx))
	e.set = lease.NewSet(cfg.MaxInFlight, e.expired)
	if e.member, err = newMember(e, divide(cfg.MaxInFlight, e.group.brokers)); err != nil {
		_ = e.Close(ctx)
		return nil, fmt.Errorf("%w: %w", lease.ErrConfig, err)
	}
	e.run.Go(e.member.fetch)
	e.run.Go(e.member.keep)
	return e, nil
}

// shape divides a bound of records in flight: open is the number of open records at which polls
// stop, each is the most records of a fetch, and sources is the number of brokers that the client
// fetches from at once. With ahead, these are all brokers, and the client fetches before a poll.
type shape struct {
	open, each, sources int
	ahead               bool
}

func (s shape) poll() int { return s.each * s.sources }

// A poll needs room for a whole fetch, unless the client keeps the rest.
func (s shape) least() int {
	if s.ahead {
		return 1
	}
	return s.each
}

// Without fetching ahead, franz-go asks one broker at a time, so with several brokers records would
// wait. Then divide sets ahead and reserves up to a third of the bound, two fetches for each broker:
// one waits in the client, and one was taken from there before its locks expired.
func divide(bound, brokers int) shape {
	if each := min(mostEach, bound/(6*brokers)); brokers > 1 && each > 0 {
		return shape{open: bound - 2*each*brokers, each: each, sources: brokers, ahead: true}
	}
	return shape{open: bound, each: max(1, min(mostEach, bound/8)), sources: 1}
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
	kept := e.lend(leases, to)
	for _, l := range kept {
		l.Private.(*hold).handed.Store(true)
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
	defer e.mu.Unlock()
	e.ready = slices.Concat(leases, e.ready)
	e.tell()
}

// ForgetHolder implements [engine.Engine].
func (e *Engine) ForgetHolder(l *lease.Lease) { e.set.ForgetHolder(l) }

func (e *Engine) lend(taken []*lease.Lease, to lease.Holder) []*lease.Lease {
	now := time.Now()
	deadline := now.Add(e.cfg.Visibility)
	if e.cfg.Visibility > 0 && e.group.renews {
		return e.set.LendTo(taken, deadline, to)
	}
	kept := taken[:0]
	for _, l := range taken { // each until the end of its own lock
		end := e.member.lockOf(l)
		if e.cfg.Visibility > 0 && deadline.Before(end) {
			end = deadline
		}
		kept = append(kept, e.set.LendTo([]*lease.Lease{l}, end, to)...)
	}
	return kept
}

func (e *Engine) overlooked(at lease.ID) {
	e.mu.Lock()
	e.unseen.note(at)
	e.mu.Unlock()
}

func (e *Engine) overlookedOf(at lease.ID) int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.unseen.of(at)
}

func (e *Engine) forget(at lease.ID) {
	e.mu.Lock()
	e.unseen.forget(at)
	e.mu.Unlock()
}

func (e *Engine) take(max int) ([]*lease.Lease, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	switch {
	case e.closed:
		e.tell()
		return nil, lease.ErrClosed
	case e.failed != nil:
		e.tell()
		return nil, e.failed
	}
	n := min(max, len(e.ready))
	taken := append([]*lease.Lease(nil), e.ready[:n]...)
	clear(e.ready[:n])
	e.ready = e.ready[n:]
	if n > 0 {
		wake(e.member.room)
	}
	if len(e.ready) > 0 {
		e.tell()
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
	e.tell()
	e.mu.Unlock()
}

// tell requires e.mu.
func (e *Engine) tell() {
	select {
	case e.some <- struct{}{}:
	default:
	}
}

func (e *Engine) fail(err error) {
	e.mu.Lock()
	if e.failed == nil {
		e.failed = err
		e.cfg.Log.Error("kmq: the member of the group has ended", "error", err)
	}
	e.tell()
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
	e.tell()
	e.mu.Unlock()

	e.cancel()
	e.run.Wait()
	e.set.Close()
	e.set.LoseAll(nil)
	var err error
	if e.member != nil {
		err = e.member.close(ctx)
	}
	e.copier.Close()
	e.copies.Close()
	return err
}

// Counts returns the counters. No partition is ever paused, and CommitBehind is 0.
func (e *Engine) Counts() engine.Counts {
	c := engine.Counts{
		Delivered: e.counts.delivered.Load(), Acked: e.counts.acked.Load(), Nacked: e.counts.nacked.Load(),
		Rejected: e.counts.rejected.Load(), Retried: e.counts.retried.Load(), Expired: e.counts.expired.Load(), Lost: e.counts.lost.Load(),
		Redelivered: e.counts.redelivered.Load(), DeadLettered: e.counts.deadLettered.Load(),
		InFlight: e.set.Len(), OldestUnacked: e.set.Oldest(),
	}
	e.counts.mu.Lock()
	c.Lateness = e.counts.lateness
	e.counts.mu.Unlock()
	return c
}
