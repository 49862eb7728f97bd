// Package member is a member of an ordinary consumer group that hands out leases. It
// polls within a bound, hands each poll to its engine, keeps what is ready, commits what
// the engine says, and takes partitions away in an order in which nothing is lost.
//
// Files to know: member.go, pump.go, commit.go, offsets.go, epochs.go.
package member

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"

	"kafkabench.example/kafka-bench/kmq/internal/engine"
	"kafkabench.example/kafka-bench/kmq/internal/lease"
	"kafkabench.example/kafka-bench/kmq/internal/step"
)

// Handler is the part of an engine that a member asks. Assigned, Begin, Flush and Forget
// are called one at a time, for partitions of Config.Topic, and Committable beside them;
// what settles leases beside them all needs a lock of the engine's own. The member holds
// none of the locks of its own methods while it calls them, but for Commit and Close.
type Handler interface {
	// Assigned is called before the first record of a partition, with what is
	// committed of it, and says where to read on: an offset, or -1 for the start of the
	// log. Called again without a Forget in between, it begins anew. An error ends the
	// session with the group, and is tried again.
	Assigned(ctx context.Context, partition int32, committed Offset) (from int64, err error)
	// Begin makes leases of a poll, ready to be handed out and added to the Set. The
	// records of a partition are in the order of their offsets. Those it returns no
	// lease for are its own business. It retries what can be retried: an error ends the
	// member, unless it is ctx's.
	Begin(ctx context.Context, records []*kgo.Record) ([]*lease.Lease, error)
	// Committable is up to where partitions may be committed now; nil partitions are
	// all. What it leaves out, or gives an offset below zero, is not committed.
	Committable(partitions []int32) map[int32]Offset
	// Flush makes durable what is settled, of partitions that are about to be taken
	// away: on revocation and in Close, before the last commit.
	Flush(ctx context.Context, partitions []int32) error
	// Forget lets go of partitions that are taken away: the open leases of them are
	// Lost, or live on, as the engine has it. Where the group put the member out, no
	// Flush went before.
	Forget(partitions []int32)
}

// Deleter is a Handler that wants to be told what the log has lost: retention deleted
// records that were not read, and reading goes on behind them. Deleted is called like
// Begin, before the record behind the gap is begun.
type Deleter interface {
	Deleted(partition int32, from, to int64) // offsets, to excluded
}

// Passer is a Handler that commits past offsets without a record. Passed is called like Begin, after the records of a
// poll were begun: the poll ended at next, and no record of the partition below it is still to be begun.
type Passer interface {
	Passed(partition int32, next int64)
}

// Offset is what a group commits for a partition; At is -1 if it committed nothing.
type Offset struct {
	At       int64
	Metadata string
	// Free: the metadata is not worth a commit of its own.
	Free bool
}

// Config says whose member.
type Config struct {
	engine.Config
	Handler Handler
	Set     *lease.Set
	// Topic and Group are what is consumed, and by which group: those of the embedded
	// Config unless they are set.
	Topic, Group string
	// Retries: the member also reads the group's retry topic. Its partitions have numbers below zero: see [lease.Retry].
	Retries bool
	// Lend is how long leases are lent from when they are handed out; 0: the engine
	// sets deadlines.
	Lend time.Duration
	// Opened is told the member before Open returns, and before any call of the Handler.
	Opened func(*Member)
	// Options are further options of the client, which hold over those of the member.
	Options []kgo.Opt
}

// Member is a member of a group. Its methods may be called on any goroutine.
type Member struct {
	cfg     Config
	client  *kgo.Client
	ready   *ready
	offsets *offsets

	turn engine.Turn // one call of the Handler at a time

	leaving  sync.Mutex
	revoking map[int32]bool // partitions of which nothing more is lent

	pausing sync.Mutex // Pause and Resume, and what they say
	paused  map[int32]bool

	delivered, redelivered atomic.Int64

	deletions *engine.Deletions // DeleteRetries' own

	revokeFor time.Duration // bounds the waits, the flush and the commit of a revocation

	running context.Context // ends when the member does
	halt    context.CancelFunc
	work    sync.WaitGroup

	ending sync.Mutex
	end    error         // what ended the member
	ended  chan struct{} // closed with it

	closing sync.Once
	closed  error
}

