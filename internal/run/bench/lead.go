package bench

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"sync"
	"time"

	"kafkabench.example/kafka-bench/internal/measure/snapshot"
	"kafkabench.example/kafka-bench/internal/plan/unit"
	"kafkabench.example/kafka-bench/internal/result"
)

// Fleet has agents make the parts of a run. The run itself only prepares topic and groups, and
// computes the result.
type Fleet interface {
	// Session returns the name under which the agents meet.
	Session() string
	// Parts returns how many agents there are, and Placement how they divide producers and
	// consumers. With Apart, the first Senders parts send.
	Parts() int
	Placement() string
	Senders() int
	// Make has the agents make the run, and returns what they handed in. An error means that the
	// run did not start.
	Make(ctx context.Context, plan Plan, watch FleetWatch) (Handed, error)
}

// FleetWatch follows the agents during a run.
type FleetWatch struct {
	// Started reports how long it is until the measured window begins, again if the start is repeated.
	Started func(in time.Duration)
	// Ends reports, if the window ends early, its end on the run's axis.
	Ends  func(atNs int64)
	Event func(result.Event)
	// Filled receives, once the agents have filled the topic, the acked records of each partition.
	// Its result is for the agents.
	Filled func(ctx context.Context, ackedIn []int64) (Filled, error)
	// Pulse reports the agents' counts while the load runs.
	Pulse func(result.Pulse)
	// Interrupt asks the agents to end the run early when it is closed.
	Interrupt <-chan struct{}
}

// Handed is what the agents have handed in.
type Handed struct {
	// Parts yields the snapshots of each part in order, on every call: one per interval, then one
	// of the end.
	Parts []iter.Seq2[snapshot.Snapshot, error]
	// Agents describes all agents, without what is in their snapshots.
	Agents []Agent
	// Missing says what is missing of each part; empty if nothing is.
	Missing []string
	// Stopped reports whether the agents were asked to end early, and ByUser whether FleetWatch's
	// Interrupt was the reason.
	Stopped, ByUser bool
}

// Agent describes the agent that made a part.
type Agent struct {
	Name     string // for people
	Instance uint64
	HostName string
	// Partitions is how many partitions its consumers had at the start. ClockErrorNs bounds its
	// clock's error at the start; nil is unknown.
	Partitions   int
	ClockErrorNs *int64
	Host         result.Host
	// Reasons say why the run is invalid, as far as known without the part.
	Reasons []string
}

// leader coordinates a run whose parts the agents make, and concludes it.
type leader struct {
	*run
	over    chan struct{} // closes when the agents are done
	looking sync.WaitGroup
}

func lead(ctx context.Context, cfg Config) (*Outcome, error) {
	cfg, g := guardRun(cfg)
	defer g.close()
	l := &leader{run: newRun(cfg), over: make(chan struct{})}
	l.guard = g
	starting, cancel := cfg.Starting(ctx)
	err := l.prepare(starting, l.checkQueue, l.makePayloads, l.makeSchedule, l.openResult, l.describeEarly, l.boundStored,
		l.verifyCluster, l.openGuard, l.openTopic, l.openDeadLetters, l.openProbes, l.beginUnlessFilled, l.describeEarly) // with the topic and the groups
	cancel()
	if err != nil {
		return nil, g.failed(err, l.leftBehind)
	}
	defer l.release()
	plan, err := l.makePlan(ctx)
	if err != nil {
		l.release()
		l.discard()
		return nil, err
	}
	handed, err := cfg.Fleet.Make(ctx, plan, FleetWatch{
		Started:   l.begin,
		Ends:      l.axis.EndAt,
		Event:     l.journal.Stamp,
		Filled:    l.filledByAgents,
		Pulse:     l.pulse,
		Interrupt: cfg.Interrupt,
	})
	l.finish()
	g.close()
	if err != nil {
		l.release()
		l.discard()
		if ctx.Err() == nil && errors.Is(err, context.Canceled) {
			err = &earlyEnd{while: "the agents were getting ready"}
		}
		return nil, g.failed(errors.Join(append([]error{err}, l.leftBehind...)...), l.leftBehind)
	}
	l.lag.Look(ctx) // after all last commits
	return l.conclude(plan, handed)
}

func (l *leader) openDeadLetters(ctx context.Context) error {
	if !l.hasQueue() {
		return nil
	}
	l.queue = newQueue(&l.base) // release removes its engine's topics and groups
	return l.queue.openDeadLetters(ctx)
}

func (l *leader) beginUnlessFilled(ctx context.Context) error {
	if l.cfg.Scenario.Filled() {
		l.noteFill()
		return nil
	}
	return l.beginReading(ctx)
}

func (l *leader) filledByAgents(ctx context.Context, ackedIn []int64) (Filled, error) {
	l.filledIn = ackedIn
	if err := l.awaitReadable(ctx); err != nil {
		return Filled{}, early(ctx, err, beingFilled)
	}
	if err := l.beginReading(ctx); err != nil {
		return Filled{}, err
	}
	sum := int64(0)
	for _, n := range ackedIn {
		sum += n
	}
	l.journal.Now("phase", "filled", unit.Things(sum, "record"))
	return Filled{AckedIn: ackedIn, From: l.from, ReadTo: l.readTo}, nil
}

func (l *leader) pulse(p result.Pulse) {
	l.journal.KeepFailure(l.writer.Pulse(p))
	l.pulsed = p
	if w, follows := l.cfg.Watch.(PulseWatcher); follows {
		w.Pulse(p)
	}
}

// PulseWatcher is an observe.Watcher that also follows the agents. Pulse is called from another
// goroutine than the other methods.
type PulseWatcher interface{ Pulse(result.Pulse) }

func (l *leader) makePlan(ctx context.Context) (Plan, error) {
	as, err := l.cfg.Scenario.Marshal()
	if err != nil {
		return Plan{}, fmt.Errorf("writing the resolved scenario: %w", err)
	}
	asked, err := l.asked.Marshal()
	if err != nil {
		return Plan{}, fmt.Errorf("writing the scenario: %w", err)
	}
	return Plan{
		RunID: l.runID, Session: l.cfg.Fleet.Session(), Scenario: as, Asked: asked, Driver: l.cfg.Driver.Name(),
		ClientID: l.clientID(),
		Topic:    l.topic.Name, Partitions: l.topic.Partitions, Existing: l.topic.Existing, Groups: l.groupIDs,
		From: l.from, ReadTo: l.readTo, Parts: l.cfg.Fleet.Parts(),
		Placement: Placed(l.cfg.Scenario, l.cfg.Fleet.Placement()),
		Senders:   l.cfg.Fleet.Senders(),
		Cluster:   clusterOf(l.cfg), Tool: l.cfg.Tool, Expected: l.cfg.Expected, Warnings: l.warnings,
	}, nil
}
