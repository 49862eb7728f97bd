package bench

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"kafkabench.example/kafka-bench/internal/kafka/cluster"
	"kafkabench.example/kafka-bench/internal/measure/latency"
	"kafkabench.example/kafka-bench/internal/measure/ledger"
	"kafkabench.example/kafka-bench/internal/measure/snapshot"
	"kafkabench.example/kafka-bench/internal/plan/scenario"
	"kafkabench.example/kafka-bench/internal/plan/unit"
	"kafkabench.example/kafka-bench/internal/result"
	"kafkabench.example/kafka-bench/internal/run/judge"
	"kafkabench.example/kafka-bench/internal/run/observe"
)

// Fleet is the agents that make the parts of runs. A run with a fleet offers and receives
// nothing by itself: it prepares topic and groups, has the agents make their parts, and
// concludes the run from what they hand in.
type Fleet interface {
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
		r.openProbes, r.beginUnlessFilled)
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

// pulse tells who watches what the agents count.
func (r *run) pulse(p result.Pulse) {
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
		RunID: r.id(), Scenario: as, Asked: asked, Driver: r.cfg.Driver.Name(),
		Topic: r.topic.Name, Partitions: r.topic.Partitions, Existing: r.topic.Existing, Groups: r.groupIDs,
		From: r.from, ReadTo: r.readTo, Shares: shares, Parts: r.cfg.Fleet.Parts(), Placement: r.cfg.Fleet.Placement(),
		Senders: r.cfg.Fleet.Senders(),
		Cluster: clusterOf(r.cfg), Tool: r.cfg.Tool, Warnings: r.warnings,
	}, nil
}

// Conclude makes the result of a run from its plan and from what the agents handed in, in a
// new folder below cfg.Out, because whoever led the run is gone.
func Conclude(cfg Config, plan Plan, handed Handed) (_ *Outcome, err error) {
	if cfg.Scenario, err = scenario.Parse("the run's scenario", plan.Scenario); err != nil {
		return nil, err
	}
	cfg.Tool = plan.Tool
	r := newRun(cfg)
	if r.asked, err = scenario.Parse("the run's scenario", plan.Asked); err != nil {
		return nil, err
	}
	if err := r.prepare(context.Background(), r.makePayloads, r.makeSchedule, r.openResult); err != nil {
		return nil, err
	}
	r.topic = cluster.Topic{Name: plan.Topic, Partitions: plan.Partitions, Existing: true}
	r.groupIDs, r.from, r.readTo, r.warnings = plan.Groups, plan.From, plan.ReadTo, plan.Warnings
	return r.conclude(plan, handed)
}

// left is what one part has left, once it has ended.
type left struct {
	judge.Part
	final snapshot.Snapshot
	index int // of its agent
	name  string
	all   iter.Seq2[snapshot.Snapshot, error]
	ends  []int64 // of its intervals but the last, ascending
}

