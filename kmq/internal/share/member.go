package share

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"kafka-bench/kmq/internal/engine"
	"kafka-bench/kmq/internal/lease"
	"kafka-bench/kmq/internal/step"
)

const (
	// How long an acknowledgement waits for others before a request of its own. While there
	// is something to fetch it rides on the next fetch instead.
	acceptLinger  = 100 * time.Millisecond
	releaseLinger = 5 * time.Millisecond // somebody waits for the record

	// fetchWait is how long a fetch waits at a broker that has nothing. While one waits,
	// nothing else can be sent to that broker.
	fetchWait = 100 * time.Millisecond

	// complaints is how often the same trouble is logged.
	complaints = time.Minute
	// answerWithin is how long a broker may take to answer an acknowledgement.
	answerWithin = 10 * time.Second
)

// member is the queue's member of the share group. It fetches as long as there is room and
// the application takes what comes, whatever else is open.
type member struct {
	e      *Engine
	client *kgo.Client
	of     shape

	room  chan struct{} // there may be room for a poll again
	nudge chan struct{} // flushAt has come nearer

	mu      sync.Mutex
	held    []*lease.Lease // open, each at its hold.place
	lockFor time.Duration  // how long the broker lends
	flushAt time.Time      // when waiting acknowledgements are sent; zero: none wait
	refused map[int32]refusal
	told    time.Time // when trouble was last logged
}

// refusal is what a broker refused of a partition.
type refusal struct {
	times int
	last  error
}

// hold is what the member knows of a lease.
type hold struct {
	record *kgo.Record // as it was fetched, by which it is acknowledged
	handed atomic.Bool // to the application: until then its lock is renewed, and it has no deadline
	kept   bool        // not the application's any more: a delay, or a copy being written

	// Under member.mu.
	place int
	lock  time.Time // until when the broker lends it, with a margin
}

func newMember(e *Engine, of shape) (*member, error) {
	m := &member{
		e: e, of: of,
		room: make(chan struct{}, 1), nudge: make(chan struct{}, 1),
		refused: make(map[int32]refusal),
	}
	fetches := 0 // for a poll only
	if of.ahead {
		fetches = of.sources
	}
	client, err := kgo.NewClient(e.cfg.ClientOptions(
		kgo.ShareGroup(e.cfg.Group),
		kgo.ConsumeTopics(e.cfg.Topic),
		kgo.ShareMaxRecords(int32(of.each)),
		kgo.ShareMaxRecordsStrict(),
		kgo.MaxConcurrentFetches(fetches),
		kgo.FetchMaxWait(fetchWait),
		kgo.ShareAckCallback(m.answered),
		kgo.WithHooks(veiling{}),
		// A broker ends a member's locks with its connection, so one that is idle while
		// records are worked on must stay. Brokers close it after 10 min themselves.
		kgo.ConnIdleTimeout(10*time.Minute),
	)...)
	if err != nil {
		return nil, err
	}
	m.client = client
	return m, nil
}

// fetch polls whenever there is room, until the engine is closed or can't go on.
func (m *member) fetch() {
	ctx := m.e.ctx
	for {
		n := m.waitForRoom(ctx)
		if n == 0 {
			return
		}
		// The veil leaves nothing for this to find. If it did, in another version of
		// franz-go, a release would cost a delivery, and the poll's acceptance the record.
		m.client.MarkAcks(kgo.AckRelease)
		fetches := m.client.PollRecords(ctx, n)
		records := fetches.Records()
		unveil(records)
		if ctx.Err() != nil {
			for _, r := range records {
				r.Ack(kgo.AckRelease)
			}
			return
		}
		if err := fetches.Err(); err != nil && len(records) == 0 {
			if !m.troubled(ctx, err) {
				return
			}
			continue
		}
		if len(records) == 0 {
			continue
		}
		step.At(step.Polled)
		m.begin(records)
	}
}

// waitForRoom returns how many records may be polled: when there is room for them, and the
// application has taken most of what was polled before. What it has no time for is better
// lent to somebody else. 0: the engine is closed.
func (m *member) waitForRoom(ctx context.Context) int {
	for {
		m.mu.Lock()
		room := m.of.open - len(m.held)
		m.mu.Unlock()
		if room > 0 && m.e.waiting() < m.of.poll() {
			return min(room, m.of.poll())
		}
		select {
		case <-m.room:
		case <-ctx.Done():
			return 0
		}
	}
}

// troubled says whether it is worth trying again, and waits before that.
func (m *member) troubled(ctx context.Context, err error) bool {
	if errors.Is(err, kgo.ErrClientClosed) {
		return false
	}
	if engine.Fatal(err) {
		m.e.fail(fmt.Errorf("kmq: share group %s on topic %s: %w", m.e.cfg.Group, m.e.cfg.Topic, err))
		return false
	}
	m.complain("kmq: records can't be fetched; trying again", err)
	select {
	case <-time.After(200 * time.Millisecond):
		return true
	case <-ctx.Done():
		return false
	}
}

