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

const (
	// fetchWait is how long a broker without records holds a fetch; meanwhile the broker gets no other request, and the
	// client asks no other broker.
	fetchWait = 50 * time.Millisecond
	// mostFetched bounds the records of a fetch.
	mostFetched = 500
)

type member struct {
	e       *Engine
	client  *kgo.Client
	fetches int // the most records of a fetch

	taken chan struct{} // ready records were taken
	nudge chan struct{} // releases are to be sent
	// lockTime is the duration of the last record's lock, in nanoseconds.
	lockTime atomic.Int64
	flushes  engine.Turn

	mu           sync.Mutex
	flushing     chan struct{} // closed when the flush that waits for answers ends; nil: there is none
	lastAck      time.Time
	answers      map[int32]*answers
	refused      int // acknowledgements, also those that were not sent because their locks had expired
	told         int // of these
	lastRefusal  error
	fetchTrouble *engine.Complaint
	ackTrouble   *engine.Complaint
	lockTrouble  *engine.Complaint
}

// brokerLock is the broker's lock of a record. member.mu guards the fields after record.
type brokerLock struct {
	record   *kgo.Record // the client's
	until    time.Time   // with time for a request
	renewing bool
	refused  bool // a renewal was refused, so the lock will expire
}

func (l *brokerLock) set(from time.Time, d time.Duration) {
	l.until = from.Add(d - min(time.Second, d/5))
}

func newMember(e *Engine) (*member, error) {
	m := &member{
		e: e, fetches: max(1, min(mostFetched, e.cfg.MaxInFlight/8)),
		taken: make(chan struct{}, 1), nudge: make(chan struct{}, 1), flushes: engine.NewTurn(), answers: make(map[int32]*answers),
		fetchTrouble: engine.NewComplaint(e.cfg.Log), ackTrouble: engine.NewComplaint(e.cfg.Log), lockTrouble: engine.NewComplaint(e.cfg.Log),
	}
	client, err := kgo.NewClient(e.cfg.ClientOptions(
		kgo.ShareGroup(e.cfg.Group),
		kgo.ConsumeTopics(e.cfg.Topic, e.cfg.RetryTopic),
		kgo.ShareMaxRecords(int32(m.fetches)),
		kgo.ShareMaxRecordsStrict(), // so the client fetches only during a poll
		kgo.FetchMaxWait(fetchWait),
		kgo.ShareAckCallback(m.answered),
		kgo.WithHooks(lockHider{&m.lockTime}),
		// A broker ends a member's locks when the member's connection ends. The broker itself
		// closes a connection after 10 idle min.
		kgo.ConnIdleTimeout(10*time.Minute),
	)...)
	m.client = client
	return m, err
}

func (m *member) fetch() {
	ctx := m.e.ctx
	for m.waitForRoom(ctx) {
		// With hidden locks, MarkAcks finds no record. If that fails with another version of franz-go,
		// MarkAcks makes the poll release open records, instead of accepting and so losing them.
		m.client.MarkAcks(kgo.AckRelease)
		fetches := m.client.PollRecords(ctx, m.fetches)
		records := fetches.Records()
		showLocks(records)
		if ctx.Err() != nil {
			return // the end of the session releases the records
		}
		if err := fetches.Err(); err != nil && len(records) == 0 {
			if !m.retryFetch(ctx, err) {
				return
			}
			continue
		}
		if len(records) == 0 {
			continue
		}
		step.At(step.Polled)
		if err := m.begin(records); err != nil {
			m.e.fail(err)
			return
		}
	}
}

// waitForRoom waits until there is room for a fetch and less than a fetch of records waits for the application: other
// members should get the rest. It returns false if ctx has ended.
func (m *member) waitForRoom(ctx context.Context) bool {
	for m.e.set.WaitRoom(ctx, m.fetches) == nil {
		if m.e.waiting() < m.fetches {
			return true
		}
		select {
		case <-m.taken:
		case <-ctx.Done():
		}
	}
	return false
}

// retryFetch waits, and reports whether to retry after an error.
func (m *member) retryFetch(ctx context.Context, err error) bool {
	if errors.Is(err, kgo.ErrClientClosed) {
		return false
	}
	if engine.Fatal(err) {
		m.e.fail(fmt.Errorf("kmq: share group %s on topic %s: %w", m.e.cfg.Group, m.e.cfg.Topic, err))
		return false
	}
	m.fetchTrouble.About("fetch records", err)
	select {
	case <-time.After(200 * time.Millisecond):
		return true
	case <-ctx.Done():
		return false
	}
}

func (m *member) begin(fetched []*kgo.Record) error {
	e, now := m.e, time.Now()
	fetched = m.fresh(now, fetched)
	// The application gets copies: its changes must not affect acknowledgements.
	own, theirs, locks := make([]kgo.Record, len(fetched)), make([]*kgo.Record, len(fetched)), make([]brokerLock, len(fetched))
	for i, r := range fetched {
		own[i], theirs[i] = *r, &own[i]
		if own[i].Partition = e.numberOf(r.Topic, r.Partition); !lease.IsRetry(own[i].Partition) {
			continue
		}
		if err := lease.CheckRetry(r, e.cfg.Topic, e.cfg.Group); err != nil {
			return err
		}
	}
	leases := lease.FromRecords(theirs)
	var ready []*lease.Lease
	var copies []*copied
	for i, l := range leases {
		r := fetched[i]
		l.Attempt += int(r.DeliveryCount()) - 1
		locks[i].record = r
		locks[i].set(now, r.AcquisitionDeadline().Sub(now))
		l.Private = &locks[i]
		if c := e.copyInstead(l, int(r.DeliveryCount())); c != nil {
			copies = append(copies, c)
		} else {
			ready = append(ready, l)
		}
	}
	e.set.AddAll(leases, time.Time{}) // without a deadline until they are delivered
	e.copyFirst(copies)
	e.offer(ready)
	return nil
}

// fresh leaves out records that waited too long in the client; the broker redelivers them.
func (m *member) fresh(now time.Time, records []*kgo.Record) (fresh []*kgo.Record) {
	for _, r := range records {
		if r.AcquisitionDeadline().Sub(now) >= m.lockDuration()/4 {
			fresh = append(fresh, r)
		}
	}
	return fresh
}

func (m *member) lockDuration() time.Duration { return time.Duration(m.lockTime.Load()) }

// close sends acknowledgements and leaves the group, which releases what is open; fetching and renewing must have ended.
// It returns an error for unreported refusals. Half of the time is left for leaving.
func (m *member) close(ctx context.Context) error {
	most := answerWithin
	if end, ok := ctx.Deadline(); ok {
		most = min(most, time.Until(end)/2)
	}
	within, cancel := context.WithTimeout(ctx, most)
	defer cancel()
	err := m.flush(within)
	if left := m.client.LeaveGroupContext(ctx); left != nil {
		err = errors.Join(err, fmt.Errorf("kmq: leaving share group %s: %w", m.e.cfg.Group, left))
	}
	m.client.Close()
	return err
}

func wake(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}
