// Package bench makes one run: it prepares, warms up, measures, drains, closes
// the books and writes the result.
//
// The same producers, consumers and connections live through all of it; a phase
// is a part of the time axis, and a record belongs to the phase of its intended
// send time. What happens on the way is written to the run's directory at once, so
// that a crash at any moment leaves a run that can be read.
//
// Package observe looks at the run meanwhile, and package judge makes the result of
// what it leaves.
//
// Files to know: bench.go, prepare.go, plan.go, fill.go, stored.go, observing.go,
// evidence.go, faults.go, gatekeeper.go, senders.go, worker.go, queue.go, queuekmq.go.
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
	"kafkabench.example/kafka-bench/internal/run/observe"
	"kafkabench.example/kafka-bench/internal/run/remote"
)

// Config is all that a run needs.
type Config struct {
	Scenario   scenario.Scenario
	Cluster    cluster.Cluster
	Driver     driver.Driver
	Out        string // the folder that runs go to
	KeepTopics bool
	// WarmedUp is for how long the cluster was under a load that nobody recorded,
	// before the first run on it.
	WarmedUp time.Duration
	Tool     result.Tool
	// Caveats adds warnings to the verdict of a run whose figures are all there;
	// nil adds none.
	Caveats func(*result.Run) []string
	// DiskYardsticks are the bytes/s that disks were found to take, by their names.
	DiskYardsticks map[string]float64
	// Worker is the command line of a process that calls the function Worker: this
	// program's own, with what makes it do that. It is for scenarios with processes.
	Worker []string
	// Here works for the run in this process, in place of the command Worker; nil starts
	// processes. The method Serve of WorkerConfig is one for tests.
	Here remote.InProcess
	// Fleet makes the parts of the run on other machines; nil makes all of it here.
	Fleet Fleet
	// Probes read the machine; the zero value reads all that there is.
	Probes probe.Set
	// Sleep waits for a producer's next due time; nil is the scenario's pacer.
	Sleep func(time.Duration)
	// Watch is told of the run while it goes on; nil is nobody.
	Watch observe.Watcher
	// Interrupt ends the run early when it is closed: nothing more is offered,
	// what is in flight is settled, the books are closed and the run is saved.
	Interrupt <-chan struct{}
}

// Starting returns a context for what precedes a run, which an interrupt simply
// ends: there is nothing to save yet.
func (c Config) Starting(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	select {
	case <-c.Interrupt: // before there was anything to interrupt
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

// ErrNotSaved: a run was made and its result could not be written.
var ErrNotSaved = errors.New("the run's result could not be saved")

// startLead lies between the moment when everything is ready and the start of
// the warm-up, so that every worker is asleep on its first due time by then.
const startLead = 50 * time.Millisecond

// Run makes one run. An error means that there was none: the scenario could not
// be set up, and nothing was left behind. A run that went wrong once it had
// started is an Outcome with an invalid verdict. When ctx ends the run is
// abandoned; see Config.Interrupt for the gentle way.
func Run(ctx context.Context, cfg Config) (*Outcome, error) {
	if cfg.Fleet != nil {
		return lead(ctx, cfg)
	}
	starting, cancel := cfg.Starting(ctx)
	r, err := prepare(starting, cfg)
	cancel()
	if err != nil {
		return nil, err
	}
	defer r.release()
	r.warmUp(ctx)
	r.measure(ctx)
	r.drain(ctx)
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("the run in %s was abandoned: %w", r.writer.Dir(), err)
	}
	return r.closeBooks()
}

// warmUp starts the load, and lets it run until the measured window begins.
func (r *run) warmUp(ctx context.Context) {
	phases := r.cfg.Scenario.Phases
	warmup := time.Duration(phases.Warmup)
	if r.part == nil { // otherwise all parts have one axis
		r.journal.SetAxis(startLead+warmup, time.Duration(phases.Measure))
	}
	r.groups.Begin()
	r.startedNs = -int64(warmup)
	r.journal.KeepFailure(r.writer.Describe(r.info(), r.recorded))
	r.journal.Event(result.Event{AtNs: r.startedNs, Kind: "phase", What: "warm-up"})
	r.observe()
	if r.part != nil { // the start was told long before, and a closed loop would begin at once
		r.sleepUntil(ctx, r.startedNs-int64(startLead))
	}
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

// letGo lets consumers fetch that were held. If the window begins with that, the counts of
// their members are taken before: who is let go may have polled before they could be read.
func (r *run) letGo(withTheWindow bool) {
	r.noteHeld()
	if withTheWindow {
		r.membersBefore = r.groups.Stand(remote.Want{Fresh: true}).Counts()
	}
	r.letGoNs = r.axis.Now()
	r.groups.Release()
}

// fetchingSince returns when the load began, or the consumers were let go, whichever came
// later. Those that were let go in window or drain were it at inPhaseNs; 0 is none.
func (r *run) fetchingSince(inPhaseNs int64) int64 {
	switch {
	case inPhaseNs > 0:
		return inPhaseNs
	case r.letGoNs != 0:
		return r.letGoNs
	}
	return r.startedNs
}

// noteHeld notes how much there is to read now, if the topic says that.
func (r *run) noteHeld() {
	if !r.plan.noteHeld {
		return
	}
	reached := r.groups.Stand(remote.Want{Books: true, Fresh: true}).Reached()
	if r.part != nil {
		r.part.noteHeld(reached, r.producers.Snapshot(remote.Want{Fresh: true}).Behind.AckedIn)
		return
	}
	r.held = r.backlogs(reached)
}

// measure lets the load run through the measured window.
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
		r.producers.EndAt(r.axis.Now()) // in the warm-up, that is below zero
		r.journal.Event(result.Event{AtNs: r.axis.Now(), Kind: "phase", What: "interrupted"})
	}
	r.groups.Begin() // the window may have ended early
	r.atEnd = r.machine.Read()
	if !r.started {
		r.atStart = r.atEnd
	}
	r.lookedAtEnd.Go(func() { r.windowEnd = r.readWindowEnd() })
	r.journal.Event(result.Event{AtNs: r.axis.End(), Kind: "phase", What: "drain"})
}

