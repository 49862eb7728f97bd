package receive

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"kafkabench.example/kafka-bench/internal/kafka/driver"
	"kafkabench.example/kafka-bench/internal/load"
	"kafkabench.example/kafka-bench/internal/measure/latency"
)

type assignment struct {
	partition *partition
	place     *place
	worker    *worker
	halt      *load.Halt
	alive     <-chan struct{} // closed when the member is to end
	cut       <-chan struct{} // closed when the member is killed or the group stopped
	// The worker's handling guards these fields. from is the offset of the first delivered record,
	// handed the offset after the last.
	ended        bool
	from, handed int64
	// processed is the offset after the last processed record and the control records behind it.
	processed atomic.Int64
	committed int64

	// nil if the polling goroutine does the work.
	inbox    *inbox
	worked   sync.WaitGroup
	fetching sync.Mutex // held while the client pauses or resumes
	paused   bool       // guarded by fetching
}

// end drops waiting records and, unless the member was killed, first finishes the current work.
func (a *assignment) end() {
	if a.inbox != nil {
		a.inbox.close()
	}
	a.worker.handling <- struct{}{}
	a.ended = true
	<-a.worker.handling
	a.worked.Wait()
}

type member struct {
	id       int
	late     bool
	group    *Group
	client   driver.Consumer
	place    *place
	recorder *latency.Recorder
	worker   *worker // nil if each partition has a worker
	halt     load.Halt

	mu         sync.Mutex // guards owned and its committed offsets
	owned      map[int32]*assignment
	committing sync.Mutex // taken before mu
	assigned   atomic.Int64
	size       atomic.Int64

	counts struct{ polls, empty, commits, commitErrors, commitNs, rebalances atomic.Int64 }

	life    context.Context // ends when the member is killed or the group stopped
	die     context.CancelFunc
	alive   context.Context // ends when the member leaves, or with life
	cancel  context.CancelFunc
	running sync.WaitGroup
	dead    atomic.Bool // set before life ends
}

func newMember(g *Group, number int, late bool) *member {
	m := &member{
		id: number, late: late, group: g, owned: make(map[int32]*assignment),
		place: g.places[number], recorder: g.places[number].recorder, worker: g.places[number].worker,
	}
	m.life, m.die = context.WithCancel(g.alive)
	m.alive, m.cancel = context.WithCancel(m.life)
	return m
}

// maxPollRecords is Kafka's default. With larger polls the group could remove a member that works between polls.
const maxPollRecords = 500

func (m *member) config() driver.ConsumerConfig {
	g, client := m.group, m.group.cfg.Client
	if !g.cfg.SameID {
		client.ClientID = fmt.Sprintf("%s-consumer-%d", client.ClientID, m.id)
	}
	client.OnAssigned, client.OnRevoked = m.onAssigned, m.onRevoked
	if g.manual {
		client.Group, client.Protocol, client.Partitions = "", "", g.cfg.handOut(m.id)
	}
	if m.worker != nil && !m.worker.idle {
		client.MaxPollRecords = maxPollRecords
	}
	client.OnError = func(err error) { g.failure(fmt.Sprintf("consumer %d", m.id), err) }
	return client
}

// open holds no lock while the client opens, because the client may call back before NewConsumer
// returns. Then open pauses the partitions assigned so far if the group is held.
func (m *member) open(d driver.Driver) error {
	client, err := d.NewConsumer(m.config())
	if err != nil {
		return fmt.Errorf("opening consumer %d: %w", m.id, err)
	}
	m.mu.Lock()
	m.client = client
	early := slices.Collect(maps.Keys(m.owned))
	m.mu.Unlock()
	m.hold(client, early)
	return nil
}