// Open joins the group and begins to fetch. It does not wait for partitions.
func Open(_ context.Context, cfg Config) (*Member, error) {
	if cfg.Topic == "" {
		cfg.Topic = cfg.Config.Topic
	}
	if cfg.Group == "" {
		cfg.Group = cfg.Config.Group
	}
	m := &Member{
		cfg: cfg, turn: engine.NewTurn(), ready: newReady(cfg.MaxInFlight), offsets: newOffsets(),
		paused: make(map[int32]bool), revoking: make(map[int32]bool), ended: make(chan struct{}),
	}
	m.running, m.halt = context.WithCancel(context.Background())
	opts := cfg.ClientOptions(cfg.ProducerOptions()...)
	topics := []string{cfg.Topic}
	if cfg.Retries {
		topics = append(topics, cfg.RetryTopic)
	}
	opts = append(opts, cfg.GroupOptions(cfg.Group, topics...)...)
	opts = append(opts, cfg.Options...)
	opts = append(opts,
		kgo.OnOffsetsFetched(m.onFetched),
		kgo.AdjustFetchOffsetsFn(m.onAssigned),
		kgo.OnPartitionsRevoked(m.onRevoked),
		kgo.OnPartitionsLost(m.onLost),
	)
	m.turn.Lock() // the client may have partitions before it is known here
	defer m.turn.Unlock()
	client, err := kgo.NewClient(opts...)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", lease.ErrConfig, err)
	}
	m.client, m.deletions = client, engine.NewDeletions(client, cfg.RetryTopic)
	if rebalance, ok := client.OptValue(kgo.RebalanceTimeout).(time.Duration); ok {
		m.revokeFor = rebalance / 2 // the group waits so long for its members
	}
	if cfg.Opened != nil {
		cfg.Opened(m)
	}
	m.work.Go(m.pump)
	m.work.Go(m.commitNowAndThen)
	m.work.Go(m.tellWaiting)
	return m, nil
}

// waitingFor is after how long without a partition that is said.
const waitingFor = 5 * time.Second

// tellWaiting says, once each time, that the member has no partition for a while: somebody
// who restarts after a crash would else look at a silence for a SessionTimeout.
func (m *Member) tellWaiting() {
	look := time.NewTicker(waitingFor)
	defer look.Stop()
	for without := 1; ; { // looks that found none: opening is one
		select {
		case <-look.C:
		case <-m.running.Done():
			return
		}
		if len(m.Owned()) > 0 {
			without = 0
			continue
		}
		if without++; without == 2 {
			m.cfg.Log.Info("kmq: waiting for the group: it has assigned no partition to this member",
				"because", "perhaps it waits until a member that vanished is put out (SessionTimeout), or has more members than partitions, or the brokers are out of reach")
		}
	}
}

