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

// Plan is what all agents are told of the run that they make together, each its part. It
// holds no address and no credential.
type Plan struct {
	RunID    string
	Session  string
	Scenario []byte // resolved, as YAML; as it runs
	Asked    []byte // as it was asked for, before the disk bounded it
	Driver   string

	Topic      string
	Partitions int
	Existing   bool // the topic was there before
	Groups     []string
	From       []int64 // where the groups start in each partition; nil is at zero
	ReadTo     []int64 // how far a run without producers reads; nil if it has producers

	Shares string // the topic in which the agents divide the bound; "": they don't

	Parts     int
	Placement string
	Senders   int // with Apart, the first so many parts send; otherwise 0
	Cluster   result.Cluster
	Tool      result.Tool
	Warnings  []string
}

// Placed returns the placement of a scenario's producers and consumers on agents that were asked
// for one. Partitions of a queue have no owner, so instead of Own it has Any.
func Placed(s scenario.Scenario, placement string) string {
	if placement == Own && s.Consume.Queue.Used() {
		return Any
	}
	return placement
}

// The placements of producers and consumers on agents.
const (
	// Own has agents send only to the partitions that their own consumers have, so that
	// each record's times are read from one clock.
	Own = "own"
	// Any has every agent send to all partitions, which the group shares out as it likes.
	Any = "any"
	// Apart has some agents send and the others receive.
	Apart = "apart"
)

// Workers returns the numbers of the producers, and the members of each group, that a part has.
func (p Plan) Workers(s scenario.Scenario, part int) (producers, members []int) {
	if p.Placement != Apart {
		return remote.Split(s.Load.Producers, s.Load.Clients, p.Parts)[part],
			remote.Split(s.Consume.Consumers, 0, p.Parts)[part]
	}
	if part < p.Senders {
		return remote.Split(s.Load.Producers, s.Load.Clients, p.Senders)[part], nil
	}
	return nil, remote.Split(s.Consume.Consumers, 0, p.Parts-p.Senders)[part-p.Senders]
}

// senders are the numbers of the parts that have producers, and receivers of those that have
// consumers.
func (p Plan) senders(s scenario.Scenario) (of []int) {
	for n := range p.Parts {
		if producers, _ := p.Workers(s, n); len(producers) > 0 {
			of = append(of, n)
		}
	}
	return of
}

func (p Plan) receivers(s scenario.Scenario) (of []int) {
	for n := range p.Parts {
		if _, members := p.Workers(s, n); len(members) > 0 {
			of = append(of, n)
		}
	}
	return of
}

// fillers returns the numbers of the filling producers that a part has. Those fill that send;
// if none does, all.
func (p Plan) fillers(s scenario.Scenario, part int) []int {
	senders := p.senders(s)
	if len(senders) == 0 {
		return remote.Split(s.Fillers(), 0, p.Parts)[part]
	}
	i, sends := slices.BinarySearch(senders, part)
	if !sends {
		return nil
	}
	return remote.Split(s.Fillers(), 0, len(senders))[i]
}

// Link is how a part of a run talks to the other parts, and to who concludes the run.
type Link interface {
	// Ready tells which partitions the part's consumers have. It is called again after
	// each change, until the run starts.
	Ready(owned []int32)
	// Started tells when the run starts.
	Started() <-chan Started
	// Filled tells how many records of the fill the part's producers had acknowledged in each
	// partition, and returns what came of the fill once all have told.
	Filled(ctx context.Context, ackedIn []int64) (Filled, error)
	// Spent tells how the part's share of the load came to its end, unless own is nil, and
	// returns how all of these parts came to theirs, as soon as all have told.
	Spent(ctx context.Context, own *snapshot.Spending, parts []int) (all snapshot.Spending, err error)
	// Sent tells how many records the part's producers had acknowledged in each partition,
	// once they have ended, and returns those of all parts as soon as all have told.
	Sent(ctx context.Context, ackedIn []int64) (all []int64, err error)
	// HandIn takes a snapshot of the part: one at the end of each interval, and one of the
	// end, whose Told is a judge.Part.
	HandIn(snapshot.Snapshot) error
	// Clocks waits until it is known how well the clocks were known from the start until
	// now, or until it is not to be found out any more.
	Clocks(ctx context.Context) judge.Clocks
}

