// Package share is the engine that uses a share group of Kafka's own (KIP-932). The
// broker lends each record under an acquisition lock and counts its deliveries.
//
// What this package adds is what the protocol leaves to the client. franz-go accepts, at each
// poll, whatever the poll before returned and nobody acknowledged; here records stay open
// for as many polls as it takes (veil.go), so one that is slow, or that nobody answers,
// holds up no other. And the broker archives a record silently once its deliveries reach a
// limit; one that comes near it is copied to the tail of its partition, where its count
// begins anew, or to the dead-letter topic.
//
// Files to know: share.go, group.go, member.go, locks.go, acks.go, settle.go, veil.go.
package share

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"kafkabench.example/kafka-bench/kmq/internal/engine"
	"kafkabench.example/kafka-bench/kmq/internal/lease"
	"kafkabench.example/kafka-bench/kmq/internal/step"
)

// mostEach is how many records a fetch asks for at most.
const mostEach = 500

// Engine is a queue kept by a share group.
type Engine struct {
	cfg    engine.Config
	group  groupFacts
	set    *lease.Set
	member *member
	// copies writes to the tail and to the dead-letter topic.
	copies  *kgo.Client
	copier  *engine.Copier
	givenUp *engine.GivenUp

	ctx    context.Context // ends with Close
	cancel context.CancelFunc
	run    sync.WaitGroup

	mu     sync.Mutex
	ready  []*lease.Lease // fetched and not handed out; all in the set
	closed bool
	failed error         // what ended the member, for good
	some   chan struct{} // there is something in ready, or an end
	unseen unseen

	closing  sync.Once
	closeErr error
	counts   counts
}

// counts are those of engine.Counts that are counted rather than looked up.
type counts struct {
	delivered, acked, nacked, rejected, expired, lost, redelivered, tailed, deadLettered, retried atomic.Int64

	mu       sync.Mutex
	lateness engine.Histogram
}

// New joins the group and begins to fetch. Records come after two
// heartbeats, 5 s apart by default: so long does a share group take to assign partitions.
//
// Errors are of kind lease.ErrConfig, or the cluster's.
func New(ctx context.Context, cfg engine.Config) (engine.Engine, error) {
	// A dead-letter topic may have been created a moment ago: the first who is rejected
	// should not wait until the client asks for the topics again, for 5 s by default.
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
	e.ctx, e.cancel = context.WithCancel(context.WithoutCancel(ctx))
	e.set = lease.NewSet(cfg.MaxInFlight, e.expired)
	if e.member, err = newMember(e, divide(cfg.MaxInFlight, e.group.brokers)); err != nil {
		_ = e.Close(ctx) // the first error is the reason
		return nil, fmt.Errorf("%w: %w", lease.ErrConfig, err)
	}
	e.run.Go(e.member.fetch)
	e.run.Go(e.member.keep)
	return e, nil
}

// shape is how a bound of records in flight is divided: so many are open before the polls
// end, and a fetch brings so many, from one broker after the other as it polls, or from all
// of them at once and ahead of the polls.
type shape struct {
	open, each, sources int
	ahead               bool
}

// poll is how many records a poll takes at most.
func (s shape) poll() int { return s.each * s.sources }

// least is the least room to poll in: for all of a fetch, unless what a poll leaves has its
// place.
func (s shape) least() int {
	if s.ahead {
		return 1
	}
	return s.each
}

// divide gives a shape to a bound.
//
// franz-go fetches from one broker at a time if it fetches for a poll only: right for one
// broker, but with several, records at one would wait while it asks the others. So there
// it fetches ahead, and a third of the bound is kept: for a fetch from each broker that lies
// in the client, and for another that was taken before its locks ran out. A bound without
// room for that is for polls alone.
func divide(bound, brokers int) shape {
	if each := min(mostEach, bound/(6*brokers)); brokers > 1 && each > 0 {
		return shape{open: bound - 2*each*brokers, each: each, sources: brokers, ahead: true}
	}
	return shape{open: bound, each: max(1, min(mostEach, bound/8)), sources: 1}
}

