package queued

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"kafkabench.example/kafka-bench/internal/kafka/driver"
	"kafkabench.example/kafka-bench/internal/measure/snapshot"
)

type fakeQueue struct {
	visibility time.Duration
	most       int // 0: no bound
	dead       func(value []byte)
	early      time.Duration // redelivers this much too early
	frees      bool          // a killed member's records are ready while Kill runs
	all        []*fakeRecord

	mu      sync.Mutex
	change  chan struct{}
	ready   []*fakeRecord
	members []*fakeQueueMember
}

type fakeRecord struct {
	driver.Received
	partition int32
	attempt   int
	holder    *fakeQueueMember // nil: not lent
	lease     int
}

type fakeQueueMember struct {
	queue  *fakeQueue
	killed bool
	closed bool
	counts snapshot.QueueCounts
	forget func(*fakeRecord) bool // whether to lose an accepted acknowledgement
}

func newFakeQueue(log [][]driver.Received, visibility time.Duration) *fakeQueue {
	q := &fakeQueue{visibility: visibility, change: make(chan struct{})}
	for p := range log {
		for _, r := range log[p] {
			q.ready = append(q.ready, &fakeRecord{Received: r, partition: int32(p)})
		}
	}
	q.all = slices.Clone(q.ready)
	return q
}

func (q *fakeQueue) open(int) (Queue, error) {
	m := &fakeQueueMember{queue: q}
	q.members = append(q.members, m)
	return m, nil
}

func (q *fakeQueue) put(r *fakeRecord) {
	r.holder = nil
	if q.most > 0 && r.attempt >= q.most {
		go q.dead(r.Value)
		return
	}
	q.ready = append(q.ready, r)
	close(q.change)
	q.change = make(chan struct{})
}

func (q *fakeQueue) lend(r *fakeRecord, to *fakeQueueMember) {
	r.holder, r.attempt, r.lease = to, r.attempt+1, r.lease+1
	lease := r.lease
	if q.visibility == 0 {
		return
	}
	time.AfterFunc(q.visibility-q.early, func() {
		q.mu.Lock()
		defer q.mu.Unlock()
		if r.holder == to && r.lease == lease {
			to.counts.Expired++
			q.put(r)
		}
	})
}

func (m *fakeQueueMember) Receive(ctx context.Context, max int) (Lot, error) {
	q := m.queue
	for {
		q.mu.Lock()
		if m.closed {
			q.mu.Unlock()
			return nil, errors.New("closed")
		}
		n := min(max, len(q.ready))
		taken := slices.Clone(q.ready[:n])
		q.ready = q.ready[n:]
		lot := &fakeLot{member: m}
		for _, r := range taken {
			q.lend(r, m)
			lot.records = append(lot.records, r)
			lot.leases = append(lot.leases, r.lease)
			lot.deadlines = append(lot.deadlines, time.Now().Add(q.visibility))
		}
		change := q.change
		q.mu.Unlock()
		if n > 0 {
			return lot, nil
		}
		select {
		case <-change:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

func (m *fakeQueueMember) Run(ctx context.Context, handlers int, handle func(Lot) error) error {
	var running sync.WaitGroup
	defer running.Wait()
	room := make(chan struct{}, handlers)
	for {
		lot, err := m.Receive(ctx, 1)
		if err != nil {
			return err
		}
		room <- struct{}{}
		running.Go(func() {
			defer func() { <-room }()
			if err := handle(lot); err != nil {
				_ = lot.Nack(ctx, 0, 0)
			}
		})
	}
}

func (m *fakeQueueMember) Counts() snapshot.QueueCounts {
	m.queue.mu.Lock()
	defer m.queue.mu.Unlock()
	return m.counts
}

func (m *fakeQueueMember) Kill() {
	q := m.queue
	q.mu.Lock()
	m.killed = true
	if !q.frees {
		q.mu.Unlock()
		return
	}
	for _, r := range q.all {
		if r.holder == m {
			r.holder = nil
			q.ready = slices.Insert(q.ready, 0, r)
		}
	}
	q.mu.Unlock()
	time.Sleep(time.Second)
}

func (m *fakeQueueMember) Close(context.Context) error {
	m.queue.mu.Lock()
	defer m.queue.mu.Unlock()
	m.closed = true
	return nil
}

type fakeLot struct {
	member    *fakeQueueMember
	records   []*fakeRecord
	leases    []int
	deadlines []time.Time
}

func (l *fakeLot) Len() int { return len(l.records) }

func (l *fakeLot) At(i int) Lent {
	r := l.records[i]
	lent := Lent{Partition: r.partition, Value: r.Value, Attempt: r.attempt}
	if l.member.queue.visibility > 0 {
		lent.Deadline = l.deadlines[i]
	}
	return lent
}

func (l *fakeLot) take(i int, then func(*fakeRecord)) error {
	q, r := l.member.queue, l.records[i]
	q.mu.Lock()
	defer q.mu.Unlock()
	switch {
	case l.member.killed || l.member.closed:
		return context.Canceled
	case r.holder != l.member || r.lease != l.leases[i]:
		return ErrLockExpired
	}
	then(r)
	return nil
}

func (l *fakeLot) Ack(_ context.Context, i int) error {
	return l.take(i, func(r *fakeRecord) {
		if f := l.member.forget; f == nil || !f(r) {
			r.holder = nil
		}
	})
}

func (l *fakeLot) Nack(_ context.Context, i int, delay time.Duration) error {
	return l.take(i, func(r *fakeRecord) {
		r.holder = nil
		time.AfterFunc(delay, func() {
			l.member.queue.mu.Lock()
			defer l.member.queue.mu.Unlock()
			l.member.queue.put(r)
		})
	})
}