// conclude judges a run by what its parts have handed in.
func (r *run) conclude(plan Plan, handed Handed) (*Outcome, error) {
	parts, missing, err := leftBy(handed)
	if err != nil {
		return nil, err
	}
	if len(parts) == 0 {
		return nil, fmt.Errorf("no agent handed in its part: %s", strings.Join(missing, "; "))
	}
	first := parts[0].Info
	if !r.journal.Placed() {
		r.journal.SetAxis(time.Until(first.StartedAt), time.Duration(r.cfg.Scenario.Phases.Measure))
	}
	finals, names := make([]snapshot.Snapshot, len(parts)), make([]string, len(parts))
	lefts := make([]judge.Part, len(parts))
	for i, p := range parts {
		finals[i], names[i], lefts[i] = p.final, p.name, p.Part
	}
	e := &judge.Evidence{Agents: agentsOf(handed, parts), Times: r.collector, Histograms: histogramsIn(r.writer.Dir()), Caveats: r.cfg.Caveats}
	if e.Sent, err = snapshot.Merge(finals); err != nil {
		return nil, err
	}
	e.Groups = r.groupsOf(e.Sent)
	for i, p := range parts {
		if crossed(p.final) > 0 {
			e.Cross(names[i], p.Clocks)
		}
	}
	e.Join(lefts, names)
	r.takeFill(e, lefts)
	if r.cfg.Scenario.Consume.Parallel == "partition" { // each agent counts all that might be its own
		for i := range e.Groups {
			e.Groups[i].Workers = min(e.Groups[i].Workers, r.topic.Partitions)
		}
	}
	r.axis.EndAt(e.EndNs)
	r.startedNs, r.finishedNs, r.interrupted = e.StartedNs, e.FinishedNs, e.Interrupted
	if err := r.takeIntervals(parts, &e.Seen); err != nil {
		return nil, err
	}
	if r.lag != nil { // who leads the run has read the lag once all had made their last commit
		now := r.lag.Seen(e.FinishedNs, r.manual())
		e.Seen.Lag.Final, e.Seen.Lag.Finals, e.Seen.Lag.FinalPartitions = now.Final, now.Finals, now.FinalPartitions
	}
	if err := r.choosePlan(context.Background()); err != nil {
		return nil, err
	}
	if plan.Placement != Own {
		r.plan.unknown = append(r.plan.unknown, "lag.time_lag_peak_ns", "intervals.time_lag_ns")
	}
	e.Setup = r.setup()
	e.Info.StartedAt, e.Info.Host, e.Info.Cluster, e.Info.Driver = first.StartedAt, first.Host, plan.Cluster, first.Driver
	for _, p := range lefts {
		if e.Info.Driver.Consumer == nil { // those that send have none
			e.Info.Driver.Consumer = p.Info.Driver.Consumer
		}
	}
	e.Info.Placement = plan.Placement
	e.AckedIn = r.withFill(e.Sent.Behind.AckedIn)
	for _, what := range missing {
		e.Failed.Producers = cmp.Or(e.Failed.Producers, errors.New(what))
	}
	r.release()
	for _, err := range r.leftBehind {
		r.warnings = append(r.warnings, err.Error())
	}
	e.Warnings, e.Failed.Journal = slices.Concat(r.warnings, e.Warnings), r.journal.Failed()
	return r.save(e)
}

// takeFill takes what the parts filled the topic with, and where they began to read it.
func (r *run) takeFill(e *judge.Evidence, parts []judge.Part) {
	if e.Fill != nil {
		r.filledIn = e.Fill.In(r.topic.Partitions)
		e.Fill.Outcome.BoundedBytes = r.fillBound()
		e.Fill.Outcome.BoundedRecords = ifBounded(r.cfg.Scenario.FillCount(), r.asked.FillCount())
		r.from, r.readTo = parts[0].From, parts[0].ReadTo
	}
	if reached, ackedIn := judge.HeldBy(parts); len(reached) > 0 {
		e.Seen.Held = r.backlogsOf(reached, ackedIn)
	}
}

// crossed is how many records a part has received that another one had sent.
func crossed(s snapshot.Snapshot) (records int64) {
	for _, g := range s.Groups {
		records += g.Received.Crossed
	}
	return records
}

// agentsOf returns all agents with their parts of the books.
func agentsOf(handed Handed, parts []left) []result.Agent {
	all := make([]result.Agent, len(handed.Agents))
	for i, a := range handed.Agents {
		all[i] = result.Agent{Index: i, Instance: fmt.Sprintf("%016x", a.Instance), HostName: a.HostName, Host: a.Host,
			Partitions: a.Partitions, ClockErrorNs: a.ClockErrorNs, Reasons: a.Reasons}
	}
	for _, p := range parts {
		a, sent := &all[p.index], p.final.Sent[1]
		a.HandedIn, a.Producers, a.Consumers, a.StartedNs = true, p.Producers, p.Consumers, &p.BeganNs
		a.Counts = &result.AgentCounts{Scheduled: sent.Scheduled, Admitted: sent.Admitted, Acked: sent.Acked}
		a.ClockErrorNs, a.Counts.Crossed = p.Clocks.StartErrorNs, crossed(p.final)
		for _, g := range p.final.Groups {
			a.Counts.Delivered += g.Received.DeliveredInWindow
			a.Counts.Unique += g.Received.UniqueInWindow
		}
		a.PacerLatenessP99Ns, a.Process = p.PacerLatenessP99Ns, &p.Machine.Process
	}
	return all
}