// awaitWindow waits for the end of the measured window, which comes early when there
// is nothing more to offer, or to read.
func (r *run) awaitWindow(ctx context.Context) {
	length := int64(r.cfg.Scenario.Phases.Measure)
	if !r.sleepUnless(ctx, length, r.plan.exhausted()) || r.axis.End() >= length {
		return
	}
	r.journal.Event(result.Event{AtNs: r.axis.End(), Kind: "phase", What: "ended early", Reason: r.plan.exhaustedBy})
	r.sleepUntil(ctx, r.axis.End()) // the record after the last would have been due then
}

// readPoll is how often it is looked whether the topic is read. The window ends with
// the last record however late that is found, so that the looks may be few: of
// consumers in processes of their own each is a question to every process.
const readPoll = 100 * time.Millisecond

// readToEnd is closed when the consumers have read what the topic held, which ends
// the measured window with the last record.
func (r *run) readToEnd() <-chan struct{} {
	return r.onceRead(func(last int64) { r.axis.EndAt(last + 1) })
}

// onceRead is closed when the consumers here have read what the topic held. Before that,
// then is called with the time of the last record.
func (r *run) onceRead(then func(last int64)) <-chan struct{} {
	read := make(chan struct{})
	r.observer.Go(func(context.Context) {
		for !r.observer.WaitUntil(r.axis.Now() + int64(readPoll)) {
			if !r.plan.hasRead() {
				continue
			}
			last := snapshot.LastDelivery(r.groups.Stand(remote.Want{}).Reached())
			if last < 0 { // there is nothing, or the warm-up has read it
				last = r.axis.Now()
			}
			then(last)
			close(read)
			return
		}
	})
	return read
}

// sleepUntil waits for a point of the axis; it returns false when the run was
// interrupted or abandoned before.
func (r *run) sleepUntil(ctx context.Context, at int64) bool { return r.sleepUnless(ctx, at, nil) }

// sleepUnless is sleepUntil with something else that ends it.
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

// interruptedDrain bounds the drain of a run that a person ended: they are
// waiting at the prompt.
const interruptedDrain = 2 * time.Second

// drain waits until all that was admitted is settled and all that was acked is
// delivered, or until the drain's timeout, and then ends producers and
// consumers.
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
		r.groups.Release() // of a window that ended before they were to be let go
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
	r.drained = (r.part == nil || r.awaitSent(wait)) && r.plan.awaitDelivery(wait)
	r.finishedNs = r.axis.Now()
	r.lateAtFinish = r.groups.Received().UniqueAfter
	r.awaitWork(wait)
	r.lookedAtEnd.Wait() // of members that have left, nobody tells
	r.stopGroup(ctx)
	r.observer.Stop()
}

// secondInterrupt is a channel that never fires when the run was interrupted
// already, and the interrupt otherwise.
func (r *run) secondInterrupt(ctx context.Context) <-chan struct{} {
	if r.interrupted {
		return ctx.Done()
	}
	return r.cfg.Interrupt
}

// interruptDrain notes that a person ended the run while it drained.
func (r *run) interruptDrain() {
	if r.interrupted {
		return
	}
	r.interrupted = true
	r.journal.Event(result.Event{AtNs: r.axis.Now(), Kind: "phase", What: "interrupted"})
}

// drainPoll is how often the drain looks whether everything is delivered.
const drainPoll = 10 * time.Millisecond

// awaitEnds waits until the consumers have reached the end of every partition. It compares
// positions in the log and not counts, so that a lost record does not make it wait for
// ever.
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

// until waits for something to come about, looking so often. It gives up at the end of
// ctx, and at a second interrupt.
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

// awaitWork lets the consumers of a drained run finish what they were handed last,
// so that every delivered record has its processed time and is committed.
func (r *run) awaitWork(ctx context.Context) {
	if r.drained {
		r.until(ctx, drainPoll, func() bool { return !r.groups.Working() })
	}
}

// readEnds asks for the end of every partition, now that nothing is produced
// any more. Ends that what was acknowledged may still move are asked for again.
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

// reachedAll tells whether all groups have come to these offsets.
func (r *run) reachedAll(ends []int64) bool {
	ends = r.mine(ends)
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
	r.lag.Look(stop) // after the last commit
}

// patience shortens a timeout of the clean-up when a person waits for its end.
func (r *run) patience(timeout time.Duration) time.Duration {
	if r.interrupted {
		return min(timeout, interruptedDrain)
	}
	return timeout
}

// stopTimeout bounds how long consumers may take to make their last commit, and
// the last lag to be read, when the brokers do not answer.
const stopTimeout = 5 * time.Second
