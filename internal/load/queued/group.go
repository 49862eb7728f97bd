package queued

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"kafkabench.example/kafka-bench/internal/kafka/driver"
	"kafkabench.example/kafka-bench/internal/load"
	"kafkabench.example/kafka-bench/internal/measure/latency"
	"kafkabench.example/kafka-bench/internal/measure/snapshot"
)

// Locks says when the lock of a record ends beside its deadline.
type Locks int

// Kinds of locks.
const (
	LocksStay     Locks = iota // never: it is kept apart from members and partitions
	LocksOfOwner               // with the ownership of the record's partition
	LocksOfMember              // with the member that the record was lent to
)

// Config says what the consumers of a queue are.
type Config struct {
	// Open opens the member of a number.
	Open func(number int) (Queue, error)
	// Ready waits until the members have all partitions.
	Ready   func(ctx context.Context) error
	Members int // that are opened at the start, with the numbers from 0 on
	// Only are the numbers of the members that are opened here, if other processes open the
	// others of Members; nil is all.
	Only    []int
	Numbers int // bounds the numbers of members, those included that Start opens
	Threads int // of each member, which receive, work and settle
	Batch   int // of one Receive
	// Ordered has the queue hand out the records by Run, and not by Receive.
	Ordered bool
	Locks   Locks

	// Drop is the share of the deliveries that are not acknowledged, by a draw for each
	// from the seed: given back where Nack is set, after the delay of their attempt.
	Drop  float64
	Nack  bool
	Delay func(attempt int) time.Duration

	Producers  int // on the sending side, those included that filled the topic
	Filled     int // how many of them did, the last ones by their numbers
	Partitions int
	From       []int64 // the offset where each partition starts; nil is zero, or another process counts it
	Plan       load.Plan
	Seed       uint64
	Hold       bool // nobody receives until Release

	Axis *load.Axis
	// Offsets lead from the clocks of the producers to the Axis; nil is one clock for all.
	Offsets    load.Offsets
	ClosedLoop bool
	Run        uint32
	Settings   []driver.Setting

	// OnEvent is told of errors; it may be called from several goroutines.
	OnEvent func(kind, what, reason string)
	// Tracker returns the counters of a tracker that serves all members; nil without one.
	Tracker func() snapshot.QueueCounts
}

// Group are the consumers of a queue: members with threads, and the application
// behind them. While it runs, members may leave, vanish and join.
//
// It keeps the books of a consumer group and more: a queue acknowledges record by record and
// delivers again what was not acknowledged, so that there is a set of what was handed
// over, a set of what was acknowledged, and for each record between the two how often it
// came and when it is to come again. The sets know nothing of the queue's own counts:
// all that they go by is the stamps of records.
type Group struct {
	cfg  Config
	axis *load.Axis
	idle bool // no record ever costs anything
	open bool // intended times exist
	books
	places  []*place // by the numbers of members
	members *load.Roster[*node]

	released chan struct{} // closed when the members may receive
	release  sync.Once
	alive    context.Context
	end      context.CancelFunc

	buried sync.WaitGroup // what is left of members that are gone

	mu     sync.Mutex
	failed error
}

// A place is what is kept for a member's number, whichever member has it.
type place struct {
	recorder *latency.Recorder
	counts   snapshot.Received   // guarded by the recorder's lock
	totals   snapshot.QueueTotal // likewise
	share    snapshot.Share      // likewise
}

// node is a member of a queue with its threads.
type node struct {
	number  int
	group   *Group
	place   *place
	queue   Queue
	life    context.Context // until it is killed, or the group is stopped
	kill    context.CancelFunc
	alive   context.Context // until it leaves, at the latest
	cancel  context.CancelFunc
	halt    load.Halt
	running sync.WaitGroup
	inHand  atomic.Int64 // handed over and not settled
	polls   atomic.Int64
	// gone: its locks have ended otherwise than by the clock, where they are its own.
	gone atomic.Bool
	// counts are the queue's; of a member that left, what they were then.
	counts atomic.Pointer[func() snapshot.QueueCounts]
}

// Start opens the members and lets them receive. On an error nothing is left
// running.
func Start(cfg Config) (*Group, error) {
	g := &Group{cfg: cfg, axis: cfg.Axis, idle: cfg.Plan.None(), open: !cfg.ClosedLoop, released: make(chan struct{})}
	g.alive, g.end = context.WithCancel(context.Background())
	for id := range cfg.Partitions {
		from := int64(0)
		if cfg.From != nil {
			from = cfg.From[id]
		}
		g.books = append(g.books, newBook(int32(id), from, cfg))
	}
	for number := range max(cfg.Members, cfg.Numbers) {
		g.places = append(g.places, &place{share: snapshot.Share{Number: number}, recorder: latency.NewRecorder(
			latency.E2EServiceTime, latency.E2EResponseTime, latency.ProcessedResponseTime,
			latency.SettleTime, latency.RedeliveryResponseTime, latency.RedeliveryLateness, latency.PollTime,
		)})
	}
	g.members = load.NewRoster[*node](len(g.places))
	if !cfg.Hold {
		g.Release()
	}
	for _, number := range cfg.numbers() {
		if err := g.Start(number); err != nil {
			g.Stop(context.Background())
			return nil, err
		}
	}
	return g, nil
}

// numbers returns the numbers of the members that are opened here at the start.
func (c Config) numbers() []int {
	if c.Only != nil {
		return c.Only
	}
	all := make([]int, c.Members)
	for i := range all {
		all[i] = i
	}
	return all
}

