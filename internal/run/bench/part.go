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

// Plan describes a run to all agents, each of which makes a part. It holds no address and no
// credential.
type Plan struct {
	RunID    string
	Session  string
	Scenario []byte // resolved, in YAML
	Asked    []byte // before the disk bounded it
	Driver   string

	Topic      string
	Partitions int
	Existing   bool // the run did not create the topic
	Groups     []string
	From       []int64 // where the groups start, by partition; nil is zero
	ReadTo     []int64 // how far a run without producers reads; nil with producers

	Shares string // the topic in which the agents divide the bound; "" if they do not

	Parts     int
	Placement string
	Senders   int // with Apart, the first Senders parts send; otherwise 0
	Cluster   result.Cluster
	Tool      result.Tool
	Warnings  []string
}

// Placed returns the placement of a scenario on agents asked for one: Own becomes Any for a queue,
// whose partitions have no owner.
func Placed(s scenario.Scenario, placement string) string {
	if placement == Own && s.Consume.Queue.Used() {
		return Any
	}
	return placement
}

const (
	// Own lets agents send only to their own consumers' partitions, so that one clock times each
	// record.
	Own = "own"
	// Any lets every agent send to all partitions.
	Any = "any"
	// Apart lets some agents send and the others receive.
	Apart = "apart"
)

// Workers returns the numbers of a part's producers, and of its members in each group.
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

// If no part sends, all fill.
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

// Link connects a part with the other parts and the coordinator.
type Link interface {
	// Ready reports the partitions of the part's consumers, again after each change until the run
	// starts.
	Ready(owned []int32)
	// Started receives the start of the run; it closes if the run does not start.
	Started() <-chan Started
	// Filled reports the part's acked fill records by partition, and returns the outcome once all
	// parts have reported.
	Filled(ctx context.Context, ackedIn []int64) (Filled, error)
	// Spent reports how the part's load ended, unless own is nil, and returns the sum once all of
	// parts have reported.
	Spent(ctx context.Context, own *snapshot.Spending, parts []int) (all snapshot.Spending, err error)
	// Sent reports the part's acked records by partition, after its producers have ended, and
	// returns the sum once all parts have reported.
	Sent(ctx context.Context, ackedIn []int64) (all []int64, err error)
	// HandIn takes a snapshot of the part: one for each interval, then that of the end, whose Told
	// is a judge.Part.
	HandIn(snapshot.Snapshot) error
	// Clocks waits for the clocks' errors from the start until now, or until they cannot be found
	// out.
	Clocks(ctx context.Context) judge.Clocks
}

// Started is the start of a run for one part.
type Started struct {
	Zero load.Zero // on the clock of the part's machine
	Into []int32   // the partitions that its producers send to; nil is all
	// ShiftsNs has, by part, what to add to a time of that part's axis to get a time of this
	// part's. Values of parts that send nothing have no meaning.
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
	Interval *result.Interval // as the part saw it; nil where counting begins
	Events   []result.Event   // since the snapshot before
}

type part struct {
	plan   Plan
	number int
	link   Link
	events eventLog
	handed uint64
	total  []int64 // acked records of all parts by partition, once known
	shifts []*atomic.Int64
	held   *judge.Held
}

// first reports whether the part reads what only one part has to read.
func (p *part) first() bool { return p.number == 0 }

// RunPart makes one part of a run and hands in its snapshots. The run's folder stays below cfg.Out,
// without a result. An error means that not everything was handed in; a part that fails before the
// start leaves nothing behind.
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
	cfg.KeepTopics = true // the coordinator deletes them
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

// offsets returns the clock shift of each producer in other parts; nil without parts.
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

func (r *run) useTopic(context.Context) (err error) {
	if r.admin, err = cluster.NewAdmin(r.cfg.Cluster.Bootstrap(), r.access()); err != nil {
		return err
	}
	plan := r.part.plan
	r.topic = cluster.Topic{Name: plan.Topic, Partitions: plan.Partitions, Existing: true}
	r.groupIDs, r.from, r.readTo = plan.Groups, plan.From, plan.ReadTo
	return nil
}

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

const readyEvery = 100 * time.Millisecond

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

func (r *run) heed(ctx context.Context, stop <-chan int64) {
	select {
	case at := <-stop:
		r.producers.EndAt(at)
	case <-ctx.Done():
	}
}

func (r *run) partitionsHere() []int32 {
	if len(r.groups) == 0 || r.queue != nil {
		return nil
	}
	return r.groups[0].Held()
}

// mine sets the ends of other parts' partitions to 0.
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

func (r *run) awaitSent(ctx context.Context) bool {
	total, err := r.part.link.Sent(ctx, r.producers.Snapshot(remote.Want{Fresh: true}).Behind.AckedIn)
	if err != nil {
		r.journal.Now("warning", "it is not known what the other agents sent", err.Error())
		return false
	}
	r.part.total = r.withFill(total)
	return true
}

func (r *run) spentByAll() <-chan struct{} {
	return r.exhaustedByAll(r.part.plan.senders(r.cfg.Scenario), r.producers.Spent(), r.producers.Spending)
}

func (r *run) readByAll() <-chan struct{} {
	var last int64
	var read <-chan struct{}
	if len(r.groups) > 0 {
		read = r.onceRead(func(ns int64) { last = ns })
	}
	return r.exhaustedByAll(r.part.plan.receivers(r.cfg.Scenario), read,
		func() snapshot.Spending { return snapshot.Spending{LastNs: last, NextNs: last + 1} })
}

// exhaustedByAll closes its channel when these parts have nothing left. If this part is one of
// them, it reports spending once own is closed.
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
			return // the window keeps its length
		}
		r.producers.EndAt(all.End())
		close(exhausted)
	})
	return exhausted
}

func (p *part) noteHeld(reached [][]snapshot.Reached, ackedIn []int64) {
	for _, of := range reached {
		for i := range of {
			of[i].Awaited = nil // large, and not needed
		}
	}
	p.held = &judge.Held{Reached: reached, AckedIn: ackedIn}
}

func (r *run) handOver(s snapshot.Snapshot, iv *result.Interval) {
	r.journal.KeepFailure(r.hand(s, Interval{Interval: iv, Events: r.part.events.take()}))
}

func (r *run) hand(s snapshot.Snapshot, rest any) (err error) {
	r.part.handed++
	s.Version, s.Part, s.Seq = snapshot.Version, r.part.number, r.part.handed
	if s.Told, err = json.Marshal(rest); err != nil {
		return err
	}
	return r.part.link.HandIn(s)
}

func (r *run) handIn(ctx context.Context) error {
	peaks := r.intervals.Peaks()
	if r.queue != nil {
		r.queue.closeReader()
	}
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
