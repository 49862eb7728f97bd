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

// fetchWait is how long a broker without records holds a fetch; meanwhile the broker gets no other
// request.
const fetchWait = 100 * time.Millisecond

const complaints = time.Minute

type member struct {
	e      *Engine
	client *kgo.Client
	of     shape

	room  chan struct{}
	nudge chan struct{}
	// lockFor is the duration of the last record's lock, in nanoseconds.
	lockFor atomic.Int64

	mu      sync.Mutex
	held    []*lease.Lease // each at its lent.place
	lookAt  time.Time
	sendAt  time.Time // zero: no acknowledgement waits
	lastAck time.Time
	answers map[int32]*answers
	told    time.Time

	next    *flush
	flushed chan struct{} // closed when no flush runs; or nil
	quiet   bool
	later   []ack
}

type hold struct {
	*lent
	handed atomic.Bool // delivered; before that the lock is renewed and there is no deadline
	kept   bool
}

// lent is a record's lock. member.mu guards the fields after record.
type lent struct {
	record   *kgo.Record
	place    int
	until    time.Time
	end      time.Time // end of the broker's lock, minus the time of a request
	renewing bool
	refused  bool // a renewal was refused, so the lock will expire
}

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
	fetches := 0 // the client fetches only during a poll
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
		// A broker ends a member's locks when the member's connection ends. The broker itself
		// closes a connection after 10 idle min.
		kgo.ConnIdleTimeout(10*time.Minute),
	)...)
	if err != nil {
		return nil, err
	}
	m.client = client
	return m, nil
}

func (m *member) fetch() {
	ctx, topic := m.e.ctx, m.e.cfg.Topic
	paused := false
	for since := time.Now(); ; {
		n, last := m.waitForRoom(ctx, since)
		if n == 0 {
			return
		}
		if paused {
			m.client.ResumeFetchTopics(topic) // records in a paused client would be released
			paused = false
		}
		// With the veil, MarkAcks finds no record. If the veil fails with another version of franz-go,
		// MarkAcks makes the poll release open records, instead of accepting and so losing them.
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
		} else if n := len(records); n > 0 { // the rest was fetched no earlier than the last record
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

// waitForRoom returns how many records to poll. It waits until there is room and less than one poll of records waits
// for the application: other members should get the rest. It returns 0 if the engine is closed.
//
// Records fetched ahead wait in the client. Before their locks expire, which would count as a delivery, a last poll
// takes them into the reserved room. Then last is true, and the caller pauses fetching after this poll.
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
			kept := m.of.poll() + room
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

// troubled waits, and reports whether to retry after an error.
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

func (m *member) begin(records []*kgo.Record) {
	e, now := m.e, time.Now()
	fresh := m.stillLent(now, records)
	if len(fresh) == 0 {
		return
	}
	// The application gets copies: its changes must not affect acknowledgements.
	own := make([]kgo.Record, len(fresh))
	theirs := make([]*kgo.Record, len(fresh))
	for i, r := range fresh {
		own[i], theirs[i] = *r, &own[i]
	}
	leases, holds, locks := lease.FromRecords(theirs), make([]hold, len(fresh)), make([]lent, len(fresh))
	var ready []*lease.Lease
	var instead []*doomed
	first := fresh[0].AcquisitionDeadline()
	for i, le := range leases {
		until, count := fresh[i].AcquisitionDeadline(), int(fresh[i].DeliveryCount())
		if until.Before(first) {
			first = until
		}
		before := max(0, count-1-e.overlookedOf(le.At))
		le.Attempt += before
		h := &holds[i]
		h.lent = &locks[i]
		h.record = fresh[i]
		h.give(now, until.Sub(now))
		le.Private = h
		if d := e.instead(le, count, before); d != nil {
			h.kept = true
			instead = append(instead, d)
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
		e.run.Go(func() { e.bury(instead) })
	}
}

// leastLeft is the lock time needed for a renewal, or without renewals for the processing.
func (m *member) leastLeft() time.Duration {
	const renewed = 500 * time.Millisecond
	if m.e.group.renews {
		return renewed
	}
	return max(renewed, m.halfALock()/2)
}

func (m *member) halfALock() time.Duration { return time.Duration(m.lockFor.Load()) / 2 }

// stillLent leaves out records that waited too long in the client; the broker redelivers them.
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

// close sends acknowledgements, releases what is held or in the client, and leaves the group; fetching and renewing
// must have ended. It returns an error for unreported refusals, except of releases.
func (m *member) close(ctx context.Context) error {
	told := m.alreadyTold()
	m.mu.Lock()
	flushed := m.flushed
	m.mu.Unlock()
	if flushed != nil {
		<-flushed
	}
	err := errors.Join(m.sendAll(ctx), m.refusedSince(told))
	m.giveBack()
	if left := m.client.LeaveGroupContext(ctx); left != nil {
		err = errors.Join(err, fmt.Errorf("kmq: leaving share group %s: %w", m.e.cfg.Group, left))
	}
	m.client.Close()
	return err
}

func (m *member) giveBack() {
	var given []*kgo.Record
	if m.client.BufferedFetchRecords() > 0 {
		m.client.ResumeFetchTopics(m.e.cfg.Topic) // a poll would drop paused records
		given = m.client.PollRecords(ended(), m.of.poll()).Records()
		m.client.PauseFetchTopics(m.e.cfg.Topic) // the session's end gives later records back
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
