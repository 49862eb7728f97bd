package kmqtest

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"kafkabench.example/kafka-bench/kmq/internal/engine"
	"kafkabench.example/kafka-bench/kmq/internal/lease"
)

// memory implements [engine.Engine] with the contract of package offsetmap, for a topic in memory.
type memory struct {
	cfg engine.Config
	set *lease.Set // all open records

	mu      sync.Mutex // locked before the lock of the set
	ready   []*lease.Lease
	taken   int                   // taken or lent
	open    map[lease.ID]struct{} // neither acknowledged nor dead
	ends    map[int32]int64       // the next offset of each partition
	changed chan struct{}         // closed when any of the fields above changes
	closed  bool
	acked   []*kgo.Record
	dead    []*kgo.Record
	counts  engine.Counts
}

// The marks of leases.
const (
	inBackoff = 1 + iota // it waits for its next attempt; its deadline is the end of the delay
	parked               // it was taken, and waits behind another one
)

func newMemory(cfg engine.Config) *memory {
	m := &memory{cfg: cfg, ends: make(map[int32]int64), open: make(map[lease.ID]struct{}), changed: make(chan struct{})}
	m.set = lease.NewSet(cfg.MaxInFlight, m.expired)
	return m
}

func (m *memory) produce(records []*kgo.Record) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, r := range records {
		r.Topic, r.Offset = m.cfg.Topic, m.ends[r.Partition]
		m.ends[r.Partition]++
		if r.Timestamp.IsZero() {
			r.Timestamp = time.Now()
		}
		r.Timestamp = r.Timestamp.Truncate(time.Millisecond)
		stored := *r
		l := lease.FromRecord(&stored)
		m.set.Add(l, time.Time{})
		m.ready = append(m.ready, l)
		m.open[l.At] = struct{}{}
	}
	m.signal()
}

// signal wakes all who wait for a change. The caller holds mu.
func (m *memory) signal() {
	close(m.changed)
	m.changed = make(chan struct{})
}

// wait waits for a change, or for the end of ctx, with mu unlocked. The caller holds mu.
func (m *memory) wait(ctx context.Context) error {
	changed := m.changed
	m.mu.Unlock()
	defer m.mu.Lock()
	select {
	case <-changed:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// waitIdle waits until no record is open, or for the end of ctx.
func (m *memory) waitIdle(ctx context.Context) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for len(m.open) > 0 && m.wait(ctx) == nil {
	}
}

func (m *memory) ackedRecords() []*kgo.Record {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.acked)
}

func (m *memory) deadLetters() []*kgo.Record {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.dead)
}

// Take implements [engine.Lender].
func (m *memory) Take(ctx context.Context, max int) ([]*lease.Lease, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for {
		if m.closed {
			return nil, lease.ErrClosed
		}
		if n := min(max, len(m.ready), m.cfg.MaxInFlight-m.taken); n > 0 {
			out := slices.Clone(m.ready[:n])
			m.ready = slices.Delete(m.ready, 0, n)
			m.taken += n
			return out, nil
		}
		if err := m.wait(ctx); err != nil {
			return nil, err
		}
	}
}

// Lend implements [engine.Lender].
func (m *memory) Lend(_ context.Context, leases []*lease.Lease, to lease.Holder) ([]*lease.Lease, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	leases = m.set.LendTo(leases, time.Now().Add(m.cfg.Visibility), to)
	m.counts.Delivered += int64(len(leases))
	for _, l := range leases {
		if l.Attempt > 1 {
			m.counts.Redelivered++
		}
	}
	return leases, nil
}

// Return implements [engine.Engine].
func (m *memory) Return(leases []*lease.Lease) {
	m.mu.Lock()
	defer m.mu.Unlock()
	leases = slices.DeleteFunc(leases, func(l *lease.Lease) bool { return l.Err() != nil })
	for _, l := range leases {
		m.unpark(l)
		m.set.ForgetHolder(l)
	}
	m.putFirst(leases...)
}

// putFirst makes taken records ready, before all others. The caller holds mu.
func (m *memory) putFirst(leases ...*lease.Lease) {
	m.ready = slices.Insert(m.ready, 0, leases...)
	m.taken -= len(leases)
	m.signal()
}

// ForgetHolder implements [engine.Engine].
func (m *memory) ForgetHolder(l *lease.Lease) { m.set.ForgetHolder(l) }

// Ack implements [engine.Engine].
func (m *memory) Ack(_ context.Context, l *lease.Lease) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := m.set.Settle(l, lease.Accepted); err != nil {
		return err
	}
	m.counts.Acked++
	m.acked = append(m.acked, l.Original())
	m.end(l)
	return nil
}

