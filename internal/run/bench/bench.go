// Package bench makes one run: it prepares, warms up, measures, drains, closes
// the books and writes the result.
//
// The same producers, consumers and connections live through all of it; a phase
// is a stretch of the time axis, and a record belongs to the phase of its
// intended send time. Everything that is found on the way is written to the
// run's directory at once, so that a crash at any moment leaves a run that can
// be read.
//
// Files to know: bench.go, prepare.go, fill.go, stored.go, groups.go, intervals.go,
// gatekeeper.go, faults.go, changes.go, lag.go, journal.go, evidence.go, queue.go,
// queuekmq.go.
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
	// Worker is the command line of a process that calls the function Worker: this
	// program's own, with what makes it do that. It is for scenarios with processes.
	Worker []string
	// Here works for the run in this process, in place of the command Worker; nil starts
	// processes. The method Serve of WorkerConfig is one for tests.
	Here remote.InProcess
	// Probes read the machine; the zero value reads all that there is.
	Probes probe.Set
	// Sleep waits for a producer's next due time; nil is the scenario's pacer.
	Sleep func(time.Duration)
	// Watch is told of the run while it goes on; nil is nobody.
	Watch Watcher
	// Interrupt ends the run early when it is closed: nothing more is offered,
	// what is in flight is settled, the books are closed and the run is saved.
	Interrupt <-chan struct{}
}

// Watcher follows a run while it goes on. Its methods are called from one
// goroutine at a time and should be quick.
type Watcher interface {
	// Began tells that the run's directory exists.
	Began(dir string)
	Interval(result.Interval)
	// Event tells of what is written as an event and, as the kind progress, of how far
	// the preparation has come. One with data is told again and again until the next
	// without.
	Event(result.Event)
}

// Starting returns a context for what precedes a run, which an interrupt simply
// ends: there is nothing to save yet.
func (c Config) Starting(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
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
	starting, cancel := cfg.Starting(ctx)
	r, err := prepare(starting, cfg)
	cancel()
	if err != nil {
		return nil, err
	}
	defer r.release()
	r.offer(ctx)
	r.drain(ctx)
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("the run in %s was abandoned: %w", r.writer.Dir(), err)
	}
	return r.closeBooks()
}

// offer lets the load run through warm-up and measured window.
func (r *run) offer(ctx context.Context) {
	phases := r.cfg.Scenario.Phases
	warmup, measure := time.Duration(phases.Warmup), time.Duration(phases.Measure)
	r.journal.setAxis(startLead+warmup, measure)
	r.groups.begin()
	r.startedNs = -int64(warmup)
	r.journal.keepFailure(r.writer.Describe(r.info(), r.recorded))
	r.journal.event(result.Event{AtNs: r.startedNs, Kind: "phase", What: "warm-up"})
	r.startSamplers()
	r.producers.Start()
	reads := readsFill(r.cfg.Scenario) && r.cfg.Scenario.Consume.Hold.Off()
	var before []snapshot.MemberCounts // who is let go with the window may have polled before it is read
	if r.readOnly() && !reads && r.sleepUntil(ctx, r.startedNs) {
		r.noteHeld() // before the first of it is read, unless a warm-up reads on
		if warmup == 0 {
			before = r.groups.stand(remote.Want{Fresh: true}).counts()
		}
		r.groups.release()
	}

	measuring := r.sleepUntil(ctx, 0)
	if measuring {
		if warmup > 0 || reads {
			r.noteHeld()
		}
		if reads {
			before = r.groups.stand(remote.Want{Fresh: true}).counts()
			r.groups.release()
		}
		r.journal.event(result.Event{AtNs: 0, Kind: "phase", What: "measure"})
		r.atStart = r.takeReading()
		if before != nil {
			r.atStart.members = before
		}
		r.watchBrokers(windowBegins)
		r.measure(ctx, measure)
		r.watchBrokers(windowEnds)
	}
	if r.interrupted {
		r.producers.EndAt(r.axis.Now()) // in the warm-up, that is below zero
		r.journal.event(result.Event{AtNs: r.axis.Now(), Kind: "phase", What: "interrupted"})
	}
	r.groups.begin() // the window may have ended early
	r.atEnd = r.takeReading()
	if !measuring {
		r.atStart = r.atEnd
	}
	r.journal.event(result.Event{AtNs: r.axis.End(), Kind: "phase", What: "drain"})
}

// noteHeld notes how much there is to read now, where the topic says that.
func (r *run) noteHeld() {
	if r.there != nil || readsFill(r.cfg.Scenario) {
		r.held = r.backlogs(r.groups.stand(remote.Want{Books: true, Fresh: true}).reached())
	}
}

