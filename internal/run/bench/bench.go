// Package bench makes one run: it prepares, warms up, measures, drains, closes
// the books and writes the result.
//
// The same producers, consumers and connections live through all phases. A record belongs to the
// phase of its intended send time. The run's directory is written during the run, so a crashed run
// can still be read.
//
// Package observe takes readings during the run, and package judge computes the result from the
// evidence.
//
// Files to know: bench.go, prepare.go, plan.go, topic.go, fill.go, stored.go, observing.go,
// evidence.go, faults.go, gatekeeper.go, senders.go, worker.go, queue.go, queuekmq.go, part.go (an
// agent's part), lead.go and leadwindow.go (the coordinator), conclude.go (all agents' parts).
package bench

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"kafkabench.example/kafka-bench/internal/kafka/cluster"
	"kafkabench.example/kafka-bench/internal/kafka/driver"
	"kafkabench.example/kafka-bench/internal/kafka/probe"
	"kafkabench.example/kafka-bench/internal/measure/snapshot"
	"kafkabench.example/kafka-bench/internal/plan/scenario"
	"kafkabench.example/kafka-bench/internal/result"
	"kafkabench.example/kafka-bench/internal/run/judge"
	"kafkabench.example/kafka-bench/internal/run/observe"
	"kafkabench.example/kafka-bench/internal/run/remote"
)

// Config is the input of a run.
type Config struct {
	Scenario   scenario.Scenario
	Cluster    cluster.Cluster
	Driver     driver.Driver
	Out        string
	KeepTopics bool
	// ClientID is the client ID of each producer and consumer; "" names them after the run, or kafka-bench if brokers
	// are on other machines.
	ClientID string
	// WarmedUp is the unrecorded time under load before the cluster's first run.
	WarmedUp time.Duration
	Tool     result.Tool
	// Guards keep the run from doing harm to its cluster.
	Guards Guards
	// Expected, Labels and RetryOf are recorded with the run, see result.Info.
	Expected []string
	Labels   map[string]string
	RetryOf  []string
	// Caveats returns warnings for a complete run's verdict; nil adds none.
	Caveats func(*result.Run) []string
	// DiskYardsticks are measured disk speeds in bytes/s, by disk name.
	DiskYardsticks map[string]float64
	// Worker is the command line that makes this program call the function Worker. Scenarios with
	// processes need it.
	Worker []string
	// Here replaces Worker by a function in this process, for tests (WorkerConfig.Serve).
	Here remote.InProcess
	// Fleet makes the run's parts on other machines; nil makes the whole run here.
	Fleet Fleet
	// Joining is how long the Fleet waits for its agents, at most.
	Joining time.Duration
	// Probes read the machine; the zero value uses all that it offers.
	Probes probe.Set
	// Sleep waits for a producer's next due time; nil uses the scenario's pacer.
	Sleep func(time.Duration)
	Watch observe.Watcher
	// Interrupt ends the run early when it is closed: producers offer no more records, records in
	// flight complete, and the run is saved.
	Interrupt <-chan struct{}
}

// Starting returns a context for the steps before a run. Interrupt cancels it, because there is
// nothing to save yet.
func (c Config) Starting(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	select {
	case <-c.Interrupt:
		cancel()
	default:
	}
	go func() {
		select {
		case <-c.Interrupt:
			cancel()
		case <-ctx.Done():
		}
	}()
	return ctx, cancel
}

// Outcome is a run that was made and saved.
type Outcome struct {
	Dir string
	Run result.Run
}

// ErrNotSaved reports that a run was made but its result could not be written.
var ErrNotSaved = errors.New("the run's result could not be saved")

// Producers start startLead before the warm-up, so that every worker sleeps until its first due
// time.
const startLead = 50 * time.Millisecond

// Run makes one run. If the preparation fails, Run removes what it created and returns an error. A
// run that fails after its start is an Outcome with an invalid verdict. If ctx ends, the run is
// abandoned; Config.Interrupt ends it and saves it.
func Run(ctx context.Context, cfg Config) (*Outcome, error) {
	if cfg.Fleet != nil {
		return lead(ctx, cfg)
	}
	cfg, g := guardRun(cfg)
	defer g.close()
	starting, cancel := cfg.Starting(ctx)
	r, err := prepare(starting, cfg, g)
	cancel()
	if err != nil {
		return nil, g.failed(err, r.leftBehind)
	}
	defer r.release()
	phases := cfg.Scenario.Phases
	r.journal.SetAxis(startLead+time.Duration(phases.Warmup), time.Duration(phases.Measure))
	r.warmUp(ctx)
	r.measure(ctx)
	r.drain(ctx)
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("the run in %s was abandoned: %w", r.writer.Dir(), err)
	}
	return r.closeBooks()
}

