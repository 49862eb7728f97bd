package share

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"kafkabench.example/kafka-bench/kmq/internal/engine"
	"kafkabench.example/kafka-bench/kmq/internal/lease"
	"kafkabench.example/kafka-bench/kmq/internal/step"
)

// fetchWait is how long a fetch waits at a broker that has nothing. While one waits, nothing
// else can be sent to that broker.
const fetchWait = 100 * time.Millisecond

// complaints is how often the same trouble is logged.
const complaints = time.Minute

// member is the queue's member of the share group. It fetches as long as there is room and
// the application takes what comes, whatever else is open.
type member struct {
	e      *Engine
	client *kgo.Client
	of     shape

	room  chan struct{} // there may be room for a poll again
	nudge chan struct{} // there is something to send or to renew sooner
	// lockFor is for how long the broker lent last, in nanoseconds.
	lockFor atomic.Int64

	mu      sync.Mutex
	held    []*lease.Lease // open, each at its lent.place
	lookAt  time.Time      // when locks are looked at next
	sendAt  time.Time      // when acknowledgements that wait are sent; zero: none wait
	lastAck time.Time
	answers map[int32]*answers
	told    time.Time // when trouble was last logged

	// Of flushes, which keep what is settled meanwhile from being sent.
	next    *flush
	flushed chan struct{} // is closed when none is under way any more; nil: none is
	quiet   bool
	later   []ack
}

// hold is what the member knows of a lease.
type hold struct {
	*lent
	handed atomic.Bool // to the application: until then its lock is renewed, and it has no deadline
	kept   bool        // not the application's any more: a delay, or a copy being written
}

// lent is a record's lock. What follows the record is under member.mu.
type lent struct {
	record   *kgo.Record // as it was fetched, by which it is acknowledged
	place    int         // in member.held
	until    time.Time   // for so long it is worked on
	end      time.Time   // the broker's own, but for the way to it
	renewing bool
	refused  bool // to be renewed: it ends
}

// give sets for how long the broker lends, from a time on.
func (l *lent) give(from time.Time, lock time.Duration) {
	l.until = from.Add(lock - min(time.Second, lock/5))
	l.end = from.Add(lock - min(100*time.Millisecond, lock/20))
}

