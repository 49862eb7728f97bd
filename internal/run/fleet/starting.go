package fleet

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"kafkabench.example/kafka-bench/internal/plan/scenario"
	"kafkabench.example/kafka-bench/internal/result"
	"kafkabench.example/kafka-bench/internal/run/bench"
	"kafkabench.example/kafka-bench/internal/run/fleet/control"
)

func (c *Coordinator) awaitAgents(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, c.cfg.JoinTimeout)
	defer cancel()
	var missing []int
	var gone []string
	var key error
	told := -1
	err := c.m.await(ctx, func(s *control.State) bool {
		missing, gone = s.Missing(c.cfg.Of), c.gone(indexes(c.cfg.Of))
		if c.m.key != nil && key == nil && len(missing) > 0 && c.cfg.Tell != nil {
			c.cfg.Tell(fmt.Sprintf("a record of the session %s was refused: %v", c.cfg.Session.Name, c.m.key))
		}
		key = c.m.key
		if n := c.cfg.Of - len(missing); n != told && len(missing) > 0 && c.cfg.Tell != nil {
			c.cfg.Tell(fmt.Sprintf("%d of %d agents have joined the session %s", n, c.cfg.Of, c.cfg.Session.Name))
			told = n
		}
		return len(missing) == 0 || len(gone) > 0 || c.unfit(s) != nil
	})
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		err = fmt.Errorf("%w: %s did not join the session %s within %v", ErrAgents, agents(missing), c.cfg.Session.Name, c.cfg.JoinTimeout)
		if key != nil {
			err = fmt.Errorf("%w; a record was refused: %w", err, key)
		}
		return err
	case err != nil:
		return err
	case len(gone) > 0:
		return fmt.Errorf("%w: %s", ErrAgents, strings.Join(gone, "; "))
	}
	if len(missing) > 0 { // an agent is refused: others that join at the same time may be refused too
		select {
		case <-time.After(settle):
		case <-ctx.Done():
		}
	}
	c.m.look(func(s *control.State) { err = c.unfit(s) })
	return err
}

// unfit says why agents that have joined are refused. The member's lock is held.
func (c *Coordinator) unfit(s *control.State) error {
	var faults []error
	c.refused = make(map[int]string)
	for i := range c.cfg.Of {
		a, joined := s.Agent(i)
		if !joined {
			continue
		}
		of := errors.Join(c.check(i, a.Hello)...)
		if faults = append(faults, of); of != nil {
			c.refused[i] = of.Error()
		}
	}
	return errors.Join(faults...)
}

func indexes(of int) []int {
	all := make([]int, of)
	for i := range all {
		all[i] = i
	}
	return all
}

func (c *Coordinator) check(index int, h control.Hello) (faults []error) {
	refuse := func(format string, args ...any) {
		faults = append(faults, fmt.Errorf("agent %d (%s): "+format, append([]any{index, h.HostName}, args...)...))
	}
	if h.Of != c.cfg.Of {
		refuse("it was started as one of %d agents, and the run has %d: give both the same number", h.Of, c.cfg.Of)
	}
	if h.Tool != c.cfg.Tool.Version || h.Method != result.Method {
		refuse("it is kafka-bench %s, and this is %s: use one release on all machines", h.Tool, c.cfg.Tool.Version)
	}
	if h.ClusterID != c.cfg.ClusterID {
		refuse("its --brokers lead to the cluster %s, and those of the run to %s", h.ClusterID, c.cfg.ClusterID)
	}
	return faults
}

func agents(indexes []int) string {
	words := make([]string, len(indexes))
	for i, n := range indexes {
		words[i] = fmt.Sprint(n)
	}
	if len(words) == 1 {
		return "agent " + words[0]
	}
	return "agents " + strings.Join(words, ", ")
}

