package fleet

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"sync"
	"time"

	"kafkabench.example/kafka-bench/internal/measure/snapshot"
	"kafkabench.example/kafka-bench/internal/plan/scenario"
	"kafkabench.example/kafka-bench/internal/result"
	"kafkabench.example/kafka-bench/internal/run/bench"
	"kafkabench.example/kafka-bench/internal/run/fleet/control"
)

// Config configures a coordinator.
type Config struct {
	Session     Session
	Of          int    // agents
	Placed      string // bench.Own, bench.Any or bench.Apart
	Senders     int    // with bench.Apart, how many agents send: the first ones
	Tool        result.Tool
	ClusterID   string        // agents of another cluster are refused
	JoinTimeout time.Duration // for all agents to join
	Spool       string        // keeps snapshots until the run is concluded
	Tell        func(string)  // receives progress; may be nil
}

// Coordinator is a bench.Fleet.
type Coordinator struct {
	cfg    Config
	m      *member
	cancel context.CancelFunc
	run    int
	first  firstReady

	refused map[int]string // by index

	mu     sync.Mutex
	spools []*spool // of the run under way, by agent
	failed error    // first failed write to a spool

	ended map[int]error // guarded by the member's lock
}

// ErrAgents reports missing or unready agents, so that there is no run.
var ErrAgents = errors.New("no run")

type firstReady struct {
	record *control.Ready
	at     time.Time
}

// Open joins a session as its coordinator.
func Open(cfg Config) *Coordinator {
	ctx, cancel := context.WithCancel(context.Background())
	c := &Coordinator{cfg: cfg, cancel: cancel, ended: make(map[int]error)}
	c.m = join(ctx, cfg.Session, control.Coordinator, func(heard control.Change) {
		if heard.Snapshot != nil {
			c.take(heard.Record.Agent, heard.Snapshot, heard.Record.Run)
		}
	})
	return c
}

// Close ends the session.
func (c *Coordinator) Close(ctx context.Context, reason string) error {
	defer c.cancel()
	return c.m.writer.Write(ctx, c.run, control.End{Reason: reason, Refused: c.refused})
}

// Ended reports that an agent's process has ended for good. It is safe for concurrent use.
func (c *Coordinator) Ended(index int, why error) {
	c.m.mu.Lock()
	defer c.m.mu.Unlock()
	c.ended[index] = why
	c.m.wake()
}

// gone says which agents of the list ended, and why. The caller holds the member's lock.
func (c *Coordinator) gone(of []int) (texts []string) {
	for _, i := range of {
		if why, ended := c.ended[i]; ended {
			texts = append(texts, fmt.Sprintf("agent %d ended: %v", i, why))
		}
	}
	return texts
}

// RunID returns the ID of the last run that began, or "".
func (c *Coordinator) RunID() (id string) {
	c.m.look(func(s *control.State) {
		if plan := s.Plan(); plan != nil {
			id = plan.RunID
		}
	})
	return id
}

// Session is the session's name.
func (c *Coordinator) Session() string { return c.cfg.Session.Name }

// Parts is Config.Of.
func (c *Coordinator) Parts() int { return c.cfg.Of }

// Placement is Config.Placed.
func (c *Coordinator) Placement() string { return c.cfg.Placed }

// Senders is Config.Senders.
func (c *Coordinator) Senders() int { return c.cfg.Senders }

func (c *Coordinator) take(agent int, whole []byte, run int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if run != c.run || agent < 0 || agent >= len(c.spools) || c.failed != nil {
		return
	}
	c.failed = c.spools[agent].write(whole)
}

// Make implements bench.Fleet.
func (c *Coordinator) Make(ctx context.Context, plan bench.Plan, watch bench.FleetWatch) (bench.Handed, error) {
	s, err := scenario.Parse("the run's scenario", plan.Scenario)
	if err != nil {
		return bench.Handed{}, err
	}
	starting, cancel := bench.Config{Interrupt: watch.Interrupt}.Starting(ctx)
	defer cancel()
	if err := c.awaitAgents(starting); err != nil {
		return bench.Handed{}, err
	}
	if err := c.begin(starting, plan); err != nil {
		return bench.Handed{}, err
	}
	watching, unwatch := context.WithCancel(ctx)
	news := c.watch(watching, watch)
	defer func() {
		unwatch()
		<-news
	}()
	if s.Filled() {
		if err := c.fill(starting, plan, watch); err != nil {
			return bench.Handed{}, err
		}
	}
	if err := c.start(starting, plan, s, watch); err != nil {
		return bench.Handed{}, err
	}
	limit := lead + time.Duration(s.Phases.Warmup+s.Phases.Measure+s.Phases.Drain)
	go c.interrupt(ctx, lead+time.Duration(s.Phases.Warmup), watch.Interrupt)
	missing := c.gather(ctx, limit, lead+time.Duration(s.Phases.Warmup))
	if err := ctx.Err(); err != nil { // agents end before their topic is deleted
		last, cancel := context.WithTimeout(context.WithoutCancel(ctx), lastWords)
		defer cancel()
		return bench.Handed{}, errors.Join(err, c.m.writer.Write(last, c.run, control.End{Reason: "the run was abandoned"}))
	}
	return c.handed(missing)
}

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
		return len(missing) == 0 || len(gone) > 0
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
	var faults []error
	c.refused = make(map[int]string)
	c.m.look(func(s *control.State) {
		for i := range c.cfg.Of {
			a, _ := s.Agent(i)
			of := errors.Join(c.check(i, a.Hello)...)
			if faults = append(faults, of); of != nil {
				c.refused[i] = of.Error()
			}
		}
	})
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