func (r *run) warmUp(ctx context.Context) {
	warmup := time.Duration(r.cfg.Scenario.Phases.Warmup)
	r.groups.Begin()
	r.startedNs = -int64(warmup)
	r.journal.KeepFailure(r.writer.Describe(r.info(), r.recorded))
	r.journal.Event(result.Event{AtNs: r.startedNs, Kind: "phase", What: "warm-up"})
	// An agent may be ready long before the start, and waits here. Otherwise a closed loop would
	// send at once. Also, observe reads the counts from which the first interval's rates are
	// computed, and these rates would include the wait.
	r.sleepUntil(ctx, r.startedNs-int64(startLead))
	r.observe()
	r.producers.Start()
	r.beganNs = r.axis.Now()
	if r.plan.release == withWarmUp && r.sleepUntil(ctx, r.startedNs) {
		r.letGo(warmup == 0)
	}
	r.started = r.sleepUntil(ctx, 0)
	if !r.started {
		return
	}
	if r.plan.release == withWindow {
		r.letGo(true)
	} else if warmup > 0 {
		r.noteHeld()
	}
}

// letGo lets held consumers fetch. If the measured window begins at that moment, letGo first reads
// the members' counts.
func (r *run) letGo(withTheWindow bool) {
	r.noteHeld()
	if withTheWindow {
		r.membersBefore = r.groups.Stand(remote.Want{Fresh: true}).Counts()
	}
	r.letGoNs = r.axis.Now()
	r.groups.Release()
}

// fetchingSince returns when consumers could fetch: inPhaseNs unless 0, else their earlier release,
// else the start of the load.
func (r *run) fetchingSince(inPhaseNs int64) int64 {
	switch {
	case inPhaseNs > 0:
		return inPhaseNs
	case r.letGoNs != 0:
		return r.letGoNs
	}
	return r.startedNs
}

func (r *run) noteHeld() {
	if !r.plan.noteHeld {
		return
	}
	reached := r.groups.Stand(remote.Want{Books: true, Fresh: true}).Reached()
	for _, of := range reached {
		for i := range of {
			of[i].Awaited = nil // large, and not needed
		}
	}
	r.held = &judge.Held{Reached: reached, AckedIn: r.ackedNow()}
}

func (r *run) measure(ctx context.Context) {
	if r.started {
		r.journal.Event(result.Event{AtNs: 0, Kind: "phase", What: "measure"})
		r.atStart = r.machine.Read()
		if r.membersBefore != nil {
			r.atStart.Members = r.membersBefore
		}
		r.observer.Go(func(context.Context) { r.brokers.LookAtStart() })
		r.awaitWindow(ctx)
		r.observer.Go(func(context.Context) { r.brokers.LookAtEnd() })
	}
	if r.interrupted {
		r.producers.EndAt(r.axis.Now()) // below zero during the warm-up
		r.journal.Event(result.Event{AtNs: r.axis.Now(), Kind: "phase", What: "interrupted"})
	}
	r.groups.Begin()
	r.atEnd = r.machine.Read()
	if !r.started {
		r.atStart = r.atEnd
	}
	r.lookedAtEnd.Go(func() { r.windowEnd = r.readWindowEnd() })
	r.journal.Event(result.Event{AtNs: r.axis.End(), Kind: "phase", What: "drain"})
}

func (r *run) awaitWindow(ctx context.Context) {
	length := int64(r.cfg.Scenario.Phases.Measure)
	if !r.sleepUnless(ctx, length, r.plan.exhausted()) || r.axis.End() >= length {
		return
	}
	r.journal.Event(result.Event{AtNs: r.axis.End(), Kind: "phase", What: "ended early", Reason: r.plan.exhaustedBy})
	r.sleepUntil(ctx, r.axis.End())
}

// A late check of whether the topic is read does not lengthen the window, but each check asks every
// child process.
const readPoll = 100 * time.Millisecond

func (r *run) readToEnd() <-chan struct{} {
	return r.onceRead(func(last int64) { r.axis.EndAt(last + 1) })
}

// onceRead returns a channel. When consumers have read what the topic held, onceRead calls its
// argument with the last record's time, and then closes the channel.
func (r *run) onceRead(then func(last int64)) <-chan struct{} {
	read := make(chan struct{})
	r.observer.Go(func(context.Context) {
		for !r.observer.WaitUntil(r.axis.Now() + int64(readPoll)) {
			if !r.plan.hasRead() {
				continue
			}
			last := snapshot.LastDelivery(r.groups.Stand(remote.Want{}).Reached())
			if last < 0 { // the topic is empty, or the warm-up read it
				last = r.axis.Now()
			}
			then(last)
			close(read)
			return
		}
	})
	return read
}