// hold pauses partitions that were assigned while the group is held.
//
// It holds no lock while it calls the client, which may hold its own during callbacks. Release clears holding and
// then resumes; hold pauses and then checks holding again. So the later of the two sees the other's effect.
func (m *member) hold(client driver.Consumer, partitions []int32) {
	pauser, able := client.(driver.Pauser)
	if !able || len(partitions) == 0 || !m.group.holding.Load() {
		return
	}
	pauser.Pause(partitions...)
	if !m.group.holding.Load() {
		pauser.Resume(partitions...)
	}
}

func (m *member) onAssigned(partitions []int32) {
	if len(partitions) == 0 {
		return
	}
	m.mu.Lock()
	if m.dead.Load() {
		m.mu.Unlock()
		return
	}
	for _, id := range partitions {
		if int(id) < len(m.group.partitions) { // the topic may have got more partitions since
			m.take(id)
		}
	}
	m.size.Store(int64(len(m.owned)))
	client := m.client // nil while open runs; open then calls hold itself
	m.mu.Unlock()
	m.hold(client, partitions) // the client fetches after onAssigned returns
	if m.assigned.Add(1) > 1 || m.late {
		m.counts.rebalances.Add(1)
	}
	m.rebalanced("was assigned", "assigned", partitions)
	m.group.changed()
}

// take requires mu.
func (m *member) take(id int32) {
	p := m.group.partitions[id]
	a := &assignment{partition: p, place: m.place, worker: m.worker, halt: &m.halt, alive: m.alive.Done(), cut: m.life.Done()}
	if a.worker == nil {
		a.worker = p.worker
	}
	if !m.inline() {
		a.inbox = newInbox()
		a.worked.Go(func() { m.work(a) })
	}
	m.owned[id] = a
}

func (m *member) release() {
	m.mu.Lock()
	owned := slices.Collect(maps.Keys(m.owned))
	m.mu.Unlock()
	if pauser, able := m.client.(driver.Pauser); able && len(owned) > 0 {
		pauser.Resume(owned...)
	}
}

func (m *member) inline() bool { return m.worker != nil || m.group.idle }

func (m *member) onRevoked(partitions []int32, lost bool) {
	if len(partitions) == 0 {
		return
	}
	m.end(m.held(partitions))
	if m.dead.Load() {
		return
	}
	if !lost && !m.group.stopping() { // Stop has made the last commit
		m.commit(context.Background())
	}
	m.mu.Lock()
	for _, id := range partitions {
		delete(m.owned, id)
	}
	m.size.Store(int64(len(m.owned)))
	m.mu.Unlock()
	if m.group.stopping() || m.dead.Load() {
		return
	}
	m.counts.rebalances.Add(1)
	how, change := "gave up", "revoked"
	if lost {
		how, change = "lost", "lost"
	}
	m.rebalanced(how, change, partitions)
}

func (m *member) rebalanced(how, change string, partitions []int32) {
	partitions = slices.Sorted(slices.Values(partitions))
	e := Event{Kind: "rebalance", What: fmt.Sprintf("consumer %d %s partitions %v", m.id, how, partitions)}
	e.Data = map[string]any{"consumer": m.id, "change": change, "partitions": partitions}
	if !m.group.manual { // a manual assignment has no group
		e.Data["group"] = m.group.cfg.Client.Group
	}
	m.group.event(e)
}

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

// end ends all assignments at the same time. The caller must not hold mu, which ending the work needs.
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

func (m *member) poll(ctx context.Context) error {
	for m.halt.Wait(ctx.Done()) && ctx.Err() == nil {
		before := time.Now()
		chunks, err := m.pollOnce(ctx)
		there, took := m.group.axis.Now(), time.Since(before)
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
		m.countPoll(there, took)
		for _, c := range chunks {
			m.route(parcel{c, there})
		}
		if m.group.commitEvery == 0 && m.inline() {
			m.commit(ctx)
		}
	}
	return nil
}

func (m *member) pollOnce(ctx context.Context) ([]driver.Chunk, error) {
	if timeout := m.group.cfg.PollTimeout; timeout > 0 {
		bounded, cancel := context.WithTimeout(ctx, timeout)
		defer cancel()
		ctx = bounded
	}
	return m.client.Poll(ctx)
}

