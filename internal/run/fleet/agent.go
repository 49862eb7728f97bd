package fleet

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"kafkabench.example/kafka-bench/internal/kafka/driver"
	"kafkabench.example/kafka-bench/internal/load"
	"kafkabench.example/kafka-bench/internal/plan/scenario"
	"kafkabench.example/kafka-bench/internal/result"
	"kafkabench.example/kafka-bench/internal/run/bench"
	"kafkabench.example/kafka-bench/internal/run/fleet/control"
)

// AgentConfig configures an agent.
type AgentConfig struct {
	Session   Session
	Index, Of int // from 0 to Of-1
	// Bench configures each part, except for scenario and driver. Snapshots and the parts' folders
	// go to Bench.Out. Bench.Interrupt ends the current part early, and then the agent.
	Bench    bench.Config
	Open     func(name string) (driver.Driver, error)
	HostName string
	Host     result.Host
	Clock    Clock
	Tell     func(string) // receives progress; may be nil
	// Plans receives each run's plan before the agent makes its part; it may be nil.
	Plans func(bench.Plan)
}

var (
	// ErrReplaced reports that another process has claimed the agent's index.
	ErrReplaced      = errors.New("another process has the index of this agent")
	errRefused       = errors.New("the coordinator refuses this agent")
	errOtherKey      = errors.New("the coordinator has another key")
	errNoCoordinator = errors.New("no coordinator")
	// ErrNotHandedIn reports that a part could not be made or handed in.
	ErrNotHandedIn = errors.New("the part was not handed in")
)

// NoCoordinator reports whether an agent ended because it has no coordinator.
func NoCoordinator(err error) bool { return errors.Is(err, errNoCoordinator) }

// RunAgent makes an agent's part of each run of its session, until the session is over or no plan
// comes for nextWithin after the last part.
func RunAgent(ctx context.Context, cfg AgentConfig) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	a := &agent{AgentConfig: cfg, clock: load.NewAxis(cfg.Bench.Probes.Clock()).ClockNow}
	clocks, err := openClocks(cfg, a.clock)
	if err != nil {
		return err
	}
	defer clocks.close()
	a.clocks, a.m = clocks, join(ctx, cfg.Session, cfg.Index, clocks.heard)
	clocks.start(ctx, a.m)
	hello := control.Hello{
		Index: cfg.Index, Of: cfg.Of, Instance: a.m.instance, Tool: cfg.Bench.Tool.Version, Method: result.Method,
		HostName: cfg.HostName, Host: cfg.Host, ClusterID: cfg.Bench.Cluster.Info().ID,
		ClockAddr: clocks.addr(), BootID: cfg.Clock.Boot.ID, ClockShiftNs: cfg.Clock.Boot.MonotonicNs,
	}
	if err := a.m.writer.Write(ctx, 0, hello); err != nil {
		return err
	}
	a.tell("agent %d of %d has joined the session %s and waits for the run", cfg.Index, cfg.Of, cfg.Session.Name)
	for done := 0; ; {
		plan, err := a.next(ctx, done)
		switch {
		case err != nil:
			return err
		case plan == nil && done == 0 && a.interrupted():
			return context.Canceled
		case plan == nil:
			a.tell("the session is over")
			return nil
		}
		done = plan.run
		if a.Plans != nil {
			a.Plans(plan.plan)
		}
		if err := a.makePart(ctx, *plan); err != nil {
			return err
		}
		if a.interrupted() {
			return nil
		}
	}
}

type agent struct {
	AgentConfig
	m      *member
	clock  func() int64
	clocks *clocks
}

func (a *agent) tell(format string, args ...any) {
	if a.Tell != nil {
		a.Tell(fmt.Sprintf(format, args...))
	}
}

func (a *agent) interrupted() bool {
	select {
	case <-a.Bench.Interrupt:
		return true
	default:
		return false
	}
}

type planned struct {
	run    int
	record control.Plan
	plan   bench.Plan
}