// sleepUntil returns false if the run was interrupted or abandoned before that time of the axis.
func (r *run) sleepUntil(ctx context.Context, at int64) bool { return r.sleepUnless(ctx, at, nil) }

func (r *run) sleepUnless(ctx context.Context, at int64, early <-chan struct{}) bool {
	timer := time.NewTimer(time.Duration(at - r.axis.Now()))
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-early:
		return true
	case <-r.cfg.Interrupt:
		r.interrupted = true
		return false
	case <-ctx.Done():
		r.interrupted = true
		return false
	}
}

const interruptedDrain = 2 * time.Second

func (r *run) drain(ctx context.Context) {
	limit := time.Duration(r.cfg.Scenario.Phases.Drain)
	if r.interrupted {
		limit = min(limit, interruptedDrain)
		r.faults.thaw()
	}
	wait, cancel := context.WithTimeout(ctx, time.Duration(r.axis.End()-r.axis.Now())+limit)
	defer cancel()
	if r.plan.release == withDrain {
		let := observe.Planned{What: observe.Fetching, Reads: true}
		r.observer.Go(func(context.Context) { r.changes.Follow(r.observer, let, math.MaxInt64) })
	} else {
		if r.plan.release == inWindow {
			r.letGoNs = r.axis.Now()
		}
		r.groups.Release()
	}
	select {
	case <-r.producers.Done():
	case <-wait.Done():
	case <-r.secondInterrupt(ctx):
		r.interruptDrain()
		var hurry context.CancelFunc
		wait, hurry = context.WithTimeout(wait, interruptedDrain)
		defer hurry()
	}
	r.producers.Close()
	r.drained = r.plan.awaitDelivery(wait)
	r.finishedNs = r.axis.Now()
	r.lateAtFinish = r.groups.Received().UniqueAfter
	r.awaitWork(wait)
	r.lookedAtEnd.Wait() // members that have left report nothing
	r.stopGroup(ctx)
	r.observer.Stop()
	r.guard.close()
}

func (r *run) secondInterrupt(ctx context.Context) <-chan struct{} {
	if r.interrupted {
		return ctx.Done()
	}
	return r.cfg.Interrupt
}

func (r *run) interruptDrain() {
	if r.interrupted {
		return
	}
	r.interrupted = true
	r.journal.Event(result.Event{AtNs: r.axis.Now(), Kind: "phase", What: "interrupted"})
}

const drainPoll = 10 * time.Millisecond

// awaitEnds waits until the consumers reach the end of every partition. It compares offsets, not
// counts, so that a lost record cannot block it.
func (r *run) awaitEnds(ctx context.Context) (drained bool) {
	r.until(ctx, drainPoll, func() bool {
		if r.groups.Dead() != nil {
			return true
		}
		if r.ends == nil {
			r.readEnds(ctx)
		}
		drained = r.ends != nil && r.reachedAll(r.ends)
		return drained
	})
	return drained
}

func (r *run) until(ctx context.Context, every time.Duration, done func() bool) {
	tick := time.NewTicker(every)
	defer tick.Stop()
	for ctx.Err() == nil && !done() {
		select {
		case <-tick.C:
		case <-r.secondInterrupt(ctx):
			r.interruptDrain()
			return
		case <-ctx.Done():
		}
	}
}

func (r *run) awaitWork(ctx context.Context) {
	if r.drained {
		r.until(ctx, drainPoll, func() bool { return !r.groups.Working() })
	}
}

func (r *run) readEnds(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, observe.ReadTimeout)
	defer cancel()
	ends, err := r.lagReader.Ends(ctx)
	if err != nil {
		r.seen.missed()
	}
	switch {
	case err == nil:
		if r.final(ctx, ends) {
			r.ends = ends
		}
	case !errors.Is(err, context.DeadlineExceeded) && !errors.Is(err, context.Canceled):
		r.journal.Once("error", "the ends of the partitions could not be read", err)
	}
}

func (r *run) reachedAll(ends []int64) bool {
	if r.plan.mine != nil {
		ends = r.plan.mine(ends)
	}
	behind := func(g snapshot.Group) bool { return !snapshot.ReachedAll(g.Reached, ends) }
	return !slices.ContainsFunc(r.groups.Stand(remote.Want{}), behind)
}

func (r *run) stopGroup(ctx context.Context) {
	if len(r.groups) == 0 {
		return
	}
	stop, cancel := context.WithTimeout(ctx, r.patience(stopTimeout))
	defer cancel()
	r.groups.Stop(stop)
	r.atStop = r.groups.Stand(remote.Want{Books: true}).Reached()
	r.lag.Look(stop)
}

func (r *run) patience(timeout time.Duration) time.Duration {
	if r.interrupted {
		return min(timeout, interruptedDrain)
	}
	return timeout
}

const stopTimeout = 5 * time.Second