// complain logs trouble, once in a while.
func (m *member) complain(what string, err error) {
	m.mu.Lock()
	again := time.Since(m.told) >= complaints
	if again {
		m.told = time.Now()
	}
	m.mu.Unlock()
	if again {
		m.e.cfg.Log.Warn(what, "error", err)
	}
}

// begin makes leases of a poll: ready, or to be copied instead.
func (m *member) begin(records []*kgo.Record) {
	e, now := m.e, time.Now()
	fresh := m.stillLent(now, records)
	if len(fresh) == 0 {
		return
	}
	// The application gets records of its own: whatever it does to them, the member can
	// acknowledge what it fetched.
	own := make([]kgo.Record, len(fresh))
	theirs := make([]*kgo.Record, len(fresh))
	for i, f := range fresh {
		own[i], theirs[i] = *f.record, &own[i]
	}
	leases, holds := lease.FromRecords(theirs), make([]hold, len(fresh))
	var ready []*lease.Lease
	var instead []*copied
	shortest, longest := fresh[0].left, time.Duration(0)
	for i, le := range leases {
		left, count := fresh[i].left, int(fresh[i].record.DeliveryCount())
		shortest, longest = min(shortest, left), max(longest, left)
		before := max(0, count-1-e.overlookedOf(le.At)) // deliveries from this place
		le.Attempt += before
		h := &holds[i]
		h.record, h.lock = fresh[i].record, now.Add(left-marginOf(left))
		le.Private = h
		if c := e.instead(le, count, before); c != nil {
			h.kept = true
			instead = append(instead, c)
			continue
		}
		ready = append(ready, le)
	}
	m.mu.Lock()
	for i, le := range leases {
		holds[i].place = len(m.held)
		m.held = append(m.held, le)
	}
	m.lockFor = max(m.lockFor, longest) // what was fetched just now has all of it left
	if shortest < m.lockFor/2 {
		wake(m.nudge) // to be renewed
	}
	m.mu.Unlock()

	if len(ready) > 0 {
		e.wait(ready, now.Add(shortest-marginOf(shortest)))
	}
	if len(instead) > 0 {
		e.run.Go(func() { e.move(instead) }) // which may take as long as the cluster likes
	}
}

// fetched is a record, and for how long it is lent yet.
type fetched struct {
	record *kgo.Record
	left   time.Duration
}

// leastLeft is for how long a record must be lent yet to be handed out: time to renew, or
// to work and answer.
func leastLeft(lockFor time.Duration) time.Duration { return max(500*time.Millisecond, lockFor/4) }

// stillLent are the records whose lock is good for a while. The others were fetched ahead
// and lay in the client while there was no room for them: the broker lends them to somebody
// else, or is about to. They are released; by themselves, because a broker that refuses that
// refuses all that comes with it.
func (m *member) stillLent(now time.Time, records []*kgo.Record) []fetched {
	fresh := make([]fetched, 0, len(records))
	var stale []*kgo.Record
	m.mu.Lock()
	least := leastLeft(m.lockFor)
	m.mu.Unlock()
	for _, r := range records {
		if left := r.AcquisitionDeadline().Sub(now); left >= least {
			fresh = append(fresh, fetched{record: r, left: left})
		} else {
			stale = append(stale, r)
		}
	}
	if len(stale) > 0 {
		for _, r := range stale {
			m.e.overlooked(lease.ID{Partition: r.Partition, Offset: r.Offset})
		}
		within, cancel := context.WithTimeout(m.e.ctx, answerWithin)
		defer cancel()
		_ = m.client.FlushAcks(within)
		m.client.MarkAcks(kgo.AckRelease, stale...)
		_ = m.client.FlushAcks(within)
	}
	return fresh
}

// marginOf is how long before the end of its lock a record is given up here: so long may
// an acknowledgement take to the broker.
func marginOf(lent time.Duration) time.Duration { return min(time.Second, lent/5) }

// settle tells the broker, some time soon, what became of a lease that is settled.
func (m *member) settle(le *lease.Lease, as kgo.AckStatus) {
	h := le.Private.(*hold)
	h.record.Ack(as)
	linger := acceptLinger
	if as == kgo.AckRelease {
		linger = releaseLinger
	}
	if as != kgo.AckRelease {
		m.e.forget(le.At)
	} else if !h.kept && !h.handed.Load() {
		m.e.overlooked(le.At)
	}
	at := time.Now().Add(linger)
	m.mu.Lock()
	defer m.mu.Unlock()
	m.drop(le)
	if m.flushAt.IsZero() || at.Before(m.flushAt) {
		m.flushAt = at
		wake(m.nudge)
	}
}

// drop takes a lease out of what is held. It is called under the lock.
func (m *member) drop(le *lease.Lease) {
	last := len(m.held) - 1
	place := le.Private.(*hold).place
	if place > last || m.held[place] != le {
		return
	}
	moved := m.held[last]
	moved.Private.(*hold).place = place
	m.held[place], m.held[last] = moved, nil
	m.held = m.held[:last]
	wake(m.room)
}

// release gives a lease back when the engine is closing.
func (m *member) release(le *lease.Lease) { le.Private.(*hold).record.Ack(kgo.AckRelease) }