func (c *Coordinator) makeRoom(run int) error {
	spools := make([]*spool, c.cfg.Of)
	for i := range spools {
		var err error
		if spools[i], err = newSpool(c.cfg.Spool); err != nil {
			return err
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, s := range c.spools {
		s.close()
	}
	c.spools, c.failed, c.run = spools, nil, run
	c.byUser.Store(false)
	return nil
}

// begin fails if another process coordinates the session.
func (c *Coordinator) begin(ctx context.Context, plan bench.Plan) error {
	if err := c.makeRoom(c.run + 1); err != nil {
		return err
	}
	assignment, err := json.Marshal(plan)
	if err != nil {
		return err
	}
	err = c.m.writer.Write(ctx, c.run, control.Plan{
		RunID: plan.RunID, Assignment: assignment, Placement: plan.Placement,
		ReadyWithin: readyWithin, HandInWithin: handInWithin, NextWithin: nextWithin,
	})
	if err != nil {
		return err
	}
	var directs uint64
	err = c.m.await(ctx, func(s *control.State) bool {
		directs = s.Directed()
		return directs != 0 && (directs != c.m.instance || s.Run() == c.run)
	})
	if err == nil && directs != c.m.instance {
		err = fmt.Errorf("another process coordinates the session %s: choose another --session", c.cfg.Session.Name)
	}
	return err
}

func (c *Coordinator) fill(ctx context.Context, plan bench.Plan, watch bench.FleetWatch) error {
	var unfilled []int
	var failed []string
	var ackedIn []int64
	err := c.m.awaitTalk(ctx, handInWithin, func(s *control.State) bool {
		unfilled, failed = s.Unfilled(c.cfg.Of), nil
		for i := range c.cfg.Of {
			if a, _ := s.Agent(i); a.Ready != nil && a.Ready.Failed != "" {
				failed = append(failed, fmt.Sprintf("agent %d (%s): %s", i, a.Hello.HostName, a.Ready.Failed))
			}
		}
		ackedIn = filledIn(s, c.cfg.Of, plan.Partitions)
		return len(unfilled) == 0 || len(failed) > 0
	})
	switch {
	case len(failed) > 0:
		return errors.New(strings.Join(failed, "; "))
	case errors.Is(err, context.DeadlineExceeded):
		return fmt.Errorf("the topic was not filled: %s did not say in %v how far it is", agents(unfilled), handInWithin)
	case err != nil:
		return err
	}
	filled, err := watch.Filled(ctx, ackedIn)
	if err != nil {
		return err
	}
	return c.m.writer.Write(ctx, c.run, control.Reading{From: filled.From, ReadTo: filled.ReadTo})
}

// settle is how long the agents' partitions must stay the same before the start.
const settle = 300 * time.Millisecond

// start writes another start record if the last one names a replaced instance.
func (c *Coordinator) start(ctx context.Context, plan bench.Plan, s scenario.Scenario, watch bench.FleetWatch) error {
	ready, cancel := context.WithTimeout(ctx, readyWithin)
	defer cancel()
	for {
		owners, err := c.awaitReady(ready, plan, s)
		if err != nil {
			return err
		}
		quiet, stop := context.WithTimeout(ready, settle)
		changed := c.m.await(quiet, func(st *control.State) bool { return !slices.Equal(owned(st, plan), owners) }) == nil
		stop()
		if changed {
			continue
		}
		in := lead + time.Duration(s.Phases.Warmup)
		var instances []uint64
		zero, at := c.first.record.ClockNs+int64(time.Since(c.first.at)+in), time.Now().Add(in)
		clocks := make([]int64, c.cfg.Of)
		c.m.look(func(st *control.State) {
			instances = st.Instances(c.cfg.Of)
			for i := range clocks {
				if a, _ := st.Agent(i); a.Ready != nil {
					clocks[i] = zero - a.Ready.ClockOffsetNs
				}
			}
		})
		start := control.Start{
			Instances: instances, Owners: owners, ClocksNs: clocks, LengthNs: int64(s.Phases.Measure),
		}
		if err := c.m.writer.Write(ready, c.run, start); err != nil {
			return err
		}
		watch.Started(time.Until(at))
		begun := false
		err = c.m.await(ready, func(st *control.State) bool {
			begun = st.Start() != nil
			return begun || !slices.Equal(st.Instances(c.cfg.Of), instances)
		})
		if err != nil || begun {
			return err
		}
	}
}

func (c *Coordinator) awaitReady(ctx context.Context, plan bench.Plan, s scenario.Scenario) (owners []int, err error) {
	consumes := s.Consume.Consumers > 0 && !s.Consume.Queue.Used()
	var failed, unready []string
	err = c.m.await(ctx, func(st *control.State) bool {
		unready = nil
		failed = c.gone(indexes(c.cfg.Of))
		for i := range c.cfg.Of {
			a, _ := st.Agent(i)
			name := fmt.Sprintf("agent %d (%s)", i, a.Hello.HostName)
			switch {
			case a.Ready == nil:
				unready = append(unready, name+" is not ready")
			case a.Ready.Failed != "":
				failed = append(failed, name+": "+a.Ready.Failed)
			case consumes && plan.Placement == bench.Own && len(a.Ready.Partitions) == 0:
				unready = append(unready, name+" has no partition")
			}
			if i == 0 && a.Ready != c.first.record {
				c.first = firstReady{a.Ready, time.Now()}
			}
		}
		owners = owned(st, plan)
		if consumes && slices.Contains(owners, control.Coordinator) {
			unready = append(unready, "some partitions have no consumer yet")
		}
		return len(failed) > 0 || len(unready) == 0
	})
	switch {
	case len(failed) > 0:
		return nil, fmt.Errorf("%w: %s", ErrAgents, strings.Join(failed, "; "))
	case errors.Is(err, context.DeadlineExceeded):
		return nil, fmt.Errorf("%w: the agents were not ready within %v: %s", ErrAgents, readyWithin, strings.Join(unready, "; "))
	}
	return owners, err
}

func owned(s *control.State, plan bench.Plan) []int {
	owners := slices.Repeat([]int{control.Coordinator}, plan.Partitions)
	for i, a := range s.Agents() {
		if a.Ready == nil {
			continue
		}
		for _, p := range a.Ready.Partitions {
			if int(p) < len(owners) {
				owners[p] = i
			}
		}
	}
	return owners
}
