package bench

import (
	"context"
	"errors"
	"fmt"
	"iter"
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
	// Started reports in what time the measured window begins.
	Started func(in time.Duration)
	Event   func(result.Event)
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
	// Parts yields the snapshots of each part in order, on every call: one per interval, then that
	// of the end.
	Parts []iter.Seq2[snapshot.Snapshot, error]
	// Agents describes all agents, without what is in their snapshots.
	Agents []Agent
	// Missing says what is missing of each part; empty if nothing is.
	Missing []string
}

// Agent describes the agent that made a part.
type Agent struct {
	Name     string // for people
	Instance uint64
	HostName string
	// Partitions is how many its consumers had at the start. ClockErrorNs bounds its clock's error
	// then; nil is unknown.
	Partitions   int
	ClockErrorNs *int64
	Host         result.Host
	// Reasons make the run invalid, as far as known without the part.
	Reasons []string
}

func lead(ctx context.Context, cfg Config) (*Outcome, error) {
	r := newRun(cfg)
	starting, cancel := cfg.Starting(ctx)
	err := r.prepare(starting, r.checkQueue, r.makePayloads, r.makeSchedule, r.openResult, r.boundStored, r.openTopic,
		r.openDeadLetters, r.openProbes, r.beginUnlessFilled)
	cancel()
	if err != nil {
		return nil, err
	}
	defer r.release()
	plan, err := r.makePlan(ctx)
	if err != nil {
		r.release()
		r.discard()
		return nil, err
	}
	handed, err := cfg.Fleet.Make(ctx, plan, FleetWatch{
		Started:   func(in time.Duration) { r.journal.SetAxis(in, time.Duration(cfg.Scenario.Phases.Measure)) },
		Event:     r.journal.Stamp,
		Filled:    r.filledByAgents,
		Pulse:     r.pulse,
		Interrupt: cfg.Interrupt,
	})
	if err != nil {
		r.release()
		r.discard()
		return nil, errors.Join(append([]error{err}, r.leftBehind...)...)
	}
	r.lag.Look(ctx) // after all last commits
	return r.conclude(plan, handed)
}

func (r *run) openDeadLetters(ctx context.Context) error {
	if !r.hasQueue() {
		return nil
	}
	r.queue = newQueue(&r.base) // release removes its engine's topics and groups
	return r.queue.openDeadLetters(ctx)
}

func (r *run) beginUnlessFilled(ctx context.Context) error {
	if r.cfg.Scenario.Filled() {
		r.noteFill()
		return nil
	}
	return r.beginReading(ctx)
}

func (r *run) filledByAgents(ctx context.Context, ackedIn []int64) (Filled, error) {
	r.filledIn = ackedIn
	if err := r.awaitReadable(ctx); err != nil {
		return Filled{}, early(ctx, err, beingFilled)
	}
	if err := r.beginReading(ctx); err != nil {
		return Filled{}, err
	}
	sum := int64(0)
	for _, n := range ackedIn {
		sum += n
	}
	r.journal.Now("phase", "filled", unit.Things(sum, "record"))
	return Filled{AckedIn: ackedIn, From: r.from, ReadTo: r.readTo}, nil
}

func (r *run) pulse(p result.Pulse) {
	r.journal.KeepFailure(r.writer.Pulse(p))
	if w, follows := r.cfg.Watch.(PulseWatcher); follows {
		w.Pulse(p)
	}
}

// PulseWatcher is an observe.Watcher that also follows the agents. Pulse is called from another
// goroutine than the other methods.
type PulseWatcher interface{ Pulse(result.Pulse) }

func (r *run) makePlan(ctx context.Context) (Plan, error) {
	shares, err := r.createShares(ctx)
	if err != nil {
		return Plan{}, err
	}
	as, err := r.cfg.Scenario.Marshal()
	if err != nil {
		return Plan{}, fmt.Errorf("writing the resolved scenario: %w", err)
	}
	asked, err := r.asked.Marshal()
	if err != nil {
		return Plan{}, fmt.Errorf("writing the scenario: %w", err)
	}
	return Plan{
		RunID: r.runID, Session: r.cfg.Fleet.Session(), Scenario: as, Asked: asked, Driver: r.cfg.Driver.Name(),
		Topic: r.topic.Name, Partitions: r.topic.Partitions, Existing: r.topic.Existing, Groups: r.groupIDs,
		From: r.from, ReadTo: r.readTo, Shares: shares, Parts: r.cfg.Fleet.Parts(),
		Placement: Placed(r.cfg.Scenario, r.cfg.Fleet.Placement()),
		Senders:   r.cfg.Fleet.Senders(),
		Cluster:   clusterOf(r.cfg), Tool: r.cfg.Tool, Warnings: r.warnings,
	}, nil
}
