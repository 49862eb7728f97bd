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

// Config says what a group of consumers is.
type Config struct {
	Driver driver.Driver
	// Client is what each member is opened with; the group sets the callbacks
	// and appends the member's number to the client ID.
	Client driver.ConsumerConfig
	// Manual has no group at the brokers: the members have their partitions
	// assigned by hand, shared out in turn, and commit nothing.
	Manual  bool
	Members int // that are opened at the start, with the numbers from 0 on
	// Only are the numbers of the members that are opened here, where the others are
	// in other processes, and Late tells that the rest of the group has started before
	// them; nil is all. Each process has what it takes for any member.
	Only []int
	Late bool
	// Numbers bounds the numbers of the members that Start may open; 0, or less
	// than Members, is Members.
	Numbers   int
	Producers int // on the sending side, those included that filled the topic
	// Filled is how many of them did, the last ones by their numbers. What they sent
	// was there before anybody was to read it: it is in the books and has no times.
	Filled      int
	Partitions  int
	From        []int64 // the offset where each partition starts; nil is zero
	ByPartition bool    // one worker for each partition; otherwise one for each member
	Plan        load.Plan
	CommitEvery time.Duration // 0: after each batch
	PollTimeout time.Duration // after which a poll without records ends as an empty one; 0: never
	Seed        uint64

	// Hold keeps the members from fetching until Release; the driver must be
	// able to pause.
	Hold bool

	Axis *load.Axis
	// Offsets lead from the clocks of the producers to the Axis; nil is one clock for all.
	Offsets    load.Offsets
	Stamped    bool
	ClosedLoop bool
	Run        uint32

	// Elsewhere is what was handed over in other processes before.
	Elsewhere []Handed

	// OnEvent is told of rebalances and errors; it may be called from several
	// goroutines.
	OnEvent func(Event)
}

// Event is something that happened in a group. Data says the same for programs; nil: nothing.
type Event struct {
	Kind, What, Reason string
	Data               map[string]any
}

// Group is a consumer group of real members with the application behind them.
// While it runs, members may leave it, vanish and join.
type Group struct {
	cfg         Config
	axis        *load.Axis
	partitions           // what is known of each, by number
	places      []*place // by the numbers of members
	members     *load.Roster[*member]
	workers     []*worker
	commitEvery time.Duration
	idle        bool // no record ever costs anything
	manual      bool // without a group at the brokers
	event       func(Event)

	holding atomic.Bool   // what is assigned is paused
	change  chan struct{} // filled when an assignment changed
	// alive ends with Stop.
	alive context.Context
	end   context.CancelFunc

	buried sync.WaitGroup // what is left of killed members, until it has ended

	mu     sync.Mutex
	failed error // the first error that ended a member
}

// A place is what a group keeps for a member's number, whichever member has it: members
// come and go, and their figures stay.
type place struct {
	recorder *latency.Recorder // poll times
	worker   *worker           // parallel by consumer: the one worker; else nil

	mu    sync.Mutex // several workers may have partitions of one member
	share snapshot.Share
}

// had notes that the member was handed records, in the measured window or later.
func (p *place) had(records, bytes, now int64) {
	p.mu.Lock()
	p.share.Add(records, bytes, now, now)
	p.mu.Unlock()
}

// Start opens the members and lets them poll. On an error nothing is left
// running.
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

// opened are the numbers of the members that are opened at the start.
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

// handOut is a member's share of the partitions where no group gives it one, with
// the offsets to start at.
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

// join has a member join under a number; it comes late if the group has started.
func (g *Group) join(number int, late bool) error {
	var m *member
	err := g.members.Join(number, func() (*member, error) {
		m = newMember(g, number, late)
		return m, g.open(m)
	})
	if err == nil && g.cfg.Hold && !g.holding.Load() {
		m.release() // the group was let go before the member had its place
	}
	return err
}

// open opens a member's client and starts its goroutines.
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

// Release lets the members fetch that were held. Calling it again does nothing.
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

// failure tells of an error.
func (g *Group) failure(what string, err error) {
	g.event(Event{Kind: "error", What: what, Reason: err.Error()})
}

// stopping reports whether the group is being stopped, or was.
func (g *Group) stopping() bool { return g.alive.Err() != nil }

// Err is the error that ended a member before its time, if any.
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

// AwaitReady waits until every partition is assigned and every member that can
// have one has one.
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

// Assigned counts the partitions that have an owner here and the members here that
// have no partition.
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

// Held are the partitions that members here have.
func (g *Group) Held() (partitions []int32) {
	for _, m := range g.members.Present() {
		for _, a := range m.held(nil) {
			partitions = append(partitions, a.partition.id)
		}
	}
	slices.Sort(partitions)
	return partitions
}

// Stop ends the members: a last commit is made of what is processed, the group is
// left, and every goroutine has ended when it returns. Work at hand is given up.
// When ctx ends, commits are given up too.
func (g *Group) Stop(ctx context.Context) {
	g.end()
	if g.members.Close(func(m *member) { m.leave(ctx) }) {
		g.buried.Wait()
	}
}

// AddTo has a collector gather the histograms of the group, those of members that may still
// be started included.
func (g *Group) AddTo(c *latency.Collector) {
	for _, w := range g.workers {
		c.Add(w.recorder)
	}
	for _, p := range g.places {
		c.Add(p.recorder)
	}
}

// Received are the counts of all workers together.
func (g *Group) Received() snapshot.Received {
	var sum snapshot.Received
	for _, w := range g.workers {
		w.recorder.Lock()
		sum.Add(w.counts)
		w.recorder.Unlock()
	}
	return sum
}

// Counts are what the members did as clients, those that are gone included.
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

// Working tells whether a record that was handed over is still worked on.
func (g *Group) Working() bool {
	return slices.ContainsFunc(g.workers, func(w *worker) bool { return len(w.handling) > 0 })
}

// Workers is how many records can be worked on at once when every member is there
// that ever is.
func (g *Group) Workers() int { return len(g.workers) }

// Settings are the effective settings of a member's client.
func (g *Group) Settings() []driver.Setting { return g.members.Ever()[0].client.Settings() }
