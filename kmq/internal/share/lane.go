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
	// How long an acknowledgement waits for others before a request of its own. What all
	// of a lane's records are settled for rides on the next fetch instead.
	acceptLinger  = 100 * time.Millisecond
	releaseLinger = 5 * time.Millisecond // somebody waits for the record

	// How long a fetch waits at a broker that has nothing. While one waits, nothing else
	// can be sent to the broker: that matters where fetches run ahead of polls.
	fetchWait      = 500 * time.Millisecond
	fetchWaitAhead = 100 * time.Millisecond

	// complaints is how often the same trouble is logged.
	complaints = time.Minute
	// answerWithin is how long a broker may take to answer an acknowledgement.
	answerWithin = 10 * time.Second
)

// lane is one member of the share group. It fetches when nothing that it fetched before is
// open.
type lane struct {
	e      *Engine
	client *kgo.Client
	most   int // records of a poll

	idle  chan struct{} // nothing is open
	nudge chan struct{} // flushAt has come nearer

	mu      sync.Mutex
	held    []*lease.Lease // of the last poll, by hold.place; nil: settled
	open    int            // of these not settled
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

// hold is a lease's place in its lane.
type hold struct {
	lane   *lane
	record *kgo.Record // as it was fetched, by which it is acknowledged
	place  int
	handed atomic.Bool // to the application: until then its lock is renewed, and it has no deadline
	kept   bool        // not the application's any more: a delay, or a copy being written
	lock   time.Time   // until when the broker lends it, with a margin; under lane.mu
}

func newLane(e *Engine, n int, of shape) (*lane, error) {
	l := &lane{
		e: e, most: of.each,
		idle: make(chan struct{}, 1), nudge: make(chan struct{}, 1),
		refused: make(map[int32]refusal),
	}
	wait, fetches := fetchWait, 0 // 0: for a poll only
	if of.ahead {
		wait, fetches = fetchWaitAhead, e.group.brokers
		l.most *= e.group.brokers
	}
	client, err := kgo.NewClient(e.cfg.ClientOptions(
		kgo.ClientID(fmt.Sprintf("kmq-%d", n)),
		kgo.ShareGroup(e.cfg.Group),
		kgo.ConsumeTopics(e.cfg.Topic),
		kgo.ShareMaxRecords(int32(of.each)),
		kgo.ShareMaxRecordsStrict(),
		kgo.MaxConcurrentFetches(fetches),
		kgo.FetchMaxWait(wait),
		kgo.ShareAckCallback(l.answered),
		// A broker ends a member's locks with its connection, so one that is idle while
		// records are worked on must stay. Brokers close it after 10 min themselves.
		kgo.ConnIdleTimeout(10*time.Minute),
	)...)
	if err != nil {
		return nil, err
	}
	l.client = client
	return l, nil
}

// fetch polls whenever nothing is open, until the engine is closed or can't go on.
func (l *lane) fetch() {
	ctx := l.e.ctx
	for {
		// All is settled, so this finds nothing. If it did, a release costs a delivery,
		// and the poll's acceptance would cost the record.
		l.client.MarkAcks(kgo.AckRelease)
		fetches := l.client.PollRecords(ctx, l.most)
		if ctx.Err() != nil {
			return // what came is released when the client leaves
		}
		records := fetches.Records()
		if err := fetches.Err(); err != nil && len(records) == 0 {
			if !l.troubled(ctx, err) {
				return
			}
			continue
		}
		if len(records) == 0 {
			continue
		}
		step.At(step.Polled)
		l.begin(records)
		for l.busy() {
			select {
			case <-l.idle:
			case <-ctx.Done():
				return
			}
		}
	}
}

// troubled says whether it is worth trying again, and waits before that.
func (l *lane) troubled(ctx context.Context, err error) bool {
	if errors.Is(err, kgo.ErrClientClosed) {
		return false
	}
	if engine.Fatal(err) {
		l.e.fail(fmt.Errorf("kmq: share group %s on topic %s: %w", l.e.cfg.Group, l.e.cfg.Topic, err))
		return false
	}
	l.complain("kmq: records can't be fetched; trying again", err)
	select {
	case <-time.After(200 * time.Millisecond):
		return true
	case <-ctx.Done():
		return false
	}
}

// complain logs trouble, once in a while.
func (l *lane) complain(what string, err error) {
	l.mu.Lock()
	again := time.Since(l.told) >= complaints
	if again {
		l.told = time.Now()
	}
	l.mu.Unlock()
	if again {
		l.e.cfg.Log.Warn(what, "error", err)
	}
}

// begin makes leases of a poll: ready, or to be copied instead.
func (l *lane) begin(records []*kgo.Record) {
	e, now := l.e, time.Now()
	fresh := l.stillLent(now, records)
	if len(fresh) == 0 {
		return
	}
	// The application gets records of its own: whatever it does to them, the lane can
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
		h.lane, h.record, h.place, h.lock = l, fresh[i].record, i, now.Add(left-marginOf(left))
		le.Private = h
		if c := e.instead(le, count, before); c != nil {
			holds[i].kept = true
			instead = append(instead, c)
			continue
		}
		ready = append(ready, le)
	}
	l.mu.Lock()
	l.held, l.open = leases, len(leases)
	l.lockFor = max(l.lockFor, longest) // what was fetched just now has all of it left
	if shortest < l.lockFor/2 {
		wake(l.nudge) // to be renewed
	}
	l.mu.Unlock()

	if len(ready) > 0 {
		e.wait(ready, now.Add(shortest-marginOf(shortest)))
	}
	e.move(l, instead)
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
// and lay in the client while this lane had no time for them: the broker lends them to
// somebody else, or is about to. They must be released, because the next poll would accept
// them; and by themselves, because a broker that refuses that refuses all that comes with
// it.
func (l *lane) stillLent(now time.Time, records []*kgo.Record) []fetched {
	fresh := make([]fetched, 0, len(records))
	var stale []*kgo.Record
	l.mu.Lock()
	least := leastLeft(l.lockFor)
	l.mu.Unlock()
	for _, r := range records {
		if left := r.AcquisitionDeadline().Sub(now); left >= least {
			fresh = append(fresh, fetched{record: r, left: left})
		} else {
			stale = append(stale, r)
		}
	}
	if len(stale) > 0 {
		for _, r := range stale {
			l.e.overlooked(lease.ID{Partition: r.Partition, Offset: r.Offset})
		}
		within, cancel := context.WithTimeout(l.e.ctx, answerWithin)
		defer cancel()
		_ = l.client.FlushAcks(within)
		l.client.MarkAcks(kgo.AckRelease, stale...)
		_ = l.client.FlushAcks(within)
	}
	return fresh
}

// marginOf is how long before the end of its lock a record is given up here: so long may
// an acknowledgement take to the broker.
func marginOf(lent time.Duration) time.Duration { return min(time.Second, lent/5) }

// busy is whether anything of the last poll is open.
func (l *lane) busy() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.open > 0
}