// Started is what a part is told when its run starts.
type Started struct {
	Zero load.Zero // on the clock of the part's machine
	Into []int32   // the partitions that its producers send to; nil is all
	// ShiftsNs is, by part, what to add to a time of its axis so that it is the same moment
	// on the axis of this part. Parts that send nothing have any.
	ShiftsNs []int64
	// Stop has the time at which the load ends early, on the run's axis and ahead of it, if it does.
	Stop <-chan int64
}

// Filled is what all parts are told once the topic is filled.
type Filled struct {
	AckedIn []int64 // by partition, of the whole fill
	From    []int64 // where the groups start in each partition; nil without consumers
	ReadTo  []int64 // how far a run without producers reads; nil if it has producers
}

// Interval is what a snapshot of an interval has beside its counts, as JSON in Told.
type Interval struct {
	Interval *result.Interval // as the part saw it; nil where counting begins
	Events   []result.Event   // since the snapshot before
}

// part is the run's side of being a part.
type part struct {
	plan   Plan
	number int
	link   Link
	events eventLog
	handed uint64          // snapshots
	total  []int64         // what all parts had acknowledged in each partition, once it is known
	shifts []*atomic.Int64 // by part: see Started
	held   *judge.Held
}

// first reports whether the part sees for all what only one has to see.
func (p *part) first() bool { return p.number == 0 }

// RunPart makes one part of a run and hands in what it leaves. The run's folder is kept
// below cfg.Out as that of any run, without a result. An error means that the part did not
// hand in everything; what it did before the start has left nothing behind.
func RunPart(ctx context.Context, cfg Config, plan Plan, number int, link Link) error {
	p := &part{plan: plan, number: number, link: link, shifts: make([]*atomic.Int64, plan.Parts)}
	for i := range p.shifts {
		p.shifts[i] = &atomic.Int64{}
	}
	if cfg.Scenario.Name == "" {
		s, err := scenario.Parse("the run's scenario", plan.Scenario)
		if err != nil {
			return err
		}
		cfg.Scenario = s
	}
	cfg.KeepTopics = true // they are the coordinator's
	p.events.next, cfg.Watch = cfg.Watch, &p.events
	r := newRun(cfg)
	r.part = p
	starting, cancel := cfg.Starting(ctx)
	err := r.prepare(starting, r.makePayloads, r.makeSchedule, r.openResult, r.useTopic, r.openProbes, r.fillPart, r.makeGate,
		r.openLoad, r.prepareFaults, r.choosePlan, r.openObservers, r.readFirstLag, r.awaitStart)
	cancel()
	if err != nil {
		return err
	}
	defer r.release()
	r.warmUp(ctx)
	r.measure(ctx)
	r.drain(ctx)
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("the part in %s was abandoned: %w", r.writer.Dir(), err)
	}
	return r.handIn(ctx)
}

// offsets are those of the producers of all other parts; nil if there are none.
func (b *base) offsets() load.Offsets {
	if b.part == nil {
		return nil
	}
	all := make(load.Offsets, b.cfg.Scenario.Load.Producers+b.cfg.Scenario.Fillers())
	for part, shift := range b.part.shifts {
		if part == b.part.number {
			continue
		}
		producers, _ := b.part.plan.Workers(b.cfg.Scenario, part)
		for _, number := range producers {
			all[number] = shift
		}
	}
	return all
}

// useTopic uses the topic and the groups that the plan names.
func (r *run) useTopic(context.Context) (err error) {
	if r.admin, err = cluster.NewAdmin(r.cfg.Cluster.Bootstrap(), r.access()); err != nil {
		return err
	}
	plan := r.part.plan
	r.topic = cluster.Topic{Name: plan.Topic, Partitions: plan.Partitions, Existing: true}
	r.groupIDs, r.from, r.readTo = plan.Groups, plan.From, plan.ReadTo
	return nil
}