func newMember(e *Engine, of shape) (*member, error) {
	m := &member{
		e: e, of: of,
		room: make(chan struct{}, 1), nudge: make(chan struct{}, 1),
		answers: make(map[int32]*answers),
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
		kgo.WithHooks(veiling{&m.lockFor}),
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
	ctx, topic := m.e.ctx, m.e.cfg.Topic
	paused := false
	for since := time.Now(); ; {
		n, last := m.waitForRoom(ctx, since)
		if n == 0 {
			return
		}
		if paused {
			m.client.ResumeFetchTopics(topic) // what lies there would be released
			paused = false
		}
		// The veil leaves nothing for this to find. If it did, in another version of
		// franz-go, a release would cost a delivery, and the poll's acceptance the record.
		m.client.MarkAcks(kgo.AckRelease)
		fetches := m.client.PollRecords(ctx, n)
		if last {
			m.client.PauseFetchTopics(topic)
			paused = true
		}
		records := fetches.Records()
		unveil(records)
		if m.client.BufferedFetchRecords() == 0 {
			since = time.Now()
		} else if n := len(records); n > 0 { // what is left was fetched no earlier than the last
			fetched := records[n-1].AcquisitionDeadline().Add(-2 * m.halfALock())
			if fetched.After(since) {
				since = fetched
			}
		}
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

// waitForRoom returns how many records may be polled, once there is room for them and the
// application has less than a poll before it: what it has no time for is better lent to
// somebody else. 0: the engine is closed.
//
// What was fetched ahead lies in the client meanwhile, for so long at most; before its locks
// run out, which would count as deliveries, it is taken into the room that is kept
// for it, where locks are renewed: the last poll until there is room again.
func (m *member) waitForRoom(ctx context.Context, since time.Time) (n int, last bool) {
	old := time.NewTimer(time.Hour)
	defer old.Stop()
	for {
		m.mu.Lock()
		room := m.of.open - len(m.held)
		m.mu.Unlock()
		ahead, age := m.e.waiting(), time.Since(since)
		if room >= m.of.least() && ahead < m.of.poll() {
			return min(room, m.of.poll()), false
		}
		if m.of.ahead {
			ripe := time.Duration(m.lockFor.Load()) / 4
			kept := m.of.poll() + room // of the room for that
			if age >= ripe && kept > 0 && ahead < 2*m.of.poll() && m.client.BufferedFetchRecords() > 0 {
				return min(kept, m.of.poll()), true
			}
			old.Reset(max(50*time.Millisecond, ripe/4, ripe-age))
		}
		select {
		case <-m.room:
		case <-old.C:
		case <-ctx.Done():
			return 0, false
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
	for i, r := range fresh {
		own[i], theirs[i] = *r, &own[i]
	}
	leases, holds, locks := lease.FromRecords(theirs), make([]hold, len(fresh)), make([]lent, len(fresh))
	var ready []*lease.Lease
	var instead []*copied
	first := fresh[0].AcquisitionDeadline() // to run out
	for i, le := range leases {
		until, count := fresh[i].AcquisitionDeadline(), int(fresh[i].DeliveryCount())
		if until.Before(first) {
			first = until
		}
		before := max(0, count-1-e.overlookedOf(le.At)) // deliveries from this place
		le.Attempt += before
		h := &holds[i]
		h.lent = &locks[i]
		h.record = fresh[i]
		h.give(now, until.Sub(now))
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
		locks[i].place = len(m.held)
		m.held = append(m.held, le)
	}
	if first.Sub(now) < m.halfALock() {
		m.lookAt = now
		wake(m.nudge)
	}
	m.mu.Unlock()

	if len(ready) > 0 {
		var end lent
		end.give(now, first.Sub(now))
		e.wait(ready, end.until)
	}
	if len(instead) > 0 {
		e.run.Go(func() { e.move(instead) }) // which may take as long as the cluster likes
	}
}

// leastLeft is for how long a record must be lent yet to be handed out: time to renew it,
// or where that can't be, to work and answer.
func (m *member) leastLeft() time.Duration {
	const renewed = 500 * time.Millisecond
	if m.e.group.renews {
		return renewed
	}
	return max(renewed, m.halfALock()/2)
}

func (m *member) halfALock() time.Duration { return time.Duration(m.lockFor.Load()) / 2 }

// stillLent are the records whose lock is good for a while. The others lay in the client
// while there was no room for them: the broker lends them to somebody else, or is about to.
func (m *member) stillLent(now time.Time, records []*kgo.Record) []*kgo.Record {
	fresh := make([]*kgo.Record, 0, len(records))
	least := m.leastLeft()
	for _, r := range records {
		if r.AcquisitionDeadline().Sub(now) >= least {
			fresh = append(fresh, r)
			continue
		}
		m.e.overlooked(lease.ID{Partition: r.Partition, Offset: r.Offset})
	}
	return fresh
}

// close sends the acknowledgements that wait, gives back what is held or lies in the client,
// and leaves the group. It returns an error if acknowledgements were refused, now or before, and
// nobody was told; whether the releases are refused changes nothing. Nobody fetches or renews any
// more. What nobody was handed is released, too, which counts as a delivery: left to the end of the
// session it would not, and might wait for its lock.
func (m *member) close(ctx context.Context) error {
	told := m.alreadyTold()
	m.mu.Lock()
	flushed := m.flushed
	m.mu.Unlock()
	if flushed != nil {
		<-flushed // the end of the engine's context has ended it
	}
	err := errors.Join(m.sendAll(ctx), m.refusedSince(told))
	m.giveBack()
	if left := m.client.LeaveGroupContext(ctx); left != nil {
		err = errors.Join(err, fmt.Errorf("kmq: leaving share group %s: %w", m.e.cfg.Group, left))
	}
	m.client.Close()
	return err
}

// giveBack releases what is held or lies in the client.
func (m *member) giveBack() {
	var given []*kgo.Record
	if m.client.BufferedFetchRecords() > 0 {
		m.client.ResumeFetchTopics(m.e.cfg.Topic) // a poll would drop what is paused
		given = m.client.PollRecords(ended(), m.of.poll()).Records()
		m.client.PauseFetchTopics(m.e.cfg.Topic) // what comes yet is the session's to give back
		unveil(given)
	}
	now := time.Now()
	m.mu.Lock()
	for _, le := range m.held {
		if h := le.Private.(*hold); now.Before(h.end) {
			given = append(given, h.record)
		}
	}
	m.held = nil
	m.mu.Unlock()
	for _, r := range given {
		r.Ack(kgo.AckRelease)
	}
}

func wake(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}