// openMember opens the member of a number and starts its threads.
func (g *Group) openMember(number int) (*node, error) {
	queue, err := g.cfg.Open(number)
	if err != nil {
		return nil, fmt.Errorf("opening consumer %d of the queue: %w", number, err)
	}
	n := &node{number: number, group: g, place: g.places[number], queue: queue}
	counts := queue.Counts
	n.counts.Store(&counts)
	n.life, n.kill = context.WithCancel(g.alive)
	n.alive, n.cancel = context.WithCancel(n.life)
	threads := make(chan *thread, g.cfg.Threads)
	for i := range g.cfg.Threads {
		t := &thread{node: n, server: load.NewServer(g.axis, g.cfg.Plan, g.cfg.Seed, uint64(number*g.cfg.Threads+i))}
		if threads <- t; !g.cfg.Ordered {
			n.running.Go(func() { n.ended(t.run()) })
		}
	}
	if g.cfg.Ordered {
		n.running.Go(func() { n.ended(n.serve(threads)) })
	}
	return n, nil
}

// ended notes why a thread ended, unless it was to.
func (n *node) ended(err error) {
	if err == nil || n.alive.Err() != nil {
		return
	}
	g := n.group
	err = fmt.Errorf("consumer %d: %w", n.number, err)
	g.mu.Lock()
	first := g.failed == nil
	if first {
		g.failed = err
	}
	g.mu.Unlock()
	if first {
		g.cfg.OnEvent("error", "a consumer of the queue ended", err.Error())
	}
}

// knowsDue tells whether a record that comes to the node was due by the clock, as far as
// that is known of the delivery before.
func (n *node) knowsDue(before lending) bool {
	switch n.group.cfg.Locks {
	case LocksOfOwner:
		return before.holder == n
	case LocksOfMember:
		return !before.holder.gone.Load()
	default:
		return true
	}
}

// Release lets the members receive that were held. Calling it again does nothing.
func (g *Group) Release() { g.release.Do(func() { close(g.released) }) }

// Err is the error that ended a member before its time, if any.
func (g *Group) Err() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.failed
}

// AwaitReady waits until the members have the partitions.
func (g *Group) AwaitReady(ctx context.Context) error {
	if err := g.cfg.Ready(ctx); err != nil {
		return errors.Join(fmt.Errorf("the consumers of the queue are not ready: %w", err), g.Err())
	}
	return g.Err()
}

// Stop ends the members: their threads end, and their queues are closed. Every goroutine
// has ended when it returns, unless ctx ended before.
func (g *Group) Stop(ctx context.Context) {
	g.end()
	first := g.members.Close(func(n *node) {
		n.running.Wait()
		if err := n.close(ctx); err != nil {
			g.cfg.OnEvent("error", "a queue was not closed in order", err.Error())
		}
	})
	if first {
		g.awaitBuried(ctx)
	}
}

// awaitBuried waits for what is left of members that were killed, until ctx ends: a queue
// without its connections has nothing to wait for, and if it does so nevertheless, it
// must not hold up the run.
func (g *Group) awaitBuried(ctx context.Context) {
	over := make(chan struct{})
	go func() {
		g.buried.Wait()
		close(over)
	}()
	select {
	case <-over:
	case <-ctx.Done():
		g.cfg.OnEvent("error", "the queue of a consumer that was killed did not end", ctx.Err().Error())
	}
}

// Counts are what the members did as clients. A queue does not tell of its commits and
// rebalances.
func (g *Group) Counts() (sum snapshot.MemberCounts) {
	for _, n := range g.members.Ever() {
		sum.Polls += n.polls.Load()
	}
	return sum
}

// QueueCounts returns the queue's own counters: the sum over all members that there have
// been, and over the tracker that serves them.
func (g *Group) QueueCounts() (sum snapshot.QueueCounts) {
	for _, n := range g.members.Ever() {
		sum.Add((*n.counts.Load())())
	}
	if g.cfg.Tracker != nil {
		sum.Add(g.cfg.Tracker())
	}
	return sum
}

// Received are the counts of all members together.
func (g *Group) Received() (sum snapshot.Received) {
	for _, p := range g.places {
		p.recorder.Lock()
		sum.Add(p.counts)
		p.recorder.Unlock()
	}
	return sum
}

// shares are what the members have had that are, or were, there.
func (g *Group) shares() (all []snapshot.Share) {
	here := make([]bool, len(g.places))
	for _, n := range g.members.Ever() {
		here[n.number] = true
	}
	for number, p := range g.places {
		if here[number] {
			p.recorder.Lock()
			all = append(all, p.share)
			p.recorder.Unlock()
		}
	}
	return all
}

// Totals are the running totals of all members together.
func (g *Group) Totals() (sum snapshot.QueueTotal) {
	for _, p := range g.places {
		p.recorder.Lock()
		sum.Add(p.totals)
		p.recorder.Unlock()
	}
	return sum
}

// Working tells whether a record that was handed over is still worked on.
func (g *Group) Working() bool {
	return slices.ContainsFunc(g.members.Present(), func(n *node) bool { return n.inHand.Load() > 0 })
}

// Workers returns how many records can be worked on at once here when all members are present.
func (g *Group) Workers() int {
	if g.cfg.Only != nil {
		return len(g.cfg.Only) * g.cfg.Threads
	}
	return len(g.places) * g.cfg.Threads
}

// AddTo has a collector gather the histograms of the group.
func (g *Group) AddTo(c *latency.Collector) {
	for _, p := range g.places {
		c.Add(p.recorder)
	}
}

// Settings are the effective settings of a member's queue.
func (g *Group) Settings() []driver.Setting { return g.cfg.Settings }