// fillPart fills the part's share of the topic, and waits until all parts have filled theirs.
func (r *run) fillPart(ctx context.Context) error {
	if !r.cfg.Scenario.Filled() {
		return nil
	}
	if err := r.fillShare(ctx); err != nil {
		return err
	}
	own := make([]int64, r.topic.Partitions)
	copy(own, r.filledIn)
	all, err := r.part.link.Filled(ctx, own)
	if err != nil {
		return early(ctx, fmt.Errorf("waiting until all agents have filled the topic: %w", err), beingFilled)
	}
	r.filledIn, r.from, r.readTo = all.AckedIn, all.From, all.ReadTo
	return nil
}

// readyEvery is how often it is looked whether a part's consumers have other partitions.
const readyEvery = 100 * time.Millisecond

// awaitStart tells of the part's partitions until the run starts, and puts its axis.
func (r *run) awaitStart(ctx context.Context) error {
	told, once := []int32(nil), false
	tick := time.NewTicker(readyEvery)
	defer tick.Stop()
	for {
		if err := r.groups.Err(); err != nil {
			return r.denied("the run's consumers", err)
		}
		if owned := r.partitionsHere(); !once || !slices.Equal(owned, told) {
			told, once = owned, true
			r.part.link.Ready(owned)
		}
		select {
		case s, going := <-r.part.link.Started():
			if !going {
				return errors.New("the run did not start")
			}
			if s.Into != nil {
				r.producers.Restrict(s.Into)
			}
			for i, ns := range s.ShiftsNs {
				r.part.shifts[i].Store(ns)
			}
			r.journal.Adopt(s.Zero)
			r.observer.Go(func(ctx context.Context) { r.heed(ctx, s.Stop) })
			return nil
		case <-tick.C:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// heed ends the load early if the parts are told to, for all of them at the same time.
func (r *run) heed(ctx context.Context, stop <-chan int64) {
	select {
	case at := <-stop:
		r.producers.EndAt(at)
	case <-ctx.Done():
	}
}

// partitionsHere are those that the consumers of the first group have here. Of a queue nobody
// has any.
func (r *run) partitionsHere() []int32 {
	if len(r.groups) == 0 || r.queue != nil {
		return nil
	}
	return r.groups[0].Held()
}

// mine returns the offsets of partitions up to which consumers are to read here: 0 of a
// partition that another part's have.
func (r *run) mine(ends []int64) []int64 {
	if r.part == nil {
		return ends
	}
	mine := make([]int64, len(ends))
	for _, p := range r.partitionsHere() {
		mine[p] = ends[p]
	}
	return mine
}

// awaitSent waits until it is known what all parts had acknowledged.
func (r *run) awaitSent(ctx context.Context) bool {
	total, err := r.part.link.Sent(ctx, r.producers.Snapshot(remote.Want{Fresh: true}).Behind.AckedIn)
	if err != nil {
		r.journal.Now("warning", "it is not known what the other agents sent", err.Error())
		return false
	}
	r.part.total = r.withFill(total)
	return true
}

// spentByAll is closed when the parts have offered the whole volume, which ends the measured
// window of all of them.
func (r *run) spentByAll() <-chan struct{} {
	return r.exhaustedByAll(r.part.plan.senders(r.cfg.Scenario), r.producers.Spent(), r.producers.Spending)
}

// readByAll is closed when the parts have read what the topic held, likewise.
func (r *run) readByAll() <-chan struct{} {
	var last int64
	var read <-chan struct{}
	if len(r.groups) > 0 {
		read = r.onceRead(func(ns int64) { last = ns })
	}
	return r.exhaustedByAll(r.part.plan.receivers(r.cfg.Scenario), read,
		func() snapshot.Spending { return snapshot.Spending{LastNs: last, NextNs: last + 1} })
}

// exhaustedByAll is closed when nothing is left to these parts. Nothing is left to this one, if
// it is among them, once own is closed; spending is then how that came about.
func (r *run) exhaustedByAll(parts []int, own <-chan struct{}, spending func() snapshot.Spending) <-chan struct{} {
	exhausted := make(chan struct{})
	r.observer.Go(func(ctx context.Context) {
		var told *snapshot.Spending
		if slices.Contains(parts, r.part.number) {
			select {
			case <-own:
			case <-ctx.Done():
				return
			}
			mine := spending()
			told = &mine
		}
		all, err := r.part.link.Spent(ctx, told, parts)
		if err != nil {
			return // the window ends with its length
		}
		r.producers.EndAt(all.End())
		close(exhausted)
	})
	return exhausted
}

// noteHeld keeps how far groups and producers had come when the window began.
func (p *part) noteHeld(reached [][]snapshot.Reached, ackedIn []int64) {
	for _, of := range reached {
		for i := range of {
			of[i].Awaited = nil // which is much, and of which nothing is asked
		}
	}
	p.held = &judge.Held{Reached: reached, AckedIn: ackedIn}
}

// handOver hands in the counts at the end of an interval.
func (r *run) handOver(s snapshot.Snapshot, iv *result.Interval) {
	r.journal.KeepFailure(r.hand(s, Interval{Interval: iv, Events: r.part.events.take()}))
}

// hand hands in a snapshot with what else there is to it.
func (r *run) hand(s snapshot.Snapshot, rest any) (err error) {
	r.part.handed++
	s.Version, s.Part, s.Seq = snapshot.Version, r.part.number, r.part.handed
	if s.Told, err = json.Marshal(rest); err != nil {
		return err
	}
	return r.part.link.HandIn(s)
}

// handIn hands in what is final.
func (r *run) handIn(ctx context.Context) error {
	peaks := r.intervals.Peaks()
	e := r.evidence(judge.Setup{})
	machine := r.machine.Between(r.atStart, r.atEnd, e.AckedInWindow(), peaks)
	machine.Process.CorpusBytes, machine.Process.CorpusTimeNs = r.corpus.Bytes(), r.corpusNs
	left := judge.Part{
		Info: r.info(), Window: e.Window, Start: e.Start, End: e.End, Lag: e.Seen.Lag, WindowEnd: r.windowEnd,
		Looks: e.Seen.Looks, Changes: e.Seen.Changes, Held: r.part.held, Fill: r.fill, From: r.from, ReadTo: r.readTo, Machine: machine, Warnings: r.warnings,
	}
	producers, members := r.part.plan.Workers(r.cfg.Scenario, r.part.number)
	left.Clocks, left.QueueEmpty = r.part.link.Clocks(ctx), r.queue != nil && r.queue.empty
	left.Producers, left.Consumers, left.BeganNs = len(producers), len(members)*len(r.groups), r.beganNs
	if d := r.collector.Totals(true, latency.PacerLateness); d.Count > 0 {
		left.PacerLatenessP99Ns = &d.P99Ns
	}
	for _, g := range e.Groups {
		left.Workers = append(left.Workers, g.Workers)
	}
	if err := machine.UsageUnknown; err != nil {
		left.UsageUnknown = err.Error()
	}
	for _, err := range []error{e.Failed.Producers, e.Failed.Consumers, r.journal.Failed()} {
		if err != nil {
			left.Failed = append(left.Failed, err.Error())
		}
	}
	s := e.Sent
	s.FromNs, s.ToNs, s.EndNs = r.finishedNs, r.finishedNs, r.finishedNs
	last := snapshot.Last{}
	if s.Last != nil {
		last = *s.Last
	}
	s.Last = &last
	for _, g := range r.groups {
		s.Groups = append(s.Groups, g.Standing(remote.Want{Books: true, Fresh: true}))
		last.DeliveryGaps = append(last.DeliveryGaps, g.DeliveryGaps())
	}
	r.release()
	return r.hand(s, left)
}

// eventLog keeps the events of a part until they are handed over.
type eventLog struct {
	next observe.Watcher

	mu  sync.Mutex
	all []result.Event
}

// Began implements observe.Watcher, as do the others.
func (l *eventLog) Began(dir string) {
	if l.next != nil {
		l.next.Began(dir)
	}
}

// Interval is not kept: it is handed over by itself.
func (l *eventLog) Interval(iv result.Interval) {
	if l.next != nil {
		l.next.Interval(iv)
	}
}

// Event keeps what is written.
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