// settle tells the broker, some time soon, what became of a lease that is settled.
func (l *lane) settle(le *lease.Lease, as kgo.AckStatus) {
	h := le.Private.(*hold)
	h.record.Ack(as) // before open falls: the next poll would accept it
	linger := acceptLinger
	if as == kgo.AckRelease {
		linger = releaseLinger
	}
	if as != kgo.AckRelease {
		l.e.forget(le.At)
	} else if !h.kept && !h.handed.Load() {
		l.e.overlooked(le.At)
	}
	at := time.Now().Add(linger)
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.held[h.place] != le {
		return // not of the last poll
	}
	l.held[h.place] = nil
	if l.open--; l.open == 0 {
		wake(l.idle)
	}
	if l.flushAt.IsZero() || at.Before(l.flushAt) {
		l.flushAt = at
		wake(l.nudge)
	}
}

// release gives a lease back when the engine is closing.
func (l *lane) release(le *lease.Lease) { le.Private.(*hold).record.Ack(kgo.AckRelease) }

func wake(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// keep sends acknowledgements that have waited long enough, and renews locks that would
// run out before their leases.
func (l *lane) keep() {
	ctx := l.e.ctx
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-l.nudge:
		case <-timer.C:
		}
		now := time.Now()
		if l.flushDue(now) {
			within, cancel := context.WithTimeout(ctx, answerWithin)
			if l.client.FlushAcks(within) == nil {
				step.At(step.Ended)
			}
			cancel()
		}
		l.renewDue(ctx, now)
		timer.Reset(l.sleep())
	}
}

// flushDue takes the time of the next flush if it has come.
func (l *lane) flushDue(now time.Time) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.flushAt.IsZero() || now.Before(l.flushAt) {
		return false
	}
	l.flushAt = time.Time{}
	return true
}