// groupsOf returns the groups by the merged snapshots of all parts' ends.
func (r *run) groupsOf(all snapshot.Snapshot) []judge.Group {
	producers := r.cfg.Scenario.Load.Producers + r.cfg.Scenario.Fillers()
	groups := make([]judge.Group, len(all.Groups))
	for i, standing := range all.Groups {
		receivers := make([]*ledger.Receiver, r.topic.Partitions)
		for p := range receivers {
			if receivers[p] = standing.Books[int32(p)]; receivers[p] == nil {
				receivers[p] = ledger.NewReceiver(int32(p), producers)
			}
		}
		groups[i] = judge.Group{Name: r.groupIDs[i], Standing: standing, Receivers: receivers, AtStop: standing.Reached}
		if all.Last != nil && i < len(all.Last.DeliveryGaps) {
			groups[i].Gaps = all.Last.DeliveryGaps[i]
		}
	}
	return groups
}

// leftBy reads what is final of each part, and where its intervals end.
func leftBy(handed Handed) (parts []left, missing []string, err error) {
	missing = slices.Clone(handed.Missing)
	for i, all := range handed.Parts {
		if all == nil {
			continue // it is among the missing
		}
		p := left{index: i, name: handed.Agents[i].Name, all: all}
		var last *snapshot.Snapshot
		for s, err := range all {
			if err != nil {
				return nil, nil, fmt.Errorf("%s: %w", p.name, err)
			}
			if last != nil {
				p.ends = append(p.ends, last.EndNs)
			}
			last = &s
		}
		if last == nil || json.Unmarshal(last.Told, &p.Part) != nil || last.Last == nil {
			missing = append(missing, p.name+" did not hand in its end")
			continue
		}
		p.final, p.ends = *last, p.ends[:max(0, len(p.ends)-1)]
		parts = append(parts, p)
	}
	return parts, missing, nil
}

// takeIntervals closes the run's intervals: each ends where all parts have ended one, but
// the last, which ends with the parts.
func (r *run) takeIntervals(parts []left, seen *judge.Seen) error {
	handed := &source{}
	r.collector.AddSource(handed)
	intervals := &observe.Intervals{
		Axis: r.axis, Journal: r.journal, Period: time.Duration(r.cfg.Scenario.Sampling.Interval), Collector: r.collector,
		Machine: &observe.Machine{}, Backlogs: r.backlogsOf, Endless: r.readOnly() && r.readTo == nil,
		Due: r.stamped && !r.readOnly(), Sends: !r.readOnly(),
	}
	if len(r.groupIDs) > 1 {
		intervals.GroupNames = r.groupIDs
	}
	readers := make([]*reader, len(parts))
	for i, p := range parts {
		readers[i] = newReader(p)
		defer readers[i].stop()
	}
	for _, end := range append(commonEnds(parts), math.MaxInt64) {
		all := make([]snapshot.Snapshot, len(parts))
		var lag result.Interval
		var events []result.Event
		for i, from := range readers {
			s, told, err := from.until(end)
			if err != nil {
				return fmt.Errorf("%s: %w", parts[i].name, err)
			}
			all[i] = s
			if i == 0 {
				lag = lagOf(told)
			}
			events = append(events, eventsOf(told, parts[i].index)...)
			for _, t := range told {
				if t.Interval != nil {
					r.journal.KeepFailure(r.writer.Agent(agentInterval(parts[i].index, *t.Interval)))
				}
			}
		}
		sum, err := snapshot.Merge(all)
		if err != nil {
			return err
		}
		slices.SortStableFunc(events, func(a, b result.Event) int { return cmp.Compare(a.AtNs, b.AtNs) })
		for _, ev := range events {
			r.journal.Event(ev)
		}
		handed.times = sum.Times
		intervals.Take(sum, &lag)
		if handed.err != nil {
			return handed.err
		}
	}
	intervals.AddTo(seen)
	return nil
}