// end notes that a taken record is done or dead. The caller holds mu.
func (m *memory) end(l *lease.Lease) {
	delete(m.open, l.At)
	m.taken--
	m.signal()
}

// Nack implements [engine.Engine].
func (m *memory) Nack(_ context.Context, l *lease.Lease, delay time.Duration) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	err := m.giveBack(l, l.Attempt+1, delay)
	if err == nil {
		m.counts.Nacked++
	}
	return err
}

// giveBack settles a lease so that its record is delivered again, as an attempt with this number. The caller holds mu.
func (m *memory) giveBack(l *lease.Lease, attempt int, delay time.Duration) error {
	next, due := l.Again(), time.Time{}
	next.Attempt = attempt
	if delay > 0 && !m.spent(next) {
		next.Mark, due = inBackoff, time.Now().Add(delay)
	}
	if err := m.set.Swap(l, lease.Released, next, due); err != nil {
		return err
	}
	if due.IsZero() {
		m.again(next)
		return nil
	}
	m.taken--
	m.signal()
	return nil
}

// spent reports whether a record was delivered as often as it may be before this attempt.
func (m *memory) spent(next *lease.Lease) bool {
	return m.cfg.MaxDeliveries > 0 && next.Attempt > m.cfg.MaxDeliveries
}

// again makes a taken record ready for its next attempt, or a dead letter. The caller holds mu.
func (m *memory) again(next *lease.Lease) {
	if !m.spent(next) {
		m.putFirst(next)
		return
	}
	_ = m.set.Settle(next, lease.Released) // nobody else has it
	deliveries := next.Attempt - 1
	m.bury(next, deliveries, fmt.Sprintf("delivered %d times", deliveries))
}

// bury makes a dead letter of a taken record. The caller holds mu.
func (m *memory) bury(l *lease.Lease, deliveries int, reason string) {
	sameNumber := int(l.At.Partition) + 1 // of partitions, at least
	m.dead = append(m.dead, l.DeadLetter(deliveries, reason, m.cfg.Group, m.cfg.DeadLetterTopic, sameNumber))
	m.counts.DeadLettered++
	m.end(l)
}

// expired is called when a lock or a backoff has ended.
func (m *memory) expired(l *lease.Lease) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed {
		return
	}
	if l.Mark == inBackoff {
		next := l.Again()
		next.Attempt = l.Attempt
		m.set.Add(next, time.Time{})
		m.taken++
		m.putFirst(next)
		return
	}
	m.counts.Expired++
	l.Failed("the lock expired", time.Now())
	next := l.Again()
	m.set.Add(next, time.Time{})
	m.again(next)
}

// Unhand implements [engine.Unhander].
func (m *memory) Unhand(_ context.Context, l *lease.Lease, delay time.Duration) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.giveBack(l, l.Attempt, delay)
}

// Park implements [engine.Parker]: a record that waits behind another one is not taken.
func (m *memory) Park(leases []*lease.Lease) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, l := range leases {
		if l.Mark != parked {
			l.Mark = parked
			m.taken--
		}
	}
	m.signal()
}

// Unpark implements [engine.Parker].
func (m *memory) Unpark(l *lease.Lease) (complete bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.unpark(l)
	return true
}

func (m *memory) unpark(l *lease.Lease) {
	if l.Mark == parked {
		l.Mark = 0
		m.taken++
	}
}

// IsOpen implements [engine.Parker].
func (m *memory) IsOpen(at lease.ID) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	_, open := m.open[at]
	return open
}

// Extend implements [engine.Engine].
func (m *memory) Extend(_ context.Context, l *lease.Lease, d time.Duration) error {
	return m.set.Extend(l, time.Now().Add(d))
}

// Reject implements [engine.Engine].
func (m *memory) Reject(_ context.Context, l *lease.Lease, reason string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := m.set.Settle(l, lease.Rejected); err != nil {
		return err
	}
	m.counts.Rejected++
	m.bury(l, l.Attempt, reason)
	return nil
}

// Flush implements [engine.Engine].
func (m *memory) Flush(context.Context) error { return nil }

// Close implements [engine.Engine].
func (m *memory) Close(context.Context) error {
	m.mu.Lock()
	if !m.closed {
		m.closed = true
		for _, l := range m.set.LoseAll(nil) {
			if l.Mark != inBackoff && !l.Deadline().IsZero() {
				m.counts.Lost++
			}
		}
		m.signal()
	}
	m.mu.Unlock()
	m.set.Close()
	return nil
}

// Counts implements [engine.Engine].
func (m *memory) Counts() engine.Counts {
	m.mu.Lock()
	defer m.mu.Unlock()
	c := m.counts
	c.InFlight, c.OldestUnacked = m.taken, m.set.Oldest()
	return c
}
