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

// Fleet is the agents that make the parts of runs. A run with a fleet offers and receives
// nothing by itself: it prepares topic and groups, has the agents make their parts, and
// concludes the run from what they hand in.
type Fleet interface {
	// Session is the name by which they found each other.
	Session() string
	// Parts is how many agents there are, and Placement how they share the work: with Apart,
	// the first so many Senders send.
	Parts() int
	Placement() string
	Senders() int
	// Make has the agents make the run, and returns what they handed in. An error means
	// that the run did not start.
	Make(ctx context.Context, plan Plan, watch FleetWatch) (Handed, error)
}

// FleetWatch is told how the agents get on.
type FleetWatch struct {
	// Started tells in which time the measured window begins.
	Started func(in time.Duration)
	Event   func(result.Event)
	// Filled is called when the agents have filled the topic, with how many records were
	// acknowledged in each partition. It returns what the agents are told of it.
	Filled func(ctx context.Context, ackedIn []int64) (Filled, error)
	// Pulse tells what the agents count while the load runs.
	Pulse func(result.Pulse)
	// Interrupt asks the agents to end the run early when it is closed.
	Interrupt <-chan struct{}
}

// Handed is what the agents have handed in.
type Handed struct {
	// Parts yields the snapshots of each part in their order, as often as it is called:
	// those of the intervals, and last that of the end.
	Parts []iter.Seq2[snapshot.Snapshot, error]
	// Agents are the agents themselves, as far as they are known without their snapshots.
	Agents []Agent
	// Missing says what is missing of which part; empty is nothing.
	Missing []string
}

// Agent is who made a part.
type Agent struct {
	Name     string // as a person is told of it
	Instance uint64
	HostName string
	// Partitions is how many its consumers had at the start. ClockErrorNs is how far its clock
	// may have been off then; nil is not known.
	Partitions   int
	ClockErrorNs *int64
	Host         result.Host
	// Reasons are why the run is invalid because of it, as far as it is known without its part.
	Reasons []string
}

// lead makes a run whose parts a fleet makes.
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
	r.lag.Look(ctx) // after the last commit of all
	return r.conclude(plan, handed)
}

// openDeadLetters makes the topic of a queue's dead letters for all agents.
func (r *run) openDeadLetters(ctx context.Context) error {
	if !r.hasQueue() {
		return nil
	}
	r.queue = newQueue(&r.base) // release takes away what its engine makes
	return r.queue.openDeadLetters(ctx)
}

// beginUnlessFilled is beginReading, unless the topic is yet to be filled.
func (r *run) beginUnlessFilled(ctx context.Context) error {
	if r.cfg.Scenario.Filled() {
		r.noteFill()
		return nil
	}
	return r.beginReading(ctx)
}

// filledByAgents has the groups begin in a topic that the agents have filled.
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

// pulse writes and reports what the agents count.
func (r *run) pulse(p result.Pulse) {
	r.journal.KeepFailure(r.writer.Pulse(p))
	if w, follows := r.cfg.Watch.(PulseWatcher); follows {
		w.Pulse(p)
	}
}

// PulseWatcher is an observe.Watcher that also follows the agents of a run. Pulse is called
// from another goroutine than the other methods.
type PulseWatcher interface{ Pulse(result.Pulse) }

// makePlan returns what all agents are told.
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
		RunID: r.id(), Session: r.cfg.Fleet.Session(), Scenario: as, Asked: asked, Driver: r.cfg.Driver.Name(),
		Topic: r.topic.Name, Partitions: r.topic.Partitions, Existing: r.topic.Existing, Groups: r.groupIDs,
		From: r.from, ReadTo: r.readTo, Shares: shares, Parts: r.cfg.Fleet.Parts(),
		Placement: Placed(r.cfg.Scenario, r.cfg.Fleet.Placement()),
		Senders:   r.cfg.Fleet.Senders(),
		Cluster:   clusterOf(r.cfg), Tool: r.cfg.Tool, Warnings: r.warnings,
	}, nil
}