// took is not measured on the axis, whose zero may be set during the poll.
func (m *member) countPoll(there int64, took time.Duration) {
	m.counts.polls.Add(1)
	m.recorder.Lock()
	defer m.recorder.Unlock()
	m.recorder.Record(there-int64(took) >= 0, latency.PollTime, int64(took))
}

func (m *member) route(c parcel) {
	a := m.assignment(c.Partition)
	switch {
	case a == nil || len(c.Records) == 0 && c.Next == 0:
		c.free()
	case a.inbox != nil:
		a.inbox.put(c)
		m.regulate(a)
	default:
		m.workThrough(a, c)
	}
}

// regulate holds one lock while it reads the inbox's size and calls Pause or Resume, so the last
// call matches the inbox.
func (m *member) regulate(a *assignment) {
	pauser, able := m.client.(driver.Pauser)
	if !able {
		return
	}
	a.fetching.Lock()
	defer a.fetching.Unlock()
	switch size := a.inbox.records(); {
	case !a.paused && size > inboxHigh:
		pauser.Pause(a.partition.id)
		a.paused = true
	case a.paused && size < inboxLow:
		pauser.Resume(a.partition.id)
		a.paused = false
	}
}

func (m *member) work(a *assignment) {
	for {
		c, ok := a.inbox.take()
		if !ok {
			return
		}
		m.workThrough(a, c)
		if m.group.commitEvery == 0 {
			m.tryCommit(context.Background())
		}
	}
}

func (m *member) workThrough(a *assignment, c parcel) {
	defer c.free()
	for records := c.Records; len(records) > 0; {
		if !a.halt.Wait(a.alive) {
			return
		}
		n := a.worker.handle(a, records, c.there)
		if n == 0 {
			return
		}
		records = records[n:]
		if a.inbox != nil {
			a.inbox.done(n)
			m.regulate(a)
		}
	}
	if c.Next > 0 {
		a.worker.pass(a, c.Next)
	}
}

func (m *member) commitLoop(ctx context.Context) {
	tick := time.NewTicker(m.group.commitEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			if !m.halt.Stands() {
				m.commit(ctx)
			}
		}
	}
}

func (m *member) tryCommit(ctx context.Context) {
	if m.committing.TryLock() {
		defer m.committing.Unlock()
		m.commitLocked(ctx)
	}
}

// commitTimeout keeps a silent broker from delaying a rebalance or the end of a run.
const commitTimeout = 10 * time.Second

func (m *member) commit(ctx context.Context) {
	m.committing.Lock()
	defer m.committing.Unlock()
	m.commitLocked(ctx)
}

// commitLocked requires committing.
func (m *member) commitLocked(ctx context.Context) {
	if m.group.manual || m.dead.Load() {
		return
	}
	offsets, owners := m.uncommitted()
	if len(offsets) == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, commitTimeout)
	defer cancel()
	asked := time.Now()
	if err := m.client.Commit(ctx, offsets); err != nil {
		if !errors.Is(err, context.Canceled) && !m.dead.Load() {
			m.counts.commitErrors.Add(1)
			m.group.failure(fmt.Sprintf("consumer %d could not commit", m.id), err)
		}
		return
	}
	m.counts.commits.Add(1)
	m.counts.commitNs.Add(int64(time.Since(asked)))
	m.mu.Lock()
	defer m.mu.Unlock()
	for id, next := range offsets {
		owners[id].committed = next
	}
}

func (m *member) uncommitted() (offsets map[int32]int64, owners map[int32]*assignment) {
	m.mu.Lock()
	defer m.mu.Unlock()
	offsets, owners = make(map[int32]int64), make(map[int32]*assignment)
	for id, a := range m.owned {
		if next := a.processed.Load(); next > a.committed {
			offsets[id], owners[id] = next, a
		}
	}
	return offsets, owners
}