// sleep is how long nothing needs to be done. Locks are looked at eight times in theirs.
func (l *lane) sleep() time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	s := time.Second
	if l.open > 0 {
		s = min(s, l.lockFor/8)
	}
	if !l.flushAt.IsZero() {
		s = min(s, time.Until(l.flushAt))
	}
	return max(s, time.Millisecond)
}

// renewDue renews the locks that are half over and must last longer, and gives up those
// that are over.
func (l *lane) renewDue(ctx context.Context, now time.Time) {
	var due, over []*lease.Lease
	l.mu.Lock()
	for _, le := range l.held {
		if le == nil {
			continue
		}
		h := le.Private.(*hold)
		if until := le.Deadline(); !h.kept && h.handed.Load() && !until.After(h.lock) {
			continue // it ends before its lock
		}
		switch left := h.lock.Sub(now); {
		case left <= 0:
			over = append(over, le)
		case left < l.lockFor/2:
			due = append(due, le)
		}
	}
	l.mu.Unlock()
	if len(over) > 0 {
		l.e.lose(over)
	}
	if len(due) > 0 && l.e.group.renews {
		if err := l.renew(ctx, due); err != nil && ctx.Err() == nil {
			l.complain("kmq: locks could not be renewed", err)
		}
	}
}

// renew asks the broker for a lock anew, and waits for its answer. What is settled
// meanwhile is not renewed.
func (l *lane) renew(ctx context.Context, leases []*lease.Lease) error {
	asked := time.Now()
	before := l.refusals()
	for _, le := range leases {
		le.Private.(*hold).record.Ack(kgo.AckRenew)
	}
	within, cancel := context.WithTimeout(ctx, answerWithin)
	defer cancel()
	if err := l.client.FlushAcks(within); err != nil {
		return fmt.Errorf("kmq: no answer to a renewal: %w", err)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	var refused error
	for _, le := range leases {
		if r := l.refused[le.At.Partition]; r.times != before[le.At.Partition].times {
			refused = fmt.Errorf("%w: the lock was not renewed: %w", lease.ErrLost, r.last)
			continue
		}
		le.Private.(*hold).lock = asked.Add(l.lockFor - marginOf(l.lockFor))
	}
	return refused
}

func (l *lane) lockOf(le *lease.Lease) time.Time {
	l.mu.Lock()
	defer l.mu.Unlock()
	return le.Private.(*hold).lock
}

// answered is told what brokers made of acknowledgements. It knows partitions and not
// records: those of a refused request keep their locks until these run out.
func (l *lane) answered(_ *kgo.Client, results kgo.ShareAckResults) {
	var last error
	l.mu.Lock()
	for _, r := range results {
		if r.Err != nil {
			last = fmt.Errorf("partition %d: %w", r.Partition, r.Err)
			l.refused[r.Partition] = refusal{times: l.refused[r.Partition].times + 1, last: r.Err}
		}
	}
	l.mu.Unlock()
	if last != nil {
		l.complain("kmq: acknowledgements were refused; their records are delivered again", last)
	}
}

// refusals is how often acknowledgements of each partition were refused so far.
func (l *lane) refusals() map[int32]refusal {
	l.mu.Lock()
	defer l.mu.Unlock()
	all := make(map[int32]refusal, len(l.refused))
	for p, r := range l.refused {
		all[p] = r
	}
	return all
}

// flush sends what waits and says whether the brokers took it.
func (l *lane) flush(ctx context.Context) error {
	before := l.refusals()
	if err := l.client.FlushAcks(ctx); err != nil {
		return fmt.Errorf("kmq: acknowledgements are on their way: %w", err)
	}
	step.At(step.Ended)
	for p, r := range l.refusals() {
		if r.times != before[p].times {
			return fmt.Errorf("%w: acknowledgements of partition %d were refused and its records are delivered again: %w",
				lease.ErrLost, p, r.last)
		}
	}
	return nil
}

// close leaves the group: acknowledgements that wait are sent, the rest is released.
func (l *lane) close(ctx context.Context) error {
	err := l.client.LeaveGroupContext(ctx)
	l.client.Close()
	if err != nil {
		return fmt.Errorf("kmq: leaving share group %s: %w", l.e.cfg.Group, err)
	}
	return nil
}