// next returns nil if the session is over.
func (a *agent) next(ctx context.Context, last int) (*planned, error) {
	if last > 0 { // else it waits until people start the coordinator
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, nextWithin)
		defer cancel()
	}
	wait, cancel := a.Bench.Starting(ctx)
	defer cancel()
	var p *planned
	var standing control.Standing
	var end *control.End
	var key error
	err := a.m.await(wait, func(s *control.State) bool {
		standing, end = s.Mine(a.m.instance), s.End()
		if a.m.foreign && s.Directed() == 0 {
			key = a.m.key
			return true
		}
		if s.Run() > last && s.Plan() != nil && standing == control.Valid {
			p = &planned{run: s.Run(), record: *s.Plan()}
		}
		return p != nil || s.End() != nil || standing == control.Replaced || standing == control.TooLate
	})
	switch {
	case err != nil && (a.interrupted() || errors.Is(err, control.ErrGone) || last > 0 && errors.Is(err, context.DeadlineExceeded)):
		return nil, nil
	case err != nil:
		return nil, err
	case key != nil:
		return nil, fmt.Errorf("%w: %w", errOtherKey, key)
	case end != nil && end.Refused[a.Index] != "":
		return nil, fmt.Errorf("%w: %s", errRefused, end.Refused[a.Index])
	case end != nil && last == 0:
		return nil, fmt.Errorf("%w: it ended the session before there was a run: %s", errNoCoordinator, end.Reason)
	case standing == control.Replaced || standing == control.TooLate:
		return nil, fmt.Errorf("%w: agent %d of the session %s", ErrReplaced, a.Index, a.Session.Name)
	case p == nil:
		return nil, nil
	}
	if err := json.Unmarshal(p.record.Assignment, &p.plan); err != nil {
		return nil, fmt.Errorf("the plan of the run: %w", err)
	}
	return p, nil
}

func (a *agent) makePart(ctx context.Context, p planned) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	s, err := scenario.Parse("the run's scenario", p.plan.Scenario)
	if err != nil {
		return err
	}
	spool, err := newSpool(a.Bench.Out)
	if err != nil {
		return err
	}
	defer spool.close()
	l := &link{
		ctx: ctx, m: a.m, run: p.run, index: a.Index, of: a.Of, warmup: time.Duration(s.Phases.Warmup), fills: s.Filled(),
		own: p.plan.Placement == bench.Own && s.Consume.Consumers > 0, clock: a.clock,
		started: make(chan bench.Started, 1), spool: spool, interrupt: make(chan struct{}),
	}
	l.tell = a.tell
	l.abandon = cancel
	l.clocks, l.owns, l.wanted = a.clocks, make(chan []int32, 1), wanted(p.plan, s, a.Index)
	go l.getReady()
	following := make(chan struct{})
	go func() {
		defer close(following)
		l.follow(p.record.ReadyWithin + startGrace)
	}()
	go func() {
		select {
		case <-a.Bench.Interrupt:
			l.early.Store(true)
			l.end()
		case <-ctx.Done():
		}
	}()
	cfg := a.Bench
	cfg.Scenario, cfg.Interrupt, cfg.Watch = s, l.interrupt, &pulses{link: l, next: cfg.Watch}
	if cfg.Driver, err = a.Open(p.plan.Driver); err == nil {
		a.tell("making a part of the run %s", p.plan.RunID)
		err = bench.RunPart(ctx, cfg, p.plan, a.Index, l)
	}
	if err != nil {
		outer := context.WithoutCancel(ctx)
		if ctx.Err() == nil {
			cancel()
		}
		<-following
		if l.why != nil {
			err = l.why
		}
		last, done := context.WithTimeout(outer, lastWords)
		defer done()
		_ = a.m.writer.Write(last, p.run, control.Ready{ClockNs: a.clock(), Failed: err.Error()}) // before the start
		_ = a.m.writer.Write(last, p.run, control.Sent{Failed: err.Error()})                      // after the start
		return fmt.Errorf("%w: %w", ErrNotHandedIn, err)
	}
	return a.handIn(ctx, p.run, spool)
}

func (a *agent) handIn(ctx context.Context, run int, spool *spool) error {
	number := 0
	for data, err := range spool.encoded() {
		if err != nil {
			return fmt.Errorf("%w: %w", ErrNotHandedIn, err)
		}
		if err := a.m.writer.HandIn(ctx, run, number, data, number == spool.number-1); err != nil {
			return fmt.Errorf("%w: %w", ErrNotHandedIn, err)
		}
		number++
	}
	a.tell("handed in %d snapshots", number)
	return nil
}
