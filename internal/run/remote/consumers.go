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

// ConsumersConfig says what a consumer group in processes of its own is.
type ConsumersConfig struct {
	// Group is the whole group. Driver, Axis and the callbacks are each process' own.
	Group     receive.Config
	Driver    string // by name
	Axis      *load.Axis
	Processes int // at most as many as members
	// Start starts the process of a place, the one of that number, whenever one is
	// needed: at the start, and where a member starts whose process is gone.
	Start func(place int) (*Child, error)
}

// Consumers are the members of one group, in this process or spread over others. There
// a member has its place by its number, whichever process is there. Where as many
// processes were asked for as there are members, each member has one of its own, and
// what befalls the member befalls the process.
//
// A partition may move from one process to another. Each keeps books of what came
// to itself, and snapshot.Merge lays them together.
type Consumers struct {
	cfg    ConsumersConfig
	opened Opened
	here   Part     // nil: they are in other processes
	places []*place // of those

	released atomic.Bool
	stopped  atomic.Bool

	mu   sync.Mutex
	all  parts            // that there have been
	told []receive.Handed // to all that there were
}

// ConsumersOf is a group whose members are all in one part that is open, with as many
// partitions and producers as cfg says.
func ConsumersOf(part Part, cfg receive.Config, opened Opened) *Consumers {
	return &Consumers{cfg: ConsumersConfig{Group: cfg}, here: part, all: parts{part}, opened: opened}
}

// OpenConsumers starts the processes and has each open its part of the group. On an
// error nothing is left.
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
			return nil // of a member that joins later
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

// place is the one of a member's number.
func (cs *Consumers) place(number int) (*place, error) {
	if bound := max(cs.cfg.Group.Members, cs.cfg.Group.Numbers); number < 0 || number >= bound {
		return nil, fmt.Errorf("consumer %d: the numbers are 0 to %d", number, bound-1)
	}
	return cs.places[number%len(cs.places)], nil
}

// eachPlace does the same with each place at the same time and returns the first
// error; mostly all have the same.
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

// add adds a process, which may be asked at once, and returns its assignment as the part
// of its number.
func (cs *Consumers) add(c *Child, a Assignment) Assignment {
	cs.mu.Lock()
	defer cs.mu.Unlock()
	a.Part = len(cs.all)
	c.expect(a)
	cs.all = append(cs.all, c)
	return a
}

// parts are all that there have been, in the order in which they started.
func (cs *Consumers) parts() parts {
	cs.mu.Lock()
	defer cs.mu.Unlock()
	return slices.Clip(cs.all)
}

// Children are the processes among them; none, if the members are in this one.
func (cs *Consumers) Children() (all Children) {
	for _, p := range cs.parts() {
		if c, is := p.(*Child); is {
			all = append(all, c)
		}
	}
	return all
}

// Begin gives the processes the axis, once it is set, or the end of its window,
// once that has moved: what is handed over between the end and their knowing it
// counts as handed over within the window.
func (cs *Consumers) Begin() {
	if cs.here != nil {
		return // its axis is the run's
	}
	zero := cs.cfg.Axis.Zero()
	cs.parts().each(func(_ int, p Part) { _ = p.Start(zero) }) // an error is its end
}

// Release lets the members fetch that were held. Calling it again does nothing.
func (cs *Consumers) Release() {
	if !cs.released.Swap(true) {
		cs.parts().each(func(_ int, p Part) { _, _ = p.Do(Command{Do: Release}) }) // likewise
	}
}

// readyPoll is how often the processes are asked whether their members are ready.
const readyPoll = 20 * time.Millisecond

// AwaitReady waits until every partition is assigned, whichever process has it, and
// every member that can have one has one.
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

// Held are the partitions that members have, in order.
func (cs *Consumers) Held() (partitions []int32) {
	for _, p := range cs.parts() {
		a, _ := p.Do(Command{Do: Hold}) // an error is its end
		partitions = append(partitions, a.Partitions...)
	}
	slices.Sort(partitions)
	return partitions
}

// Err is the error that ended a member, or a process, before its time, if any.
func (cs *Consumers) Err() error { return cs.failed(cs.parts().snapshot(Want{Fresh: true})) }

func (cs *Consumers) failed(s snapshot.Snapshot) error {
	if err := cs.Dead(); err != nil || s.Failed == "" {
		return err
	}
	return errors.New(s.Failed)
}

// Dead is why the first process is gone that was not told to end; what it was handed
// since it was last asked is in no books.
func (cs *Consumers) Dead() error { return cs.parts().err() }

// Standing is how the members of all processes stand together, with what they have been
// handed in those that are gone. Without books what has arrived may be of before.
func (cs *Consumers) Standing(w Want) snapshot.Group {
	return cs.standing(cs.parts().snapshot(w), w.Books)
}

func (cs *Consumers) standing(s snapshot.Snapshot, books bool) snapshot.Group {
	if len(s.Groups) == 0 {
		return snapshot.Group{Reached: cs.beginning()}
	}
	g := s.Groups[0]
	if cs.here == nil && !cs.cfg.Group.Stamped {
		// What arrived is known by the offsets: what several were handed counts once, because
		// a group passes over nothing.
		for p := range g.Reached {
			g.Reached[p].Arrived = min(g.Reached[p].Arrived, g.Reached[p].Position-cs.from(p))
		}
	}
	for p, r := range g.Reached {
		if books && r.Awaited == nil { // no process has told of its books yet: everything is
			g.Reached[p].Awaited = make([]ledger.Awaited, cs.cfg.Group.Producers)
		}
	}
	return g
}

// beginning is how far a group has come of which nobody ever said anything.
func (cs *Consumers) beginning() []snapshot.Reached {
	all := make([]snapshot.Reached, cs.cfg.Group.Partitions)
	for p := range all {
		all[p] = snapshot.Reached{
			Position: cs.from(p), At: snapshot.NeverHanded, Awaited: make([]ledger.Awaited, cs.cfg.Group.Producers),
		}
	}
	return all
}

// from is the offset where a partition starts.
func (cs *Consumers) from(partition int) int64 {
	if from := cs.cfg.Group.From; from != nil {
		return from[partition]
	}
	return 0
}

// Receivers are the receiving side of the books, by partition, once the group was
// stopped; of a process that died, as it last told.
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

// DeliveryGaps are the times in which nothing was handed over in any process, once the
// group was stopped; nil where one does not say, whose deliveries would seem to be missing.
func (cs *Consumers) DeliveryGaps() []snapshot.Gaps {
	all := cs.parts().snapshots(Want{Last: true})
	if slices.ContainsFunc(all, func(s snapshot.Snapshot) bool { return s.Last == nil }) {
		return nil
	}
	return merged(all).Last.DeliveryGaps[0]
}

// Workers is how many records can be worked on at once when every member is there
// that ever is.
func (cs *Consumers) Workers() int { return cs.opened.Workers }

// Settings are the effective settings of a member's client.
func (cs *Consumers) Settings() []driver.Setting { return cs.opened.Settings }

// AddTo has a collector gather the histograms of the group.
func (cs *Consumers) AddTo(c *latency.Collector) {
	if cs.here != nil {
		cs.all.addTo(c)
		return
	}
	c.AddSource(cs) // with the processes that are to come
}

// Recorded implements latency.Source: it has what came with snapshots.
func (cs *Consumers) Recorded(merge func(part latency.Encoded) error) {
	for _, c := range cs.Children() {
		c.Recorded(merge)
	}
}

// Stop ends the members and then the processes, with their figures. When ctx ends,
// commits are given up.
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
