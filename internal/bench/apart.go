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

	"kafka-bench/backpressure"
	"kafka-bench/internal/remote"
	"kafka-bench/internal/result"
)

// The run's side of producers in processes of their own; worker.go is theirs.

// apart tells that the producers are in processes of their own.
func (r *run) apart() bool { return r.cfg.Scenario.Load.Processes > 1 }

// startProcesses starts the processes that the scenario asks for.
func (r *run) startProcesses(context.Context) (err error) {
	if !r.apart() {
		return nil
	}
	if len(r.cfg.Worker) == 0 {
		return errors.New("producers in processes of their own need the program's own command line, which nobody gave")
	}
	if r.children, err = remote.StartChildren(r.cfg.Scenario.Load.Processes, r.cfg.Worker); err != nil {
		return err
	}
	if r.cfg.Scenario.Backpressure.Controller != "off" {
		r.gate = &childGates{children: r.children, run: r, last: make([]GateStanding, len(r.children))}
	}
	for i, c := range r.children {
		r.journal.event(result.Event{AtNs: r.axis.Now(), Kind: "process", What: fmt.Sprintf("process %d started", i),
			Data: map[string]any{"process": i, "pid": c.PID()}})
		r.relays.Go(func() { r.relay(i, c) })
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

// relay writes down what happens in a process, until it ends; it names the process,
// and says how it ended where that was too early.
func (r *run) relay(i int, c *remote.Child) {
	for {
		var encoded []byte
		if err := c.Await(processService+".Events", remote.None(0), &encoded); err != nil {
			if failed := c.Err(); failed != nil {
				r.journal.now("error", fmt.Sprintf("process %d ended before the run did", i), failed.Error())
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
			e.Data["process"] = i
			r.journal.event(e)
		}
	}
}

// usage is what this process and the others have used together; an error says of
// which of them that is not known.
func (r *run) usage() (sum ProcessUsage, err error) {
	sum, err = ownUsage()
	if !r.apart() || err != nil {
		return sum, err
	}
	replies := make([]ProcessUsage, len(r.children))
	failed := r.children.Each(func(i int, c *remote.Child) error {
		return c.Call(processService+".Usage", remote.None(0), &replies[i])
	})
	if failed != nil {
		return sum, failed
	}
	for _, u := range replies {
		sum = sum.add(u)
	}
	return sum, nil
}

// pauses are the worst that any of the other processes says of its runtime since
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
			g.mu.Lock()
			g.last[i] = reply
			g.mu.Unlock()
		}
		return err
	})
	return g.standings()
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

// bound is the sum of the parts that the gates have; nil is any lag.
func (g *childGates) bound() *int64 {
	var sum int64
	for _, s := range g.ask() {
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
				return c.Call(processService+".Delivered", delivered, new(remote.None))
			})
		}
		r.lag.forSeries(ctx)
	})
}
