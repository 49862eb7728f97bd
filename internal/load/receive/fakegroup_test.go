package receive

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"kafkabench.example/kafka-bench/internal/kafka/driver"
)

// fakeGroup assigns partitions in order of joining, moves them when members poll, and reassigns those of a killed
// member after the session timeout.
type fakeGroup struct {
	*fakeKafka
	session time.Duration

	mu        sync.Mutex
	members   []*fakeMember
	joined    time.Time
	owner     []*fakeMember // nil: unassigned
	committed []int64
}

func newFakeGroup(kafka *fakeKafka, session time.Duration) *fakeGroup {
	return &fakeGroup{
		fakeKafka: kafka, session: session,
		owner: make([]*fakeMember, len(kafka.log)), committed: make([]int64, len(kafka.log)),
	}
}

func (g *fakeGroup) NewConsumer(cfg driver.ConsumerConfig) (driver.Consumer, error) {
	m := &fakeMember{group: g, cfg: cfg, next: make([]int64, len(g.log)), killed: make(chan struct{})}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.members, g.joined = append(g.members, m), time.Now()
	return m, nil
}

func (g *fakeGroup) heir(p int) *fakeMember { return g.members[p%len(g.members)] }

func (g *fakeGroup) committedAt() []int64 {
	g.mu.Lock()
	defer g.mu.Unlock()
	return slices.Clone(g.committed)
}

func (g *fakeGroup) size() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return len(g.members)
}

func (g *fakeGroup) remove(m *fakeMember) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.members = slices.DeleteFunc(g.members, func(o *fakeMember) bool { return o == m })
	for p, owner := range g.owner {
		if owner == m {
			g.owner[p] = nil
		}
	}
}

type fakeMember struct {
	group  *fakeGroup
	cfg    driver.ConsumerConfig
	next   []int64 // only the polling goroutine uses it
	killed chan struct{}
}

var errFakeKilled = errors.New("it was killed")

func (m *fakeMember) dead() bool {
	select {
	case <-m.killed:
		return true
	default:
		return false
	}
}

const pollEvery = 5 * time.Millisecond

func (m *fakeMember) Poll(ctx context.Context) ([]driver.Chunk, error) {
	for ctx.Err() == nil && !m.dead() {
		m.rebalance()
		if chunks := m.fetch(); len(chunks) > 0 && !m.dead() {
			return chunks, nil
		}
		time.Sleep(pollEvery)
	}
	if m.dead() {
		return nil, errFakeKilled
	}
	return nil, nil
}

// rebalance waits for members that join at the same moment, so that their order does not matter.
func (m *fakeMember) rebalance() {
	g := m.group
	g.mu.Lock()
	if time.Since(g.joined) < pollEvery {
		g.mu.Unlock()
		return
	}
	var lost, won []int32
	for p, owner := range g.owner {
		switch heir := g.heir(p); {
		case owner == m && heir != m:
			lost = append(lost, int32(p))
		case owner == nil && heir == m:
			won = append(won, int32(p))
			g.owner[p], m.next[p] = m, g.committed[p]
		}
	}
	g.mu.Unlock()
	if len(lost) > 0 {
		m.cfg.OnRevoked(lost, false)
		g.mu.Lock()
		for _, p := range lost {
			g.owner[p] = nil
		}
		g.mu.Unlock()
	}
	if len(won) > 0 {
		m.cfg.OnAssigned(won)
	}
}

const fetchMost = 10

func (m *fakeMember) fetch() (chunks []driver.Chunk) {
	m.group.mu.Lock()
	defer m.group.mu.Unlock()
	for p, owner := range m.group.owner {
		log := m.group.log[p]
		if from := m.next[p]; owner == m && from < int64(len(log)) {
			to := min(from+fetchMost, int64(len(log)))
			chunks = append(chunks, driver.Chunk{Partition: int32(p), Records: log[from:to:to]})
			m.next[p] = to
		}
	}
	return chunks
}

func (m *fakeMember) Commit(_ context.Context, offsets map[int32]int64) error {
	if m.dead() {
		return errFakeKilled
	}
	m.group.mu.Lock()
	defer m.group.mu.Unlock()
	for p, at := range offsets {
		if m.group.owner[p] != m {
			return errors.New("it is another member's")
		}
		m.group.committed[p] = at
	}
	return nil
}

func (m *fakeMember) Kill() {
	close(m.killed)
	time.AfterFunc(m.group.session, func() { m.group.remove(m) })
}

func (m *fakeMember) Close() {
	if m.dead() {
		return
	}
	var owned []int32
	m.group.mu.Lock()
	for p, owner := range m.group.owner {
		if owner == m {
			owned = append(owned, int32(p))
		}
	}
	m.group.mu.Unlock()
	if len(owned) > 0 {
		m.cfg.OnRevoked(owned, false)
	}
	m.group.remove(m)
}

func (m *fakeMember) Settings() []driver.Setting { return nil }