// start writes another start if one names a replaced instance.
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
		zero := c.first.record.ClockNs + int64(time.Since(c.first.at)+in)
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
		watch.Started(in)
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

func (c *Coordinator) interrupt(ctx context.Context, in time.Duration, interrupt <-chan struct{}) {
	began := time.Now()
	select {
	case <-interrupt:
		c.stop(ctx, began, in)
	case <-ctx.Done():
	}
}

// stop ends the load at a future time that all agents know. The measured window begins in after
// began.
func (c *Coordinator) stop(ctx context.Context, began time.Time, in time.Duration) {
	_ = c.m.writer.Write(ctx, c.run, control.Stop{AtNs: int64(time.Since(began) - in + lead)})
}

// gather returns what is missing once all agents have handed in or cannot, or are silent for
// handInWithin after limit. If one fails, the load of the others ends.
func (c *Coordinator) gather(ctx context.Context, limit, in time.Duration) (missing []string) {
	began := time.Now()
	deadline := began.Add(limit + handInWithin)
	stopped, last := false, false
	for {
		wait, cancel := context.WithDeadline(ctx, deadline)
		var before int64
		c.m.look(func(s *control.State) { before = s.Count(control.Applied) })
		var incomplete, failed, lost []int
		err := c.m.await(wait, func(s *control.State) bool {
			incomplete = s.Incomplete(c.cfg.Of)
			failed, lost = c.failing(s, incomplete)
			return len(incomplete) == 0 || len(failed) > 0 && !stopped || len(lost) == len(incomplete) && !last ||
				s.Count(control.Applied) != before
		})
		cancel()
		if missing = c.missing(); len(missing) == 0 || err != nil {
			if err != nil && !errors.Is(err, context.DeadlineExceeded) {
				missing = append(missing, err.Error())
			}
			return missing
		}
		if len(failed) > 0 && !stopped {
			stopped = true
			c.stop(ctx, began, in)
		}
		if silence := time.Now().Add(handInWithin); silence.After(deadline) && !last {
			deadline = silence
		}
		if len(lost) == len(incomplete) && !last { // their last records may not be read yet
			last, deadline = true, time.Now().Add(lastWords)
		}
	}
}

const lastWords = 5 * time.Second

// failing returns the agents that failed or ended early, and those of them that will not hand in.
// The member's lock is held.
func (c *Coordinator) failing(s *control.State, incomplete []int) (failed, lost []int) {
	for i := range c.cfg.Of {
		a, _ := s.Agent(i)
		_, ended := c.ended[i]
		ended = ended && slices.Contains(incomplete, i)
		early := a.Sent != nil && a.Sent.Failed != ""
		if ended || early {
			failed = append(failed, i)
		}
		if ended || early && a.Sent.AckedIn == nil {
			lost = append(lost, i)
		}
	}
	return failed, lost
}

func (c *Coordinator) missing() (missing []string) {
	c.m.look(func(s *control.State) {
		for _, i := range s.Incomplete(c.cfg.Of) {
			a, _ := s.Agent(i)
			text := fmt.Sprintf("agent %d (%s) did not hand in its part", i, a.Hello.HostName)
			switch why, ended := c.ended[i]; {
			case a.Sent != nil && a.Sent.Failed != "":
				text += ": " + a.Sent.Failed
			case ended:
				text += fmt.Sprintf(": it ended: %v", why)
			case a.Gaps > 0:
				text += ": some of its records are missing in the session's log"
			}
			missing = append(missing, text)
		}
	})
	return missing
}

func (c *Coordinator) handed(missing []string) (h bench.Handed, err error) {
	h.Missing, h.Parts = missing, make([]iter.Seq2[snapshot.Snapshot, error], c.cfg.Of)
	complete := make([]bool, c.cfg.Of)
	c.m.look(func(s *control.State) {
		for i := range complete {
			a, _ := s.Agent(i)
			complete[i] = s.Complete(i)
			h.Agents = append(h.Agents, bench.Agent{
				Name: fmt.Sprintf("agent %d (%s)", i, a.Hello.HostName), Instance: a.Instance, HostName: a.Hello.HostName,
				Host: a.Hello.Host,
			})
			if start := s.Start(); start != nil {
				for _, owner := range start.Owners {
					if owner == i {
						h.Agents[i].Partitions++
					}
				}
			}
			if a.Ready != nil {
				h.Agents[i].ClockErrorNs = &a.Ready.ClockErrorNs
			}
			if a.Sent != nil && a.Sent.Failed != "" {
				h.Agents[i].Reasons = []string{a.Sent.Failed}
			}
		}
	})
	c.mu.Lock()
	defer c.mu.Unlock()
	for i := range complete {
		if complete[i] {
			h.Parts[i] = c.spools[i].snapshots()
		}
	}
	return h, c.failed
}
