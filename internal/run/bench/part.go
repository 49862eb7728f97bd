package bench

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"kafkabench.example/kafka-bench/internal/kafka/cluster"
	"kafkabench.example/kafka-bench/internal/load"
	"kafkabench.example/kafka-bench/internal/measure/latency"
	"kafkabench.example/kafka-bench/internal/measure/snapshot"
	"kafkabench.example/kafka-bench/internal/plan/scenario"
	"kafkabench.example/kafka-bench/internal/result"
	"kafkabench.example/kafka-bench/internal/run/judge"
	"kafkabench.example/kafka-bench/internal/run/observe"
	"kafkabench.example/kafka-bench/internal/run/remote"
)

// Link connects a part with the other parts and the coordinator.
type Link interface {
	// Ready reports the partitions of the part's consumers, again after each change until the run
	// starts.
	Ready(owned []int32)
	// Started returns a channel that receives the start of the run, or closes if the run does not
	// start.
	Started() <-chan Started
	// Filled reports the part's acked fill records by partition, and returns the outcome once all
	// parts have reported.
	Filled(ctx context.Context, ackedIn []int64) (Filled, error)
	// Spent reports how the part's load ended, unless own is nil, and returns the sum once all
	// listed parts have reported.
	Spent(ctx context.Context, own *snapshot.Spending, parts []int) (all snapshot.Spending, err error)
	// Sent reports the part's acked records by partition, after its producers have ended, and
	// returns the sum once all parts have reported.
	Sent(ctx context.Context, ackedIn []int64) (all []int64, err error)
	// HandIn takes a snapshot of the part: one for each interval, then one of the end, whose Told
	// is a judge.Part.
	HandIn(snapshot.Snapshot) error
	// Clocks returns the clocks' errors from the start until now. It waits until they are known or
	// cannot become known.
	Clocks(ctx context.Context) judge.Clocks
}

// Started is the start of a run for one part.
type Started struct {
	Zero load.Zero // on the clock of the part's machine
	Into []int32   // the partitions that its producers send to; nil is all
	// ShiftsNs has, for each part, what to add to a time of its axis to get the time of this part's
	// axis. Values of parts that send nothing have no meaning.
	ShiftsNs []int64
	// Stop receives a future time on the run's axis at which the load is to end early.
	Stop <-chan int64
}

// Filled describes the filled topic to all parts.
type Filled struct {
	AckedIn []int64 // by partition, of all parts
	From    []int64 // where the groups start, by partition; nil without consumers
	ReadTo  []int64 // how far a run without producers reads; nil with producers
}

// Interval is the JSON in the Told of an interval's snapshot.
type Interval struct {
	Interval *result.Interval // as the part saw it; nil in the snapshot with which counting begins
	Events   []result.Event   // since the previous snapshot
}

// part is an agent's part of a run.
type part struct {
	*run
	plan   Plan
	number int
	link   Link
	events eventLog
	handed uint64
	shifts []*atomic.Int64 // by part
}

// RunPart makes one part of a run and hands in its snapshots. The run's folder stays below cfg.Out,
// without a result. An error means that not everything was handed in; a part that fails before the
// start leaves nothing behind.
func RunPart(ctx context.Context, cfg Config, plan Plan, number int, link Link) error {
	if cfg.Scenario.Name == "" {
		s, err := scenario.Parse("the run's scenario", plan.Scenario)
		if err != nil {
			return err
		}
		cfg.Scenario = s
	}
	cfg.ClientID = plan.ClientID
	p := &part{plan: plan, number: number, link: link, events: eventLog{next: cfg.Watch}}
	cfg.KeepTopics, cfg.Watch = true, &p.events // the coordinator deletes the topics
	p.run = newRun(cfg)
	p.runID, p.portion = plan.RunID, plan.portion(cfg.Scenario, number)
	p.followClocks()
	starting, cancel := cfg.Starting(ctx)
	err := p.prepare(starting, p.makePayloads, p.makeSchedule, p.openResult, p.verifyCluster, p.useTopic, p.openProbes,
		p.fillTogether, p.makeGate, p.verifyCluster, p.openGroups, p.awaitQueue, p.verifyCluster, p.openSenders, p.prepareFaults, p.choosePlan, p.joinPlans, p.openObservers,
		p.readFirstLag, p.awaitStart)
	cancel()
	if err != nil {
		return err
	}
	defer p.release()
	p.intervals.HandOver = p.handOver
	p.warmUp(ctx)
	p.measure(ctx)
	p.drain(ctx)
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("the part in %s was abandoned: %w", p.writer.Dir(), err)
	}
	return p.handIn(ctx)
}

