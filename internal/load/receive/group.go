package receive

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"kafkabench.example/kafka-bench/internal/kafka/driver"
	"kafkabench.example/kafka-bench/internal/load"
	"kafkabench.example/kafka-bench/internal/measure/latency"
	"kafkabench.example/kafka-bench/internal/measure/ledger"
	"kafkabench.example/kafka-bench/internal/measure/snapshot"
)

// Config configures a consumer group.
type Config struct {
	Driver driver.Driver
	// Client is the configuration of each member's client. The group sets the callbacks and appends the member's
	// number to the client ID.
	Client driver.ConsumerConfig
	SameID bool // no number is appended
	// Manual assigns partitions in turn, without a group at the brokers and without commits.
	Manual  bool
	Members int // opened at the start, with numbers from 0
	// Only lists the members in this process; nil is all. Late says that the rest of the group started earlier.
	Only []int
	Late bool
	// Numbers bounds the numbers that Start may open; at least Members.
	Numbers   int
	Producers int // including those that filled the topic
	// Filled is how many of the producers filled the topic. They have the last numbers, and their records have no
	// times.
	Filled      int
	Partitions  int
	From        []int64 // first offset of each partition; nil is zero
	ByPartition bool    // each partition has a worker; else each member
	Plan        load.Plan
	CommitEvery time.Duration // 0: after each batch
	PollTimeout time.Duration // a poll without records ends after it and counts as empty; 0: never
	Seed        uint64

	// Hold keeps the members from fetching until Release; the driver must be a driver.Pauser.
	Hold bool

	Axis *load.Axis
	// Offsets convert stamps from the producers' clocks to the Axis; nil: all use one clock.
	Offsets    load.Offsets
	Stamped    bool
	ClosedLoop bool
	Run        uint32

	Elsewhere []Handed // what other processes received before

	// OnEvent may be called by several goroutines at once.
	OnEvent func(Event)
}

// Event is a rebalance or an error. Data repeats What for programs, and may be nil.
type Event struct {
	Kind, What, Reason string
	Data               map[string]any
}

// Group is a consumer group of real members with the application behind them. Members may leave, vanish and join
// while it runs.
type Group struct {
	cfg  Config
	axis *load.Axis
	partitions
	places      []*place
	members     *load.Roster[*member]
	workers     []*worker
	commitEvery time.Duration
	idle        bool
	manual      bool
	event       func(Event)

	holding atomic.Bool
	change  chan struct{}
	alive   context.Context
	end     context.CancelFunc

	buried sync.WaitGroup

	mu     sync.Mutex
	failed error
}

type place struct {
	recorder *latency.Recorder
	worker   *worker // nil if each partition has a worker

	mu    sync.Mutex
	share snapshot.Share
}

func (p *place) had(records, bytes, now int64) {
	p.mu.Lock()
	p.share.Add(records, bytes, now, now)
	p.mu.Unlock()
}

// Start opens the members, which begin to poll. On an error it leaves nothing running.
func Start(cfg Config) (*Group, error) {
	g := &Group{
		cfg: cfg, axis: cfg.Axis, commitEvery: cfg.CommitEvery, idle: cfg.Plan.None(),
		manual: cfg.Manual,
		event:  cfg.OnEvent, change: make(chan struct{}, 1),
	}
	g.alive, g.end = context.WithCancel(context.Background())
	g.holding.Store(cfg.Hold)
	for id := range cfg.Partitions {
		p := &partition{
			id: int32(id), stamped: cfg.Stamped, offsets: cfg.Offsets, at: snapshot.NeverHanded,
			receiver: ledger.NewReceiver(int32(id), cfg.Producers), handed: load.NewGapWatch(cfg.Partitions),
		}
		if cfg.From != nil {
			p.next = cfg.From[id]
		}
		if cfg.ByPartition {
			p.worker = g.newWorker(cfg)
		}
		g.partitions = append(g.partitions, p)
	}
	g.Elsewhere(cfg.Elsewhere)
	for number := range max(cfg.Members, cfg.Numbers) {
		p := &place{recorder: latency.NewRecorder(latency.PollTime), share: snapshot.Share{Number: number}}
		if !cfg.ByPartition {
			p.worker = g.newWorker(cfg)
		}
		g.places = append(g.places, p)
	}
	g.members = load.NewRoster[*member](len(g.places))
	for _, number := range cfg.opened() {
		if err := g.join(number, cfg.Late); err != nil {
			g.Stop(context.Background())
			return nil, err
		}
	}
	return g, nil
}

func (cfg Config) opened() []int {
	if cfg.Only != nil {
		return cfg.Only
	}
	all := make([]int, cfg.Members)
	for i := range all {
		all[i] = i
	}
	return all
}

func (cfg Config) handOut(member int) map[int32]int64 {
	share := make(map[int32]int64)
	for id := member; id < cfg.Partitions; id += cfg.Members {
		share[int32(id)] = 0
		if cfg.From != nil {
			share[int32(id)] = cfg.From[id]
		}
	}
	return share
}

