package fleet

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

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
	byUser atomic.Bool // a user ended the load of the run early
	first  firstReady

	refused map[int]string // by index
	reason  string         // why there was no run; "" if there was

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
func (c *Coordinator) Close(ctx context.Context) error {
	defer c.cancel()
	return c.m.writer.Write(ctx, c.run, control.End{Reason: c.reason, Refused: c.refused})
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
		c.reason = err.Error()
		return bench.Handed{}, err
	}
	if err := c.begin(starting, plan); err != nil {
		return bench.Handed{}, err
	}
	watching, unwatch := context.WithCancel(ctx)
	news := c.watch(watching, watch)
	var helpers sync.WaitGroup
	defer func() {
		unwatch()
		helpers.Wait()
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
	helpers.Go(func() { c.tellEnd(watching, plan.Spending(s), watch.Ends) })
	helpers.Go(func() { c.interrupt(watching, lead+time.Duration(s.Phases.Warmup), watch.Interrupt) })
	missing := c.gather(ctx, limit, lead+time.Duration(s.Phases.Warmup))
	if err := ctx.Err(); err != nil { // the agents must end before their topic is deleted
		last, cancel := context.WithTimeout(context.WithoutCancel(ctx), lastWords)
		defer cancel()
		return bench.Handed{}, errors.Join(fmt.Errorf("the run %s was abandoned: %w", plan.RunID, err), c.m.writer.Write(last, c.run, control.End{Reason: "the run was abandoned"}))
	}
	h, err := c.handed(missing)
	h.ByUser = c.byUser.Load()
	return h, err
}