// followClocks makes the clock offsets of the other parts' producers follow the shifts that
// awaitStart receives.
func (p *part) followClocks() {
	p.offsets = make(load.Offsets, p.cfg.Scenario.Load.Producers+p.cfg.Scenario.Fillers())
	p.shifts = make([]*atomic.Int64, p.plan.Parts)
	for i := range p.shifts {
		p.shifts[i] = &atomic.Int64{}
		if i == p.number {
			continue
		}
		producers, _ := p.plan.Workers(p.cfg.Scenario, i)
		for _, number := range producers {
			p.offsets[number] = p.shifts[i]
		}
	}
}

func (p *part) useTopic(context.Context) (err error) {
	if p.admin, err = cluster.NewAdmin(p.seeds(), p.access()); err != nil {
		return err
	}
	p.topic = cluster.Topic{Name: p.plan.Topic, Partitions: p.plan.Partitions, Existing: true}
	p.groupIDs, p.from, p.readTo = p.plan.Groups, p.plan.From, p.plan.ReadTo
	return nil
}

func (p *part) fillTogether(ctx context.Context) error {
	if !p.cfg.Scenario.Filled() {
		return nil
	}
	if err := p.fillShare(ctx); err != nil {
		return err
	}
	own := make([]int64, p.topic.Partitions)
	copy(own, p.filledIn)
	all, err := p.link.Filled(ctx, own)
	if err != nil {
		return early(ctx, fmt.Errorf("waiting until all agents have filled the topic: %w", err), beingFilled)
	}
	p.filledIn, p.from, p.readTo = all.AckedIn, all.From, all.ReadTo
	return nil
}

const readyEvery = 100 * time.Millisecond

