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

// Locks says what ends the lock of a record, besides its deadline.
type Locks int

// Kinds of locks.
const (
	LocksStay     Locks = iota // nothing: locks do not depend on members and partitions
	LocksOfOwner               // a new owner of the record's partition
	LocksOfMember              // the end of the member that has the record
)

// Config configures the consumers of a queue.
type Config struct {
	Open    func(number int) (Queue, error)
	Ready   func(ctx context.Context) error // waits until the members have all partitions
	Members int                             // opened at the start, with numbers from 0
	// Only lists the members in this process; nil is all.
	Only    []int
	Numbers int // bounds the numbers of members, also of those that Start opens
	Threads int // of each member; they receive, work and settle
	Batch   int // records of one Receive
	// Ordered makes the members take records with Queue.Run instead of Queue.Receive.
	Ordered bool
	Locks   Locks

	// Drop is the part of the deliveries that members do not acknowledge. With Nack they give these
	// records back, with the Delay of the attempt.
	Drop  float64
	Nack  bool
	Delay func(attempt int) time.Duration

	Producers  int // including those that filled the topic
	Filled     int // producers that filled the topic; they have the last numbers
	Partitions int
	From       []int64 // first offset of each partition; nil is zero, or counted by another process
	Plan       load.Plan
	Seed       uint64
	Hold       bool // no member receives until Release

	Axis *load.Axis
	// Offsets convert stamps from the producers' clocks to the Axis; nil: all use one clock.
	Offsets    load.Offsets
	ClosedLoop bool
	Run        uint32
	Settings   []driver.Setting

	// OnEvent may be called by several goroutines at once.
	OnEvent func(kind, what, reason string)
	// Tracker returns the counters of the external tracker (kmq.OpenTracker) that serves all
	// members; nil if there is none.
	Tracker func() snapshot.QueueCounts
}

// Group is the consumers of a queue: members with threads, and the application behind them.
//
// The books have the number of deliveries of each unacknowledged record, and when it is due again. They use only the
// stamps of records, not the queue's counts.
type Group struct {
	cfg  Config
	axis *load.Axis
	idle bool
	open bool
	books
	places  []*place
	members *load.Roster[*node]

	released chan struct{}
	release  sync.Once
	alive    context.Context
	end      context.CancelFunc

	buried sync.WaitGroup

	mu     sync.Mutex
	failed error
}

type place struct {
	recorder *latency.Recorder
	counts   snapshot.Received   // with the recorder's lock
	totals   snapshot.QueueTotal // with the recorder's lock
	share    snapshot.Share      // with the recorder's lock
}

type node struct {
	number  int
	group   *Group
	place   *place
	queue   Queue
	life    context.Context // ends when it is killed or the group stopped
	kill    context.CancelFunc
	alive   context.Context // ends when it leaves, or with life
	cancel  context.CancelFunc
	halt    load.Halt
	running sync.WaitGroup
	inHand  atomic.Int64
	polls   atomic.Int64
	// gone reports that the node's locks end because it left or was killed, not at their deadlines.
	gone atomic.Bool
	// the queue's last counts, after the member left
	counts atomic.Pointer[func() snapshot.QueueCounts]
}

// divided reports whether other processes have members too.
func (c Config) divided() bool { return c.Only != nil && len(c.Only) < c.Members }

// Start opens the members, which begin to receive. On an error it leaves nothing running.
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

// Release lets held members receive.
func (g *Group) Release() { g.release.Do(func() { close(g.released) }) }

// Err returns the first error that ended a member early, or nil.
func (g *Group) Err() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.failed
}

// AwaitReady waits until all partitions are assigned.
func (g *Group) AwaitReady(ctx context.Context) error {
	if err := g.cfg.Ready(ctx); err != nil {
		return errors.Join(fmt.Errorf("the consumers of the queue are not ready: %w", err), g.Err())
	}
	return g.Err()
}

// Stop ends the threads and closes the queues. All goroutines have ended when it returns, unless ctx ended first.
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

// The queues of killed members must not delay the run.
func (g *Group) awaitBuried(ctx context.Context) {
	over := make(chan struct{})
	go func() {
		g.buried.Wait()
		close(over)
	}()
	select {
	case <-over:
	case <-ctx.Done():
		g.cfg.OnEvent("error", "the queue of a killed consumer did not end", ctx.Err().Error())
	}
}

// Counts returns what the members did as clients. A queue reports neither commits nor rebalances.
func (g *Group) Counts() (sum snapshot.MemberCounts) {
	for _, n := range g.members.Ever() {
		sum.Polls += n.polls.Load()
	}
	return sum
}

// QueueCounts returns the queue's own counts, of all members that ever joined and of their tracker.
func (g *Group) QueueCounts() (sum snapshot.QueueCounts) {
	for _, n := range g.members.Ever() {
		sum.Add((*n.counts.Load())())
	}
	if g.cfg.Tracker != nil {
		sum.Add(g.cfg.Tracker())
	}
	return sum
}

// Received returns the counts of all members together.
func (g *Group) Received() (sum snapshot.Received) {
	for _, p := range g.places {
		p.recorder.Lock()
		sum.Add(p.counts)
		p.recorder.Unlock()
	}
	return sum
}

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

// Totals returns the running totals of all members together.
func (g *Group) Totals() (sum snapshot.QueueTotal) {
	for _, p := range g.places {
		p.recorder.Lock()
		sum.Add(p.totals)
		p.recorder.Unlock()
	}
	return sum
}

// Working reports whether a consumer is processing a record.
func (g *Group) Working() bool {
	return slices.ContainsFunc(g.members.Present(), func(n *node) bool { return n.inHand.Load() > 0 })
}

// Workers returns how many records can be processed at once here if every possible member is present.
func (g *Group) Workers() int {
	if g.cfg.Only != nil {
		return len(g.cfg.Only) * g.cfg.Threads
	}
	return len(g.places) * g.cfg.Threads
}

// AddTo adds the group's histograms to a collector.
func (g *Group) AddTo(c *latency.Collector) {
	for _, p := range g.places {
		c.Add(p.recorder)
	}
}

// Settings returns the effective settings of a member's queue.
func (g *Group) Settings() []driver.Setting { return g.cfg.Settings }
