package bench

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"kafkabench.example/kafka-bench/backpressure"
	"kafkabench.example/kafka-bench/internal/result"
	"kafkabench.example/kafka-bench/internal/run/remote"
)

// The run's side of producers in processes of their own; worker.go is theirs.

// apart tells that the producers are in processes of their own.
func (r *run) apart() bool { return r.cfg.Scenario.Load.Processes > 1 }

// canStart tells that there is a way to start processes.
func (c Config) canStart() bool { return len(c.Worker) > 0 || c.Here != nil }

// startProcesses starts the processes that the scenario asks for.
func (r *run) startProcesses(context.Context) (err error) {
	if !r.apart() {
		return nil
	}
	if !r.cfg.canStart() {
		return errors.New("producers in processes of their own need the program's own command line, which nobody gave")
	}
	start := remote.Start{Command: r.cfg.Worker, Here: r.cfg.Here}
	if r.children, err = start.Children(r.cfg.Scenario.Load.Processes); err != nil {
		return err
	}
	r.told = r.children.Processes()
	if r.cfg.Scenario.Backpressure.Controller != "off" {
		r.gate = &childGates{children: r.children, run: r, last: make([]GateStanding, len(r.children))}
	}
	for i, c := range r.children {
		r.journal.event(result.Event{AtNs: r.axis.Now(), Kind: "process", What: fmt.Sprintf("process %d started", i),
			Data: map[string]any{"process": i, "pid": c.PID()}})
		r.relays.Go(func() {
			r.relay(fmt.Sprintf("process %d", i), c, func(e *result.Event) { e.Data["process"] = i })
		})
	}
	return nil
}

// openApart has each process open its part of the sending side.
func (r *run) openApart(ctx context.Context) error {
	assignments, err := r.assignments(ctx)
	if err != nil {
		return err
	}
	producers, err := remote.OpenProducers(r.children, r.axis, assignments)
	if err != nil {
		return err
	}
	r.producers = producers
	return nil
}

// assignments say what each process has to do.
func (r *run) assignments(ctx context.Context) ([]remote.Assignment, error) {
	s := r.cfg.Scenario
	yaml, err := s.Marshal()
	if err != nil {
		return nil, fmt.Errorf("writing the resolved scenario: %w", err)
	}
	access, err := r.access().Handover()
	if err != nil {
		return nil, err
	}
	shares, err := r.createShares(ctx)
	if err != nil {
		return nil, err
	}
	groups := r.groupIDs
	if r.manual() || len(r.groups) == 0 {
		groups = nil
	}
	parts := remote.Split(s.Load.Producers, s.Load.Clients, s.Load.Processes)
	all := make([]remote.Assignment, len(parts))
	for i, workers := range parts {
		all[i] = remote.Assignment{
			Version: remote.Version, Scenario: yaml, Driver: r.cfg.Driver.Name(),
			Brokers: r.cfg.Cluster.Bootstrap(), Access: access, Zero: r.axis.Zero(),
			RunID: r.writer.ID(), Topic: r.topic.Name, Partitions: r.topic.Partitions,
			Groups: groups, Consumed: len(r.groups) > 0, Shares: shares,
			Process: i, Processes: len(parts), Workers: workers,
		}
	}
	return all, nil
}

// createShares makes the topic in which the processes agree on their parts of the
// bound, where those follow demand.
func (r *run) createShares(ctx context.Context) (name string, err error) {
	if r.gate == nil || r.cfg.Scenario.Backpressure.Share != "demand" {
		return "", nil
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), createTimeout)
	defer cancel()
	name = "kafka-bench-shares-" + r.writer.ID()
	if r.shares, err = r.admin.CreateTopic(ctx, name, 1, r.cfg.Scenario.Topic.Replication, nil); err != nil {
		return "", fmt.Errorf("the topic of the shares: %w", err)
	}
	return name, nil
}

// relay writes down what happens in a process, until it ends, with its mark; it says
// how the process ended where that was too early.
func (r *run) relay(name string, c *remote.Child, mark func(*result.Event)) {
	for {
		var encoded []byte
		if err := c.Await(processService+".Events", remote.None(0), &encoded); err != nil {
			if failed := c.Err(); failed != nil {
				r.journal.now("error", name+" ended before the run did", failed.Error())
			}
			return
		}
		var events []result.Event
		decoder := json.NewDecoder(bytes.NewReader(encoded))
		decoder.UseNumber() // a count stays what it is
		if err := decoder.Decode(&events); err != nil {
			r.journal.once("warning", "what a process tells can't be read", err)
			return
		}
		for _, e := range events {
			if e.Data == nil {
				e.Data = make(map[string]any)
			}
			mark(&e)
			r.journal.event(e)
		}
	}
}

// usage is what this process and the others have used together, asked by remote.Ask or
// AskSoon; an error says which of them have died, of which it is what they told last.
func (r *run) usage(ask func(*remote.Process, string) (ProcessUsage, error)) (sum ProcessUsage, died error) {
	sum, _ = ownUsage(r.cfg.Probes) // Known says that it is not
	all, died := usages(r.processes(), ask)
	for _, u := range all {
		sum = sum.add(u)
	}
	return sum, died
}

