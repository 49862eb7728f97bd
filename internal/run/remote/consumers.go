package remote

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
	"kafkabench.example/kafka-bench/internal/load/receive"
	"kafkabench.example/kafka-bench/internal/measure/latency"
	"kafkabench.example/kafka-bench/internal/measure/ledger"
	"kafkabench.example/kafka-bench/internal/measure/snapshot"
)

// ConsumersConfig configures a consumer group in child processes.
type ConsumersConfig struct {
	// Group is the whole group. Each process has its own Driver, Axis and callbacks.
	Group     receive.Config
	Driver    string
	Axis      *load.Axis
	Processes int // at most one for each member
	// Start starts the process of a place, at the beginning and when a member starts whose process
	// has ended.
	Start func(place int) (*Child, error)
}

// Consumers are the members of one group, in this process or in child processes. A member's number
// determines its place, which has at most one process.
type Consumers struct {
	cfg    ConsumersConfig
	opened Opened
	here   Part // nil: the members are in child processes
	places []*place

	released atomic.Bool
	stopped  atomic.Bool

	mu   sync.Mutex
	all  parts
	told []receive.Handed // sent to all earlier processes
}

// ConsumersOf returns a group whose members are all in one open part. cfg must have the group's
// partitions and producers.
func ConsumersOf(part Part, cfg receive.Config, opened Opened) *Consumers {
	return &Consumers{cfg: ConsumersConfig{Group: cfg}, here: part, all: parts{part}, opened: opened}
}

// OpenConsumers starts the processes and opens the group. After an error no process is left.
func OpenConsumers(cfg ConsumersConfig) (*Consumers, error) {
	cs := &Consumers{cfg: cfg}
	members := cfg.Group.Members
	places := cfg.Processes
	if places >= members {
		places = max(members, cfg.Group.Numbers)
	}
	for number := range places {
		cs.places = append(cs.places, &place{group: cs, number: number, here: make(map[int]bool)})
	}
	err := cs.eachPlace(func(p *place) error {
		var only []int
		for number := p.number; number < members; number += places {
			only = append(only, number)
		}
		if len(only) == 0 {
			return nil
		}
		return p.open(only, false)
	})
	if err != nil {
		stop, cancel := context.WithTimeout(context.Background(), endTimeout)
		defer cancel()
		cs.Stop(stop)
		return nil, err
	}
	return cs, nil
}

func (cs *Consumers) place(number int) (*place, error) {
	if bound := max(cs.cfg.Group.Members, cs.cfg.Group.Numbers); number < 0 || number >= bound {
		return nil, fmt.Errorf("consumer %d: the numbers are 0 to %d", number, bound-1)
	}
	return cs.places[number%len(cs.places)], nil
}