func wake(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// keep sends acknowledgements that have waited long enough, and renews locks that would
// run out before their leases.
func (m *member) keep() {
	ctx := m.e.ctx
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-m.nudge:
		case <-timer.C:
		}
		now := time.Now()
		if m.flushDue(now) {
			within, cancel := context.WithTimeout(ctx, answerWithin)
			if m.client.FlushAcks(within) == nil {
				step.At(step.Ended)
			}
			cancel()
		}
		m.renewDue(ctx, now)
		timer.Reset(m.sleep())
	}
}

// flushDue takes the time of the next flush if it has come.
func (m *member) flushDue(now time.Time) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.flushAt.IsZero() || now.Before(m.flushAt) {
		return false
	}
	m.flushAt = time.Time{}
	return true
}

// sleep is how long nothing needs to be done. Locks are looked at eight times in theirs.
func (m *member) sleep() time.Duration {
	m.mu.Lock()
	defer m.mu.Unlock()
	s := time.Second
	if len(m.held) > 0 {
		s = min(s, m.lockFor/8)
	}
	if !m.flushAt.IsZero() {
		s = min(s, time.Until(m.flushAt))
	}
	return max(s, time.Millisecond)
}

// renewDue renews the locks that are half over and must last longer, and gives up those
// that are over.
func (m *member) renewDue(ctx context.Context, now time.Time) {
	var due, over []*lease.Lease
	m.mu.Lock()
	for _, le := range m.held {
		h := le.Private.(*hold)
		if until := le.Deadline(); !h.kept && h.handed.Load() && !until.After(h.lock) {
			continue // it ends before its lock
		}
		switch left := h.lock.Sub(now); {
		case left <= 0:
			over = append(over, le)
		case left < m.lockFor/2:
			due = append(due, le)
		}
	}
	m.mu.Unlock()
	if len(over) > 0 {
		m.e.lose(over)
	}
	if len(due) > 0 && m.e.group.renews {
		if err := m.renew(ctx, due); err != nil && ctx.Err() == nil {
			m.complain("kmq: locks could not be renewed", err)
		}
	}
}

// renew asks the broker for a lock anew, and waits for its answer. What is settled
// meanwhile is not renewed.
func (m *member) renew(ctx context.Context, leases []*lease.Lease) error {
	asked := time.Now()
	before := m.refusals()
	for _, le := range leases {
		le.Private.(*hold).record.Ack(kgo.AckRenew)
	}
	within, cancel := context.WithTimeout(ctx, answerWithin)
	defer cancel()
	if err := m.client.FlushAcks(within); err != nil {
		return fmt.Errorf("kmq: no answer to a renewal: %w", err)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	var refused error
	for _, le := range leases {
		if r := m.refused[le.At.Partition]; r.times != before[le.At.Partition].times {
			refused = fmt.Errorf("%w: the lock was not renewed: %w", lease.ErrLost, r.last)
			continue
		}
		le.Private.(*hold).lock = asked.Add(m.lockFor - marginOf(m.lockFor))
	}
	return refused
}

func (m *member) lockOf(le *lease.Lease) time.Time {
	m.mu.Lock()
	defer m.mu.Unlock()
	return le.Private.(*hold).lock
}

// answered is told what brokers made of acknowledgements. It knows partitions and not
// records: those of a refused request keep their locks until these run out.
func (m *member) answered(_ *kgo.Client, results kgo.ShareAckResults) {
	var last error
	m.mu.Lock()
	for _, r := range results {
		if r.Err != nil {
			last = fmt.Errorf("partition %d: %w", r.Partition, r.Err)
			m.refused[r.Partition] = refusal{times: m.refused[r.Partition].times + 1, last: r.Err}
		}
	}
	m.mu.Unlock()
	if last != nil {
		m.complain("kmq: acknowledgements were refused; their records are delivered again", last)
	}
}

// refusals is how often acknowledgements of each partition were refused so far.
func (m *member) refusals() map[int32]refusal {
	m.mu.Lock()
	defer m.mu.Unlock()
	all := make(map[int32]refusal, len(m.refused))
	for p, r := range m.refused {
		all[p] = r
	}
	return all
}

// flush sends what waits and says whether the brokers took it.
func (m *member) flush(ctx context.Context) error {
	before := m.refusals()
	if err := m.client.FlushAcks(ctx); err != nil {
		return fmt.Errorf("kmq: acknowledgements are on their way: %w", err)
	}
	step.At(step.Ended)
	for p, r := range m.refusals() {
		if r.times != before[p].times {
			return fmt.Errorf("%w: acknowledgements of partition %d were refused and its records are delivered again: %w",
				lease.ErrLost, p, r.last)
		}
	}
	return nil
}

// close leaves the group: acknowledgements that wait are sent, the rest is released.
func (m *member) close(ctx context.Context) error {
	err := m.client.LeaveGroupContext(ctx)
	m.client.Close()
	if err != nil {
		return fmt.Errorf("kmq: leaving share group %s: %w", m.e.cfg.Group, err)
	}
	return nil
}