func (p *part) awaitStart(ctx context.Context) error {
	told, once := []int32(nil), false
	tick := time.NewTicker(readyEvery)
	defer tick.Stop()
	for {
		if err := p.groups.Err(); err != nil {
			return p.denied("the run's consumers", err)
		}
		if owned := p.partitionsHere(); !once || !slices.Equal(owned, told) {
			told, once = owned, true
			p.link.Ready(owned)
		}
		select {
		case s, going := <-p.link.Started():
			if !going {
				return errors.New("the run did not start")
			}
			if s.Into != nil {
				p.producers.Restrict(s.Into)
			}
			for i, ns := range s.ShiftsNs {
				p.shifts[i].Store(ns)
			}
			p.journal.Adopt(s.Zero)
			p.observer.Go(func(ctx context.Context) { p.heed(ctx, s.Stop) })
			return nil
		case <-tick.C:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

func (p *part) heed(ctx context.Context, stop <-chan int64) {
	select {
	case at := <-stop:
		p.producers.EndAt(at)
	case <-ctx.Done():
	}
}

func (p *part) partitionsHere() []int32 {
	if len(p.groups) == 0 || p.queue != nil {
		return nil
	}
	return p.groups[0].Held()
}

// joinPlans makes the window and the drain wait for the other parts.
func (p *part) joinPlans(context.Context) error {
	own := &p.run.plan
	own.mine = p.mine
	p.producers.Shared = p.cfg.Scenario.Load.Volume > 0 || p.cfg.Scenario.Load.Count() > 0
	if p.producers.Shared {
		own.exhausted = p.spentByAll
	}
	if p.readTo != nil {
		own.exhausted = p.readByAll
	}
	delivered := own.awaitDelivery
	if p.queue != nil {
		own.hasRead, delivered = p.queue.isOver, p.awaitOver
	}
	own.awaitDelivery = func(ctx context.Context) bool { return p.awaitSent(ctx) && delivered(ctx) }
	if p.plan.Placement != Own { // others receive what this part sends
		own.unknown = append(own.unknown, "intervals.backlog_records", "intervals.time_lag_ns")
	}
	return nil
}

func (p *part) awaitQueue(ctx context.Context) error {
	if p.queue == nil {
		return nil // only all parts together have all partitions
	}
	return p.awaitReady(ctx)
}

// mine sets the ends of other parts' partitions to 0.
func (p *part) mine(ends []int64) []int64 {
	mine := make([]int64, len(ends))
	for _, partition := range p.partitionsHere() {
		mine[partition] = ends[partition]
	}
	return mine
}

func (p *part) awaitSent(ctx context.Context) bool {
	total, err := p.link.Sent(ctx, p.producers.Snapshot(remote.Want{Fresh: true}).Behind.AckedIn)
	if err != nil {
		p.journal.Now("warning", "it is not known what the other agents sent", err.Error())
		return false
	}
	p.ackedByAll = p.withFill(total)
	return true
}

func (p *part) awaitOver(ctx context.Context) (drained bool) {
	p.until(ctx, drainPoll, func() bool {
		drained = p.queue.isOver()
		return drained
	})
	return drained
}

func (p *part) spentByAll() <-chan struct{} {
	return p.exhaustedByAll(p.plan.senders(p.cfg.Scenario), p.producers.Spent(), p.producers.Spending)
}

func (p *part) readByAll() <-chan struct{} {
	var last int64
	var read <-chan struct{}
	if len(p.groups) > 0 {
		read = p.onceRead(func(ns int64) { last = ns })
	}
	return p.exhaustedByAll(p.plan.receivers(p.cfg.Scenario), read,
		func() snapshot.Spending { return snapshot.Spending{LastNs: last, NextNs: last + 1} })
}

// exhaustedByAll closes its channel when these parts have nothing left. If this part is one of
// them, it reports spending once own is closed.
func (p *part) exhaustedByAll(parts []int, own <-chan struct{}, spending func() snapshot.Spending) <-chan struct{} {
	exhausted := make(chan struct{})
	p.observer.Go(func(ctx context.Context) {
		var told *snapshot.Spending
		if slices.Contains(parts, p.number) {
			select {
			case <-own:
			case <-ctx.Done():
				return
			}
			mine := spending()
			told = &mine
		}
		all, err := p.link.Spent(ctx, told, parts)
		if err != nil {
			return // the window keeps its length
		}
		p.producers.EndAt(all.End())
		close(exhausted)
	})
	return exhausted
}

func (p *part) handOver(s snapshot.Snapshot, iv *result.Interval) {
	p.journal.KeepFailure(p.hand(s, Interval{Interval: iv, Events: p.events.take()}))
}

func (p *part) hand(s snapshot.Snapshot, rest any) (err error) {
	p.handed++
	s.Version, s.Part, s.Seq = snapshot.Version, p.number, p.handed
	if s.Told, err = json.Marshal(rest); err != nil {
		return err
	}
	return p.link.HandIn(s)
}

func (p *part) handIn(ctx context.Context) error {
	peaks := p.intervals.Peaks()
	if p.queue != nil {
		p.queue.closeReader()
	}
	e := p.evidence(judge.Setup{})
	machine := p.machine.Between(p.atStart, p.atEnd, e.AckedInWindow(), peaks)
	machine.Process.CorpusBytes, machine.Process.CorpusTimeNs = p.corpus.Bytes(), p.corpusNs
	left := judge.Part{
		Info: p.info(), Window: e.Window, Start: e.Start, End: e.End, Lag: e.Seen.Lag, WindowEnd: p.windowEnd,
		Looks: e.Seen.Looks, Changes: e.Seen.Changes, Held: p.held, Fill: p.fill, From: p.from, ReadTo: p.readTo, Machine: machine, Warnings: p.warnings,
	}
	left.Clocks, left.QueueEmpty = p.link.Clocks(ctx), p.queue != nil && p.queue.empty
	left.Producers, left.Consumers, left.BeganNs = len(p.portion.producers), len(p.portion.members)*len(p.groups), p.beganNs
	if d := p.collector.Totals(true, latency.PacerLateness); d.Count > 0 {
		left.PacerLatenessP99Ns = &d.P99Ns
	}
	for _, g := range e.Groups {
		left.Workers = append(left.Workers, g.Workers)
	}
	if err := machine.UsageUnknown; err != nil {
		left.UsageUnknown = err.Error()
	}
	for _, err := range []error{e.Failed.Producers, e.Failed.Consumers, p.journal.Failed()} {
		if err != nil {
			left.Failed = append(left.Failed, err.Error())
		}
	}
	s := e.Sent
	s.FromNs, s.ToNs, s.EndNs = p.finishedNs, p.finishedNs, p.finishedNs
	last := snapshot.Last{}
	if s.Last != nil {
		last = *s.Last
	}
	s.Last = &last
	for _, g := range p.groups {
		s.Groups = append(s.Groups, g.Standing(remote.Want{Books: true, Fresh: true}))
		last.DeliveryGaps = append(last.DeliveryGaps, g.DeliveryGaps())
	}
	p.release()
	return p.hand(s, left)
}

type eventLog struct {
	next observe.Watcher

	mu  sync.Mutex
	all []result.Event
}

func (l *eventLog) Began(dir string) {
	if l.next != nil {
		l.next.Began(dir)
	}
}

func (l *eventLog) Interval(iv result.Interval) {
	if l.next != nil {
		l.next.Interval(iv)
	}
}

func (l *eventLog) Event(e result.Event) {
	if e.Kind != "progress" {
		l.mu.Lock()
		l.all = append(l.all, e)
		l.mu.Unlock()
	}
	if l.next != nil {
		l.next.Event(e)
	}
}

func (l *eventLog) take() []result.Event {
	l.mu.Lock()
	defer l.mu.Unlock()
	all := l.all
	l.all = nil
	return all
}
