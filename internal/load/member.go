package load

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"kafka-bench/internal/driver"
	"kafka-bench/internal/latency"
)

// assignment is one partition in the hands of one member.
type assignment struct {
	partition *partition
	worker    *worker
	ended     bool // guarded by the worker's handling
	// processed is the offset after the last record processed, what may be
	// committed; committed is what was.
	processed atomic.Int64
	committed int64

	// Parallel by partition only.
	inbox  *inbox
	paused atomic.Bool
	worked sync.WaitGroup
}

// end takes the partition away: what is being worked on is finished first, what
// waits is dropped.
func (a *assignment) end() {
	if a.inbox != nil {
		a.inbox.close()
	}
	a.worker.handling <- struct{}{}
	a.ended = true
	<-a.worker.handling
	a.worked.Wait()
}

// MemberCounts are what the members of a group did as clients.
type MemberCounts struct {
	Polls, EmptyPolls     int64
	Commits, CommitErrors int64
	Rebalances            int64 // assignments and revocations after the first assignment
}

// member is one consumer of the group, with its polling goroutine and, if
// commits are timed, its committing one.
type member struct {
	id       int
	group    *Group
	client   driver.Consumer
	recorder *latency.Recorder // poll times
	worker   *worker           // parallel by consumer: the one worker

	mu       sync.Mutex // guards owned; held while a commit is made
	owned    map[int32]*assignment
	assigned atomic.Int64 // times that partitions came
	size     atomic.Int64 // partitions owned

	counts struct{ polls, empty, commits, commitErrors, rebalances atomic.Int64 }
}

// open opens the client. The client may call back before it is returned, so the
// callbacks are made to wait for the lock.
func (m *member) open(d driver.Driver, cfg driver.ConsumerConfig) (err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.client, err = d.NewConsumer(cfg); err != nil {
		return fmt.Errorf("opening consumer %d: %w", m.id, err)
	}
	return nil
}

func (m *member) onAssigned(partitions []int32) {
	if len(partitions) == 0 {
		return
	}
	m.mu.Lock()
	for _, id := range partitions {
		if int(id) < len(m.group.partitions) { // others were added to the topic since the run began
			m.take(id)
		}
	}
	m.size.Store(int64(len(m.owned)))
	m.mu.Unlock()
	if m.assigned.Add(1) > 1 {
		m.counts.rebalances.Add(1)
	}
	m.group.event("rebalance", fmt.Sprintf("consumer %d was assigned partitions %v", m.id, partitions), "")
	m.group.changed()
}

// take starts an assignment; the caller holds the lock.
func (m *member) take(id int32) {
	p := m.group.partitions[id]
	a := &assignment{partition: p, worker: m.worker}
	if a.worker == nil {
		a.worker, a.inbox = p.worker, newInbox()
		a.worked.Go(func() { m.work(a) })
	}
	m.owned[id] = a
}

func (m *member) onRevoked(partitions []int32, lost bool) {
	if len(partitions) == 0 {
		return
	}
	m.end(m.held(partitions))
	m.mu.Lock()
	defer m.mu.Unlock()
	if !lost {
		m.commit(context.Background())
	}
	for _, id := range partitions {
		delete(m.owned, id)
	}
	m.size.Store(int64(len(m.owned)))
	if m.group.stopping.Load() {
		return
	}
	m.counts.rebalances.Add(1)
	how := "gave up"
	if lost {
		how = "lost"
	}
	m.group.event("rebalance", fmt.Sprintf("consumer %d %s partitions %v", m.id, how, partitions), "")
}

// held returns the assignments of these partitions, or all if there are none.
func (m *member) held(partitions []int32) []*assignment {
	m.mu.Lock()
	defer m.mu.Unlock()
	var held []*assignment
	for id, a := range m.owned {
		if partitions == nil || slices.Contains(partitions, id) {
			held = append(held, a)
		}
	}
	return held
}

// end ends assignments, all at the same time. The lock is not held: others need
// it to finish their work.
func (m *member) end(assignments []*assignment) {
	var ending sync.WaitGroup
	for _, a := range assignments {
		ending.Go(a.end)
	}
	ending.Wait()
}