// Take waits for at least one lease, or for ctx, and returns at most max. What is ready is returned even if ctx has
// ended. It returns what ended the member, if anything did, and lease.ErrClosed after Close.
func (m *Member) Take(ctx context.Context, max int) ([]*lease.Lease, error) {
	for {
		if leases := slices.DeleteFunc(m.ready.take(max), ended); len(leases) > 0 {
			return leases, nil
		}
		if m.ready.any() {
			continue
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		m.cfg.Set.Hurry()
		select {
		case <-m.ready.some:
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-m.ended:
			return nil, m.why()
		}
	}
}

// Lend begins the time of taken leases, and drops those that have ended or whose partition is being revoked.
func (m *Member) Lend(_ context.Context, leases []*lease.Lease, to lease.Holder) ([]*lease.Lease, error) {
	var deadline time.Time
	if m.cfg.Lend > 0 {
		deadline = time.Now().Add(m.cfg.Lend)
	}
	m.leaving.Lock() // a revocation that begins now waits for these
	leases = m.cfg.Set.LendTo(m.notRevoked(leases), deadline, to)
	m.leaving.Unlock()
	again := 0
	for _, l := range leases {
		if l.Attempt > 1 {
			again++
		}
	}
	m.delivered.Add(int64(len(leases)))
	m.redelivered.Add(int64(again))
	if len(leases) > 0 {
		step.At(step.Handed)
	}
	return leases, nil
}

// Return puts leases that were taken and that nobody will settle before all others that are ready.
func (m *Member) Return(leases []*lease.Lease) {
	for _, l := range leases {
		m.cfg.Set.ForgetHolder(l)
	}
	m.ready.push(slices.DeleteFunc(leases, ended))
}

// ForgetHolder forgets who works on a record.
func (m *Member) ForgetHolder(l *lease.Lease) { m.cfg.Set.ForgetHolder(l) }

// Kept returns the leases of partitions that are not being revoked, in the same slice.
func (m *Member) Kept(leases []*lease.Lease) []*lease.Lease {
	m.leaving.Lock()
	defer m.leaving.Unlock()
	return m.notRevoked(leases)
}

// The caller of notRevoked holds m.leaving.
func (m *Member) notRevoked(leases []*lease.Lease) []*lease.Lease {
	if len(m.revoking) == 0 {
		return leases
	}
	return slices.DeleteFunc(leases, func(l *lease.Lease) bool { return m.revoking[l.At.Partition] })
}

// Push puts leases, which are in the Set, before all others that are ready.
func (m *Member) Push(leases ...*lease.Lease) { m.ready.push(leases) }

// Append puts leases, which are in the Set, behind all others that are ready.
func (m *Member) Append(leases ...*lease.Lease) { m.ready.append(leases) }

// Pause stops fetching a partition, until Resume or until it is assigned anew. Records of
// it that were polled before are still handed to Begin.
func (m *Member) Pause(partition int32) {
	m.pausing.Lock()
	defer m.pausing.Unlock()
	m.paused[partition] = true
	m.client.PauseFetchPartitions(m.forClient(partition))
}

// Resume fetches a partition again.
func (m *Member) Resume(partition int32) {
	m.pausing.Lock()
	defer m.pausing.Unlock()
	if m.paused[partition] {
		delete(m.paused, partition)
		m.client.ResumeFetchPartitions(m.forClient(partition))
	}
}

// Client is the member's client, which also produces: see engine.Config.ProducerOptions.
func (m *Member) Client() *kgo.Client { return m.client }

// Owned are the partitions that the member has now, in rising order.
func (m *Member) Owned() []int32 { return m.offsets.partitions() }

// Counts fills in what the member knows: Delivered, Redelivered, InFlight, OldestUnacked,
// Paused and CommitBehind.
func (m *Member) Counts(c *engine.Counts) {
	c.Delivered, c.Redelivered = m.delivered.Load(), m.redelivered.Load()
	c.InFlight, c.OldestUnacked = m.cfg.Set.Len(), m.cfg.Set.Oldest()
	c.CommitBehind = m.offsets.behind()
	m.pausing.Lock()
	defer m.pausing.Unlock()
	c.Paused = sorted(m.paused)
}

// Close stops fetching, flushes and commits, and leaves the group. ctx bounds that;
// nothing runs any more when it returns. The open leases are forgotten as on revocation.
func (m *Member) Close(ctx context.Context) error {
	m.closing.Do(func() {
		m.finish(lease.ErrClosed)
		m.work.Wait()
		m.interruptHandlers(ctx, m.Owned())
		m.turn.Lock()
		if owned := m.Owned(); len(owned) > 0 {
			m.closed = m.letGo(ctx, owned)
		}
		m.turn.Unlock()
		m.client.AllowRebalance()
		if err := m.client.LeaveGroupContext(ctx); err != nil {
			m.closed = errors.Join(m.closed, fmt.Errorf("kmq: leave group %s: %w", m.cfg.Group, err))
		}
		m.client.CloseAllowingRebalance()
		m.client.AllowRebalance() // closing polls once more, which may hold up a leaving for ever
	})
	return m.closed
}

// Fail ends the member with an error that no waiting mends: Receive returns it.
func (m *Member) Fail(err error) { m.finish(err) }

// finish ends the member: nothing is fetched any more, and Receive says why.
func (m *Member) finish(why error) {
	m.ending.Lock()
	defer m.ending.Unlock()
	if errors.Is(why, kerr.InvalidSessionTimeout) {
		why = engine.RefusedSessionTimeout(why)
	}
	if m.end == nil {
		m.end = why
		close(m.ended)
		m.halt()
		if !errors.Is(why, lease.ErrClosed) {
			m.cfg.Log.Error("kmq: the member of the group has ended", "error", why)
		}
	}
}

// why is what ended the member.
func (m *Member) why() error {
	m.ending.Lock()
	defer m.ending.Unlock()
	return m.end
}