func (cs *Consumers) eachPlace(do func(*place) error) error {
	errs := make([]error, len(cs.places))
	var doing sync.WaitGroup
	for i, p := range cs.places {
		doing.Go(func() { errs[i] = do(p) })
	}
	doing.Wait()
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

func (cs *Consumers) add(c *Child, a Assignment) Assignment {
	cs.mu.Lock()
	defer cs.mu.Unlock()
	a.Part = len(cs.all)
	c.expect(a)
	cs.all = append(cs.all, c)
	return a
}

func (cs *Consumers) parts() parts {
	cs.mu.Lock()
	defer cs.mu.Unlock()
	return slices.Clip(cs.all)
}

// Children returns the child processes; none if the members are in this process.
func (cs *Consumers) Children() (all Children) {
	for _, p := range cs.parts() {
		if c, is := p.(*Child); is {
			all = append(all, c)
		}
	}
	return all
}

// Begin sends the axis, or the new end of its window, to the processes. Until the axis arrives, a
// process counts its deliveries as in the window.
func (cs *Consumers) Begin() {
	if cs.here != nil {
		return
	}
	zero := cs.cfg.Axis.Zero()
	cs.parts().each(func(_ int, p Part) { _ = p.Start(zero) }) // an error ends the process
}

// Release lets held members fetch. Further calls do nothing.
func (cs *Consumers) Release() {
	if !cs.released.Swap(true) {
		cs.parts().each(func(_ int, p Part) { _, _ = p.Do(Command{Do: Release}) })
	}
}

// readyPoll is the period of the questions of AwaitReady.
const readyPoll = 20 * time.Millisecond

// AwaitReady waits until every partition is assigned and, if there are enough partitions, every
// member has at least one.
func (cs *Consumers) AwaitReady(ctx context.Context) error {
	if h, is := cs.here.(*Here); is {
		return h.awaitReady(ctx)
	}
	partitions, members := cs.cfg.Group.Partitions, cs.cfg.Group.Members
	tick := time.NewTicker(readyPoll)
	defer tick.Stop()
	for {
		s := cs.parts().snapshot(Want{Fresh: true})
		if err := cs.failed(s); err != nil {
			return err
		}
		g := cs.standing(s, false)
		if g.Owned == partitions && g.Idle <= max(0, members-partitions) {
			return nil
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return fmt.Errorf("the consumers are not ready: "+
				"%d of %d partitions are assigned and %d of %d consumers have none: %w",
				g.Owned, partitions, g.Idle, members, ctx.Err())
		}
	}
}

// Held returns the assigned partitions, ascending.
func (cs *Consumers) Held() (partitions []int32) {
	for _, p := range cs.parts() {
		a, _ := p.Do(Command{Do: Hold}) // an error ends the process
		partitions = append(partitions, a.Partitions...)
	}
	slices.Sort(partitions)
	return partitions
}

// Err returns the error that ended a member or a process early; nil if there is none.
func (cs *Consumers) Err() error { return cs.failed(cs.parts().snapshot(Want{Fresh: true})) }

func (cs *Consumers) failed(s snapshot.Snapshot) error {
	if err := cs.Dead(); err != nil || s.Failed == "" {
		return err
	}
	return errors.New(s.Failed)
}

// Dead returns why a process ended unexpectedly; nil if none did. What the process delivered since
// its last answer is in no books.
func (cs *Consumers) Dead() error { return cs.parts().err() }

// Standing returns the state of all members together, ended processes included. Without Want.Books,
// the numbers of arrived records may be out of date.
func (cs *Consumers) Standing(w Want) snapshot.Group {
	return cs.standing(cs.parts().snapshot(w), w.Books)
}

func (cs *Consumers) standing(s snapshot.Snapshot, books bool) snapshot.Group {
	if len(s.Groups) == 0 {
		return snapshot.Group{Reached: cs.beginning()}
	}
	g := s.Groups[0]
	if cs.here == nil && !cs.cfg.Group.Stamped {
		// Without stamps, offsets show what arrived. A record that several processes received
		// counts once.
		for p := range g.Reached {
			g.Reached[p].Arrived = min(g.Reached[p].Arrived, g.Reached[p].Position-cs.from(p))
		}
	}
	for p, r := range g.Reached {
		if books && r.Awaited == nil { // no process has sent its books, so every record is awaited
			g.Reached[p].Awaited = make([]ledger.Awaited, cs.cfg.Group.Producers)
		}
	}
	return g
}

func (cs *Consumers) beginning() []snapshot.Reached {
	all := make([]snapshot.Reached, cs.cfg.Group.Partitions)
	for p := range all {
		all[p] = snapshot.Reached{
			Position: cs.from(p), At: snapshot.NeverHanded, Awaited: make([]ledger.Awaited, cs.cfg.Group.Producers),
		}
	}
	return all
}

func (cs *Consumers) from(partition int) int64 {
	if from := cs.cfg.Group.From; from != nil {
		return from[partition]
	}
	return 0
}

// Receivers returns the receiving side of the books by partition, after Stop. A process that died
// has the books that it reported last.
func (cs *Consumers) Receivers() []*ledger.Receiver {
	books := cs.Standing(Want{Books: true}).Books
	all := make([]*ledger.Receiver, cs.cfg.Group.Partitions)
	for p := range all {
		if all[p] = books[int32(p)]; all[p] == nil {
			all[p] = ledger.NewReceiver(int32(p), cs.cfg.Group.Producers)
		}
	}
	return all
}

// DeliveryGaps returns the times without a delivery in any process, after Stop; nil if one process
// did not report them.
func (cs *Consumers) DeliveryGaps() []snapshot.Gaps {
	all := cs.parts().snapshots(Want{Last: true})
	if slices.ContainsFunc(all, func(s snapshot.Snapshot) bool { return s.Last == nil }) {
		return nil
	}
	return merged(all).Last.DeliveryGaps[0]
}

// Workers returns how many records can be worked on at once when all members are present.
func (cs *Consumers) Workers() int { return cs.opened.Workers }

// Settings returns the effective settings of a member's client.
func (cs *Consumers) Settings() []driver.Setting { return cs.opened.Settings }

// AddTo adds the group's histograms to a collector.
func (cs *Consumers) AddTo(c *latency.Collector) {
	if cs.here != nil {
		cs.all.addTo(c)
		return
	}
	c.AddSource(cs) // includes processes that start later
}

// Recorded implements latency.Source with the histograms of snapshots.
func (cs *Consumers) Recorded(merge func(part latency.Encoded) error) {
	for _, c := range cs.Children() {
		c.Recorded(merge)
	}
}

// Stop ends the members and then the processes. When ctx ends, it gives up pending commits.
func (cs *Consumers) Stop(ctx context.Context) {
	if cs.stopped.Swap(true) {
		return
	}
	if cs.here != nil {
		_, _ = cs.here.Close(ctx)
	}
	_ = cs.eachPlace(func(p *place) error {
		p.stop(ctx)
		return nil
	})
}