// Receive waits for at least one record, or for ctx.
func (e *Engine) Receive(ctx context.Context, max int) ([]*lease.Lease, error) {
	for {
		taken, err := e.take(max)
		if err != nil {
			return nil, err
		}
		// What was lost while it was ready is left out: it is settled.
		if kept := e.lend(taken); len(kept) > 0 {
			for _, l := range kept {
				l.Private.(*hold).handed.Store(true)
				if l.Attempt > 1 {
					e.counts.redelivered.Add(1)
				}
			}
			e.counts.delivered.Add(int64(len(kept)))
			step.At(step.Handed)
			return kept, nil
		}
		if len(taken) > 0 {
			continue
		}
		select {
		case <-e.some:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// lend begins the time of those that are handed out, and returns those that still can be.
func (e *Engine) lend(taken []*lease.Lease) []*lease.Lease {
	now := time.Now()
	deadline := now.Add(e.cfg.Visibility)
	if e.cfg.Visibility > 0 && e.group.renews {
		return e.set.Lend(taken, deadline)
	}
	kept := taken[:0]
	for _, l := range taken { // each until the end of its own lock
		end := e.member.lockOf(l)
		if e.cfg.Visibility > 0 && deadline.Before(end) {
			end = deadline
		}
		kept = append(kept, e.set.Lend([]*lease.Lease{l}, end)...)
	}
	return kept
}

// overlooked notes that a delivery of a record ended before anybody was handed it.
func (e *Engine) overlooked(at lease.ID) {
	e.mu.Lock()
	e.unseen.note(at)
	e.mu.Unlock()
}

// overlookedOf is how often that was noted of a record.
func (e *Engine) overlookedOf(at lease.ID) int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.unseen.of(at)
}

// forget ends what was noted of a record that is done.
func (e *Engine) forget(at lease.ID) {
	e.mu.Lock()
	e.unseen.forget(at)
	e.mu.Unlock()
}

// take takes at most max from what is ready.
func (e *Engine) take(max int) ([]*lease.Lease, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	switch {
	case e.closed:
		e.tell() // the others that wait
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

// waiting is how many records are ready and not handed out.
func (e *Engine) waiting() int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return len(e.ready)
}

// offer makes leases ready, which are in the set.
func (e *Engine) offer(leases []*lease.Lease) {
	e.mu.Lock()
	e.ready = append(e.ready, leases...)
	e.tell()
	e.mu.Unlock()
}

// tell wakes one who waits in Receive, who wakes the next. It is called under the lock.
func (e *Engine) tell() {
	select {
	case e.some <- struct{}{}:
	default:
	}
}

// fail ends what can't be mended by trying again: Receive returns it from now on.
func (e *Engine) fail(err error) {
	e.mu.Lock()
	if e.failed == nil {
		e.failed = err
		e.cfg.Log.Error("kmq: the member of the group has ended", "error", err)
	}
	e.tell()
	e.mu.Unlock()
}

// Flush sends the acknowledgements that wait and waits for the brokers' answers. It returns an error
// if any was refused, or not answered, since it last did: their records may be delivered again.
func (e *Engine) Flush(ctx context.Context) error {
	return e.member.flush(ctx)
}

// Close releases what was fetched and not settled, flushes, and leaves the group.
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

// Counts are the counters. What is committed is the broker's affair, so CommitBehind is
// not known and 0, and nothing is ever paused.
func (e *Engine) Counts() engine.Counts {
	c := engine.Counts{
		Delivered: e.counts.delivered.Load(), Acked: e.counts.acked.Load(), Nacked: e.counts.nacked.Load(),
		Rejected: e.counts.rejected.Load(), Retried: e.counts.retried.Load(), Expired: e.counts.expired.Load(), Lost: e.counts.lost.Load(),
		Redelivered: e.counts.redelivered.Load(), Tailed: e.counts.tailed.Load(),
		DeadLettered: e.counts.deadLettered.Load(),
		InFlight:     e.set.Len(), OldestUnacked: e.set.Oldest(),
	}
	e.counts.mu.Lock()
	c.Lateness = e.counts.lateness
	e.counts.mu.Unlock()
	return c
}