// measure waits for the end of the measured window, which comes early when there
// is nothing more to offer, or to read.
func (r *run) measure(ctx context.Context, length time.Duration) {
	early, reason := r.producers.Spent(), "the volume was offered"
	if r.there != nil {
		early, reason = r.readToEnd(), "everything that the topic held was read"
	}
	if !r.sleepUnless(ctx, int64(length), early) || r.axis.End() >= int64(length) {
		return
	}
	r.journal.event(result.Event{AtNs: r.axis.End(), Kind: "phase", What: "ended early", Reason: reason})
	r.sleepUntil(ctx, r.axis.End()) // the record after the last would have been due then
}

// readPoll is how often it is looked whether the topic is read. The window ends with
// the last record however late that is found, so that the looks may be few: of
// consumers in processes of their own each is a question to every process.
const readPoll = 100 * time.Millisecond

// readToEnd is closed when the consumers have read what the topic held, which ends
// the measured window with the last record.
func (r *run) readToEnd() <-chan struct{} {
	read := make(chan struct{})
	r.samplers.Go(func() {
		for !r.waitForInterval(r.axis.Now() + int64(readPoll)) {
			if !r.hasRead() {
				continue
			}
			last := snapshot.LastDelivery(r.groups.stand(remote.Want{}).reached())
			if last < 0 { // there is nothing, or the warm-up has read it
				last = r.axis.Now()
			}
			r.axis.EndAt(last + 1)
			close(read)
			return
		}
	})
	return read
}

// hasRead tells whether the consumers have read what there is to be read, and settled it
// where they take it from a queue.
func (r *run) hasRead() bool {
	if r.queue != nil {
		return r.unsettled() == 0
	}
	return r.reachedAll(r.there)
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
		r.thawBrokers()
	}
	wait, cancel := context.WithTimeout(ctx, time.Duration(r.axis.End()-r.axis.Now())+limit)
	defer cancel()
	if r.cfg.Scenario.Consume.Hold.Drain {
		r.samplers.Go(func() { r.note(r.follow(turn{what: "fetching", reads: true}, math.MaxInt64)) })
	} else {
		r.groups.release() // of a window that ended before they were to be let go
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
	r.awaitDelivery(wait)
	r.finishedNs = r.axis.Now()
	r.lateAtFinish = r.groups.received().UniqueAfter
	r.awaitWork(wait)
	r.stopGroup(ctx)
	r.stopSamplers()
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
	r.journal.event(result.Event{AtNs: r.axis.Now(), Kind: "phase", What: "interrupted"})
}

// drainPoll is how often the drain looks whether everything is delivered.
const drainPoll = 10 * time.Millisecond

// awaitDelivery waits until the consumers have reached the end of every
// partition. It compares positions in the log and not counts, so that a lost
// record does not make it wait for ever.
func (r *run) awaitDelivery(ctx context.Context) {
	switch {
	case len(r.groups) == 0:
		r.drained = true
		return
	case r.queue != nil:
		r.awaitSettled(ctx)
		return
	case r.readOnly(): // nothing of the run's own is on its way
		r.drained = r.there != nil && r.reachedAll(r.there)
		return
	}
	r.until(ctx, drainPoll, func() bool {
		if r.groups.dead() != nil {
			return true
		}
		if r.ends == nil {
			r.readEnds(ctx)
		}
		r.drained = r.ends != nil && r.reachedAll(r.ends)
		return r.drained
	})
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
		r.until(ctx, drainPoll, func() bool { return !r.groups.working() })
	}
}

// readEnds asks for the end of every partition, now that nothing is produced
// any more. Ends that what was acknowledged may still move are asked for again.
func (r *run) readEnds(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, lagTimeout)
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
		r.journal.once("error", "the ends of the partitions could not be read", err)
	}
}

// reachedAll tells whether all groups have come to these offsets.
func (r *run) reachedAll(ends []int64) bool {
	behind := func(g snapshot.Group) bool { return !snapshot.ReachedAll(g.Reached, ends) }
	return !slices.ContainsFunc(r.groups.stand(remote.Want{}), behind)
}

func (r *run) stopGroup(ctx context.Context) {
	if len(r.groups) == 0 {
		return
	}
	stop, cancel := context.WithTimeout(ctx, r.patience(stopTimeout))
	defer cancel()
	r.groups.stop(stop)
	r.atStop = r.groups.stand(remote.Want{Books: true}).reached()
	r.lag.forSeries(stop) // after the last commit
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