func (g *Group) newWorker(cfg Config) *worker {
	w := &worker{
		axis: cfg.Axis, server: load.NewServer(cfg.Axis, cfg.Plan, cfg.Seed, uint64(len(g.workers))),
		idle: cfg.Plan.None(), stamped: cfg.Stamped,
		open: !cfg.ClosedLoop, timed: cfg.Producers - cfg.Filled, run: cfg.Run, offsets: cfg.Offsets,
		handling: make(chan struct{}, 1),
		recorder: latency.NewRecorder(latency.E2EServiceTime, latency.E2EResponseTime, latency.ProcessedResponseTime),
	}
	g.workers = append(g.workers, w)
	return w
}

func (g *Group) join(number int, late bool) error {
	var m *member
	err := g.members.Join(number, func() (*member, error) {
		m = newMember(g, number, late)
		return m, g.open(m)
	})
	if err == nil && g.cfg.Hold && !g.holding.Load() {
		m.release() // Release came before the member was present
	}
	return err
}

func (g *Group) open(m *member) error {
	if err := m.open(g.cfg.Driver); err != nil {
		m.cancel()
		return err
	}
	if _, able := m.client.(driver.Pauser); !able && g.cfg.Hold {
		m.leave(g.alive)
		return fmt.Errorf("the driver %s cannot pause partitions, so consumers cannot be held", g.cfg.Driver.Name())
	}
	m.running.Go(func() {
		if err := m.poll(m.alive); err != nil {
			g.fail(err)
		}
	})
	if g.commitEvery > 0 && !g.manual {
		m.running.Go(func() { m.commitLoop(m.alive) })
	}
	return nil
}

// Release lets held members fetch.
func (g *Group) Release() {
	if !g.holding.Swap(false) {
		return
	}
	for _, m := range g.members.Present() {
		m.release()
	}
}

func (g *Group) fail(err error) {
	g.mu.Lock()
	if g.failed == nil {
		g.failed = err
	}
	g.mu.Unlock()
	g.failure("a consumer ended", err)
	g.changed()
}

func (g *Group) failure(what string, err error) {
	g.event(Event{Kind: "error", What: what, Reason: err.Error()})
}

func (g *Group) stopping() bool { return g.alive.Err() != nil }

// Err returns the first error that ended a member early, or nil.
func (g *Group) Err() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.failed
}

func (g *Group) changed() {
	select {
	case g.change <- struct{}{}:
	default:
	}
}

// AwaitReady waits until every partition is assigned and, if there are enough partitions, every member has one.
func (g *Group) AwaitReady(ctx context.Context) error {
	for {
		if err := g.Err(); err != nil {
			return err
		}
		owned, idle := g.Assigned()
		if owned == len(g.partitions) && idle <= max(0, g.cfg.Members-len(g.partitions)) {
			return nil
		}
		select {
		case <-g.change:
		case <-time.After(100 * time.Millisecond): // a revocation does not fill the channel
		case <-ctx.Done():
			return fmt.Errorf("the consumers are not ready: "+
				"%d of %d partitions are assigned and %d of %d consumers have none: %w", owned, len(g.partitions), idle, g.cfg.Members, ctx.Err())
		}
	}
}

// Assigned returns the number of partitions assigned here, and of members here without a partition.
func (g *Group) Assigned() (partitions, idle int) {
	for _, m := range g.members.Present() {
		n := int(m.size.Load())
		partitions += n
		if n == 0 {
			idle++
		}
	}
	return partitions, idle
}

// Held returns the partitions assigned to members here, ascending.
func (g *Group) Held() (partitions []int32) {
	for _, m := range g.members.Present() {
		for _, a := range m.held(nil) {
			partitions = append(partitions, a.partition.id)
		}
	}
	slices.Sort(partitions)
	return partitions
}

// Stop ends the members: each makes a last commit and leaves, and current work is given up. All goroutines have
// ended when it returns. If ctx ends, commits are given up too.
func (g *Group) Stop(ctx context.Context) {
	g.end()
	if g.members.Close(func(m *member) { m.leave(ctx) }) {
		g.buried.Wait()
	}
}

// AddTo adds the group's histograms to a collector, including those of members that may still start.
func (g *Group) AddTo(c *latency.Collector) {
	for _, w := range g.workers {
		c.Add(w.recorder)
	}
	for _, p := range g.places {
		c.Add(p.recorder)
	}
}

// Received returns the counts of all workers together.
func (g *Group) Received() snapshot.Received {
	var sum snapshot.Received
	for _, w := range g.workers {
		w.recorder.Lock()
		sum.Add(w.counts)
		w.recorder.Unlock()
	}
	return sum
}

// Counts returns what all members, former ones included, did as clients.
func (g *Group) Counts() snapshot.MemberCounts {
	var sum snapshot.MemberCounts
	for _, m := range g.members.Ever() {
		sum.Polls += m.counts.polls.Load()
		sum.EmptyPolls += m.counts.empty.Load()
		sum.Commits += m.counts.commits.Load()
		sum.CommitErrors += m.counts.commitErrors.Load()
		sum.CommitTime += time.Duration(m.counts.commitNs.Load())
		sum.Rebalances += m.counts.rebalances.Load()
	}
	return sum
}

// Working reports whether a consumer is processing a record.
func (g *Group) Working() bool {
	return slices.ContainsFunc(g.workers, func(w *worker) bool { return len(w.handling) > 0 })
}

// Workers returns how many records can be processed at once if every possible member is present.
func (g *Group) Workers() int { return len(g.workers) }

// Settings returns the effective settings of a member's client.
func (g *Group) Settings() []driver.Setting { return g.members.Ever()[0].client.Settings() }