// pauses are the worst that any of the producers' processes says of its runtime since
// it was last asked.
func (r *run) pauses() (worst RuntimePauses) {
	replies := make([]RuntimePauses, len(r.children))
	if r.children.Each(func(i int, c *remote.Child) error {
		return c.Call(processService+".Pauses", remote.None(0), &replies[i])
	}) != nil {
		return worst // the run is invalid for another reason
	}
	for _, p := range replies {
		worst = worst.worse(p)
	}
	return worst
}

// gates are the gate of a run: the one of this process, or those of the processes
// that the producers are in, which share the bound.
type gates interface {
	stats() backpressure.Stats
	bound() *int64
	// sampled is whether the gate is open, and its bound, for a sampler.
	sampled() (open bool, bound *int64)
	inWindow() *result.Bound
	poll(ctx context.Context)
	keep(ctx context.Context)
}

// childGates are the gates of the other processes together. Each reads the lag by
// itself, as applications do that know nothing of one another.
type childGates struct {
	children remote.Children
	run      *run

	mu   sync.Mutex
	last []GateStanding // by child, as last told
}

// ask asks all gates how they stand. Of a process that has ended, it is how its gate
// stood when it last told.
func (g *childGates) ask() []GateStanding {
	_ = g.children.Each(func(i int, c *remote.Child) error {
		var reply GateStanding
		err := c.Call(processService+".Gate", remote.None(0), &reply)
		if err == nil {
			g.keepLast(i, reply)
		}
		return err
	})
	return g.standings()
}

// askSoon is ask for a sampler.
func (g *childGates) askSoon() []GateStanding {
	_ = g.children.Each(func(i int, c *remote.Child) error {
		var reply GateStanding
		c.CallSoon(processService+".Gate", remote.None(0), &reply, func() { g.keepLast(i, reply) })
		return nil
	})
	return g.standings()
}

func (g *childGates) keepLast(i int, s GateStanding) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.last[i] = s
}

// standings are how the gates stood when they were last asked.
func (g *childGates) standings() []GateStanding {
	g.mu.Lock()
	defer g.mu.Unlock()
	return slices.Clone(g.last)
}

// stats are those of all gates together, as backpressure.Partitioned adds up its
// own: records, changes and bounds are sums, times are those of the gate with the
// most, and they are open if one is. There is no lag in it: a gate with a share knows
// its own part of it and one without a share the whole, so the sum means nothing.
func (g *childGates) stats() backpressure.Stats {
	all := g.ask()
	sum := all[0].Stats
	sum.Lag = 0
	for _, one := range all[1:] {
		s := one.Stats
		sum.Admitted += s.Admitted
		sum.Settled += s.Settled
		sum.Refused += s.Refused
		sum.Changes += s.Changes
		sum.Outstanding += s.Outstanding
		sum.Share += s.Share
		sum.Ceiling, sum.Bound = together(sum.Ceiling, s.Ceiling), together(sum.Bound, s.Bound)
		sum.Reports, sum.Missed = max(sum.Reports, s.Reports), max(sum.Missed, s.Missed)
		sum.Closed, sum.Blind = max(sum.Closed, s.Closed), max(sum.Blind, s.Blind)
		sum.MaxAge = max(sum.MaxAge, s.MaxAge)
		sum.Open, sum.BlindNow = sum.Open || s.Open, sum.BlindNow || s.BlindNow
	}
	return sum
}

// together adds up two bounds, of which one may be none.
func together(a, b int64) int64 {
	if a == backpressure.Unlimited || b == backpressure.Unlimited {
		return backpressure.Unlimited
	}
	return a + b
}

// sampled is open if one of them is.
func (g *childGates) sampled() (open bool, bound *int64) {
	all := g.askSoon()
	return slices.ContainsFunc(all, func(s GateStanding) bool { return s.Stats.Open }), boundOf(all)
}

// bound is the sum of the parts that the gates have; nil is any lag.
func (g *childGates) bound() *int64 { return boundOf(g.ask()) }

func boundOf(all []GateStanding) *int64 {
	var sum int64
	for _, s := range all {
		if s.Bound == nil {
			return nil
		}
		sum += *s.Bound
	}
	return &sum
}

// inWindow is how the sum of the parts moved: from the sum of the least to the sum
// of the most that they ever were.
func (g *childGates) inWindow() *result.Bound {
	var sum *result.Bound
	for _, s := range g.standings() {
		switch {
		case s.InWindow == nil:
		case sum == nil:
			first := *s.InWindow
			sum = &first
		default:
			sum.Min, sum.Max, sum.Last = sum.Min+s.InWindow.Min, sum.Max+s.InWindow.Max, sum.Last+s.InWindow.Last
		}
	}
	return sum
}

// poll does nothing: each gate has read the lag when it was made.
func (g *childGates) poll(context.Context) {}

// keep reads the lag as often as the gates do, for the peak, and tells them how far
// the consumers have come, where they go by that.
func (g *childGates) keep(ctx context.Context) {
	r := g.run
	atEach(ctx, time.Duration(r.cfg.Scenario.Backpressure.Poll), func() {
		if r.lag.delivered != nil {
			delivered := r.lag.delivered()
			_ = g.children.Each(func(_ int, c *remote.Child) error {
				c.CallSoon(processService+".Delivered", delivered, new(remote.None), func() {})
				return nil
			})
		}
		r.lag.forSeries(ctx)
	})
}
