package remote

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"kafkabench.example/kafka-bench/internal/kafka/access"
	"kafkabench.example/kafka-bench/internal/kafka/driver"
	"kafkabench.example/kafka-bench/internal/load"
	"kafkabench.example/kafka-bench/internal/measure/latency"
	"kafkabench.example/kafka-bench/internal/measure/snapshot"
)

// ConsumersConfig says what a consumer group in processes of its own is.
type ConsumersConfig struct {
	// Group is the whole group. Driver, Axis and the callbacks are each process' own.
	Group     load.GroupConfig
	Driver    string // by name
	Access    access.Handover
	Axis      *load.Axis
	Processes int // at most as many as members
	// Start starts the process of a place, the one of that number, whenever one is
	// needed: at the start, and where a member starts whose process is gone.
	Start func(place int) (*Child, error)
}

// Consumers are the members of one group, spread over processes: to the run what
// load.Group is. A member has its place by its number, whichever process is there.
// Where as many processes were asked for as there are members, each member has one
// of its own, and what befalls the member befalls the process.
//
// A partition may move from one process to another. Each keeps books of what came
// to itself, and ledger.Merge lays them together.
type Consumers struct {
	cfg      ConsumersConfig
	settings []driver.Setting
	workers  int
	cannot   string // kill a member that is not alone in its process; empty: it can
	places   []*place

	released atomic.Bool
	stopped  atomic.Bool

	mu   sync.Mutex
	all  []*Process    // that there have been
	left []recorded    // and not gathered
	told []load.Handed // to all that there were
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

// Processes are all that there have been, in the order in which they started.
func (cs *Consumers) Processes() []*Process {
	cs.mu.Lock()
	defer cs.mu.Unlock()
	return slices.Clip(cs.all)
}

// askAll asks all processes the same, by Ask or AskSoon, and returns what each answered
// last.
func askAll[R any](cs *Consumers, method string, ask func(*Process, string) (R, error)) []R {
	processes := cs.Processes()
	replies := make([]R, len(processes))
	var asking sync.WaitGroup
	for i, p := range processes {
		asking.Go(func() { replies[i], _ = ask(p, method) }) // an error is the child's end, and Err
	}
	asking.Wait()
	return replies
}

// tellAll calls a method of all processes that run.
func (cs *Consumers) tellAll(method string, args any) {
	var telling sync.WaitGroup
	for _, p := range cs.Processes() {
		telling.Go(func() { _ = p.Call(method, args, new(None)) }) // likewise
	}
	telling.Wait()
}

// Begin gives the processes the axis, once it is set, or the end of its window,
// once that has moved: what is handed over between the end and their knowing it
// counts as handed over within the window.
func (cs *Consumers) Begin() { cs.tellAll(ConsumersName+".Begin", cs.cfg.Axis.Zero()) }

// Release lets the members fetch that were held. Calling it again does nothing.
func (cs *Consumers) Release() {
	if !cs.released.Swap(true) {
		cs.tellAll(ConsumersName+".Release", None(0))
	}
}

// readyPoll is how often the processes are asked whether their members are ready.
const readyPoll = 20 * time.Millisecond

// AwaitReady waits until every partition is assigned, whichever process has it, and
// every member that can have one has one.
func (cs *Consumers) AwaitReady(ctx context.Context) error {
	partitions, members := cs.cfg.Group.Partitions, cs.cfg.Group.Members
	tick := time.NewTicker(readyPoll)
	defer tick.Stop()
	for {
		all := cs.standings()
		if err := cs.errOf(all); err != nil {
			return err
		}
		owned, idle := 0, 0
		for _, s := range all {
			owned += s.Owned
			idle += s.Idle
		}
		if owned == partitions && idle <= max(0, members-partitions) {
			return nil
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return fmt.Errorf("the consumers are not ready: %d of %d partitions are assigned and %d of %d consumers have none: %w",
				owned, partitions, idle, members, ctx.Err())
		}
	}
}

func (cs *Consumers) standings() []Standing {
	return askAll(cs, ConsumersName+".Standing", Ask[Standing])
}

// Err is the error that ended a member, or a process, before its time, if any.
func (cs *Consumers) Err() error { return cs.errOf(cs.standings()) }

func (cs *Consumers) errOf(all []Standing) error {
	if err := cs.Dead(); err != nil {
		return err
	}
	for _, s := range all {
		if s.Failed != "" {
			return errors.New(s.Failed)
		}
	}
	return nil
}

// Dead is why the first process is gone that was not told to end; what it was handed
// since it was last asked is in no books.
func (cs *Consumers) Dead() error {
	for _, p := range cs.Processes() {
		if err := p.child.Err(); err != nil {
			return err
		}
	}
	return nil
}

// Received are the counts of all members together.
func (cs *Consumers) Received() (sum snapshot.Received) {
	for _, s := range cs.standings() {
		sum.Add(s.Received)
	}
	return sum
}

// Counts are what the members did as clients, those that are gone included.
func (cs *Consumers) Counts() (sum snapshot.MemberCounts) {
	for _, s := range cs.standings() {
		sum.Add(s.Counts)
	}
	return sum
}

// Working tells whether a record that was handed over is still worked on.
func (cs *Consumers) Working() bool {
	return slices.ContainsFunc(cs.standings(), func(s Standing) bool { return s.Working })
}

// Traffic is that of all members, as far as the driver counts it.
func (cs *Consumers) Traffic() (sum snapshot.Traffic) {
	for _, s := range cs.standings() {
		sum = sum.Add(s.Traffic)
	}
	return sum
}

// Workers is how many records can be worked on at once when every member is there
// that ever is.
func (cs *Consumers) Workers() int { return cs.workers }

// Settings are the effective settings of a member's client.
func (cs *Consumers) Settings() []driver.Setting { return cs.settings }

// AddTo has a collector gather the histograms of the group.
func (cs *Consumers) AddTo(c *latency.Collector) { c.AddSource(cs) }

// Recorded implements latency.Source.
func (cs *Consumers) Recorded(merge func(part latency.Encoded) error) {
	var asking sync.WaitGroup
	for _, p := range cs.Processes() {
		asking.Go(func() { p.child.soon(func() { cs.takeRecorded(p) }) })
	}
	asking.Wait()
	mergeAll(cs.takeLeft(), merge)
}

// takeRecorded takes what a process has recorded. It waits for the answer until it is
// kept: whoever has the process rest finds it (takeLeft).
func (cs *Consumers) takeRecorded(p *Process) {
	if !p.begin() {
		return
	}
	defer p.waiting.Done()
	cs.keepRecorded(p.child)
}

// keepRecorded is takeRecorded of whoever may ask.
func (cs *Consumers) keepRecorded(c *Child) {
	var part latency.Encoded
	if c.Call(ConsumersName+".Recorded", None(0), &part) != nil {
		return
	}
	cs.mu.Lock()
	defer cs.mu.Unlock()
	cs.left = append(cs.left, recorded{c, part})
}

func (cs *Consumers) takeLeft() (left []recorded) {
	cs.mu.Lock()
	defer cs.mu.Unlock()
	left, cs.left = cs.left, nil
	return left
}

// Stop ends the members and then the processes, with their figures. When ctx ends,
// commits are given up.
func (cs *Consumers) Stop(ctx context.Context) {
	if cs.stopped.Swap(true) {
		return
	}
	_ = cs.eachPlace(func(p *place) error {
		p.stop(ctx)
		return nil
	})
}