func (m *member) assignment(id int32) *assignment {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.owned[id]
}

// poll runs until the context ends or the client is of no more use.
func (m *member) poll(ctx context.Context) error {
	for ctx.Err() == nil {
		before := m.group.axis.Now()
		chunks, err := m.client.Poll(ctx)
		there := m.group.axis.Now()
		if err != nil {
			if ctx.Err() != nil {
				break
			}
			return fmt.Errorf("consumer %d: %w", m.id, err)
		}
		if len(chunks) == 0 {
			m.counts.empty.Add(1)
			continue
		}
		m.countPoll(before, there)
		for _, c := range chunks {
			m.route(parcel{c, there})
		}
		if m.group.commitEvery == 0 && m.worker != nil {
			m.lockedCommit(ctx)
		}
	}
	return nil
}

func (m *member) countPoll(before, there int64) {
	m.counts.polls.Add(1)
	m.recorder.Lock()
	defer m.recorder.Unlock()
	m.recorder.Record(before >= 0, latency.PollTime, there-before)
}

// route gives a chunk to whoever works on its partition.
func (m *member) route(c parcel) {
	a := m.assignment(c.Partition)
	switch {
	case a == nil || len(c.Records) == 0:
		c.free()
	case a.inbox != nil:
		if a.inbox.put(c) {
			m.pause(a)
		}
	default:
		m.workThrough(a, c)
	}
}

func (m *member) pause(a *assignment) {
	pauser, able := m.client.(driver.Pauser)
	if !able || !a.paused.CompareAndSwap(false, true) {
		return
	}
	pauser.Pause(a.partition.id)
	if a.inbox.done(0) { // the worker may have caught up meanwhile
		m.resume(a)
	}
}

func (m *member) resume(a *assignment) {
	if pauser, able := m.client.(driver.Pauser); able && a.paused.CompareAndSwap(true, false) {
		pauser.Resume(a.partition.id)
	}
}

// work is the goroutine of one partition.
func (m *member) work(a *assignment) {
	for {
		c, ok := a.inbox.take()
		if !ok {
			return
		}
		m.workThrough(a, c)
		if m.group.commitEvery == 0 {
			m.tryCommit()
		}
	}
}

func (m *member) workThrough(a *assignment, c parcel) {
	defer c.free()
	for records := c.Records; len(records) > 0; {
		n := a.worker.handle(a, records, c.there)
		if n == 0 {
			return
		}
		records = records[n:]
		if a.inbox != nil && a.inbox.done(n) {
			m.resume(a)
		}
	}
}

// commitLoop commits what was processed at the group's interval.
func (m *member) commitLoop(ctx context.Context) {
	tick := time.NewTicker(m.group.commitEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			m.lockedCommit(ctx)
		}
	}
}

func (m *member) lockedCommit(ctx context.Context) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.commit(ctx)
}

// tryCommit commits unless a commit or a rebalance is under way, which would
// wait for the caller.
func (m *member) tryCommit() {
	if m.mu.TryLock() {
		defer m.mu.Unlock()
		m.commit(context.Background())
	}
}

// commitTimeout bounds one commit, so that a broker that does not answer cannot
// hold up a rebalance or the end of a run.
const commitTimeout = 10 * time.Second

// commit commits what was processed since the last commit. The caller holds the
// lock.
func (m *member) commit(ctx context.Context) {
	offsets := make(map[int32]int64)
	for id, a := range m.owned {
		if next := a.processed.Load(); next > a.committed {
			offsets[id] = next
		}
	}
	if len(offsets) == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, commitTimeout)
	defer cancel()
	if err := m.client.Commit(ctx, offsets); err != nil {
		if !errors.Is(err, context.Canceled) {
			m.counts.commitErrors.Add(1)
			m.group.event("error", fmt.Sprintf("consumer %d could not commit", m.id), err.Error())
		}
		return
	}
	m.counts.commits.Add(1)
	for id, next := range offsets {
		m.owned[id].committed = next
	}
}