// commonEnds are the times at which all parts have ended an interval, ascending.
func commonEnds(parts []left) []int64 {
	return slices.DeleteFunc(slices.Clone(parts[0].ends), func(end int64) bool {
		return slices.ContainsFunc(parts[1:], func(p left) bool { return !slices.Contains(p.ends, end) })
	})
}

// lagOf is what a part saw of the lag in some of its intervals.
func lagOf(told []Interval) (lag result.Interval) {
	for _, t := range told {
		if iv := t.Interval; iv != nil {
			samples := append(lag.LagSamples, iv.LagSamples...)
			lag = *iv
			lag.LagSamples = samples
		}
	}
	return lag
}

// eventsOf are the events of a part. The phases are those of the first.
func eventsOf(told []Interval, part int) (events []result.Event) {
	for _, t := range told {
		for _, e := range t.Events {
			if e.Kind == "phase" && part > 0 {
				continue
			}
			e.Data = maps.Clone(e.Data)
			if e.Data == nil {
				e.Data = make(map[string]any)
			}
			e.Data["agent"] = part
			events = append(events, e)
		}
	}
	return events
}

// agentInterval is what one agent did in an interval.
func agentInterval(index int, iv result.Interval) result.AgentInterval {
	of := result.AgentInterval{
		Index: index, StartNs: iv.StartNs, EndNs: iv.EndNs, Scheduled: iv.Scheduled, Acked: iv.Acked, Delivered: iv.Delivered,
		DeferredRecords: iv.DeferredRecords, InFlightRecords: iv.InFlightRecords,
		CPUCores: iv.ProcessCPUCores, RSSBytes: iv.ProcessRSSBytes,
	}
	p99 := func(m latency.Metric) *int64 {
		t, known := iv.Time[m.String()]
		if !known {
			return nil
		}
		return &t.P99Ns
	}
	of.PacerLatenessP99Ns, of.E2EResponseP99Ns = p99(latency.PacerLateness), p99(latency.E2EResponseTime)
	return of
}

// source has the histograms of an interval for the collector.
type source struct {
	times latency.Encoded
	err   error
}

// Recorded implements latency.Source.
func (s *source) Recorded(merge func(part latency.Encoded) error) {
	s.err = errors.Join(s.err, merge(s.times))
	s.times = nil
}

// reader reads a part's snapshots but for the last, which closes no interval.
type reader struct {
	next func() (snapshot.Snapshot, error, bool)
	stop func()
	last snapshot.Snapshot // that was read
	left int               // snapshots
}

func newReader(p left) *reader {
	r := &reader{left: len(p.ends) + 1}
	r.next, r.stop = iter.Pull2(p.all)
	return r
}

// until reads up to the snapshot of an end, or to the last, and returns that with the
// histograms of all that were read.
func (r *reader) until(end int64) (snapshot.Snapshot, []Interval, error) {
	var times []latency.Encoded
	var told []Interval
	for ; r.left > 0 && (times == nil || r.last.EndNs < end); r.left-- {
		s, err, more := r.next()
		if err != nil || !more {
			return s, nil, cmp.Or(err, io.ErrUnexpectedEOF)
		}
		var t Interval
		if err := json.Unmarshal(s.Told, &t); err != nil {
			return s, nil, err
		}
		r.last, told, times = s, append(told, t), append(times, s.Times)
	}
	all := r.last
	var err error
	all.Times, err = latency.MergeEncoded(times...)
	return all, told, err
}
