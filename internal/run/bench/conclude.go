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
	"kafkabench.example/kafka-bench/internal/result"
	"kafkabench.example/kafka-bench/internal/run/judge"
	"kafkabench.example/kafka-bench/internal/run/observe"
)

// ErrNoPart reports that no agent has handed in its part.
var ErrNoPart = errors.New("no agent has handed in its part")

// Conclude makes the result of a run whose coordinator is gone, from the run's plan and the parts
// that the agents handed in. The new folder is below cfg.Out.
func Conclude(cfg Config, plan Plan, handed Handed) (_ *Outcome, err error) {
	if cfg.Scenario, err = scenario.Parse("the run's scenario", plan.Scenario); err != nil {
		return nil, err
	}
	cfg.Tool, cfg.Expected = plan.Tool, plan.Expected
	r := newRun(cfg)
	if r.asked, err = scenario.Parse("the run's scenario", plan.Asked); err != nil {
		return nil, err
	}
	if err := r.prepare(context.Background(), r.makePayloads, r.makeSchedule, r.openResult); err != nil {
		return nil, err
	}
	r.topic = cluster.Topic{Name: plan.Topic, Partitions: plan.Partitions, Existing: true}
	r.groupIDs, r.from, r.readTo, r.warnings = plan.Groups, plan.From, plan.ReadTo, plan.Warnings
	o, err := r.conclude(plan, handed)
	if err != nil && !errors.Is(err, ErrNotSaved) {
		r.discard()
	}
	return o, err
}

// Remove deletes from cfg.Cluster the topics and groups of a run whose coordinator is gone. The
// error names those that remain.
func Remove(ctx context.Context, cfg Config, plan Plan) (err error) {
	if cfg.Scenario, err = scenario.Parse("the run's scenario", plan.Scenario); err != nil {
		return err
	}
	r := newRun(cfg)
	if r.admin, err = cluster.NewAdmin(cfg.Cluster.Bootstrap(), r.access()); err != nil {
		return err
	}
	r.groupIDs, r.grouped = plan.Groups, !r.manual() && r.consumed()
	find := func(name string, existing bool) (t cluster.Topic) {
		if name == "" || existing {
			return t
		}
		if t, err = r.admin.UseExisting(ctx, name); err != nil {
			r.leftBehind = append(r.leftBehind, err)
			return cluster.Topic{}
		}
		t.Existing = false // the run made it
		return t
	}
	r.topic = find(plan.Topic, plan.Existing)
	if r.hasQueue() {
		r.queue = newQueue(&r.base)
		r.queue.dead = find(plan.Topic+deadSuffix, false)
	}
	r.removeTopic()
	return errors.Join(r.leftBehind...)
}

type left struct {
	judge.Part
	final snapshot.Snapshot
	index int // of its agent
	name  string
	all   iter.Seq2[snapshot.Snapshot, error]
	ends  []int64 // of its intervals, ascending, without the last
}

type conclusion struct {
	*run
	plan   Plan
	parts  []left
	peaks  observe.Peaks
	byUser bool // a user ended the run early
	*judge.Evidence
}

func (r *run) conclude(plan Plan, handed Handed) (*Outcome, error) {
	parts, missing, err := leftBy(handed)
	if err != nil {
		return nil, err
	}
	if len(parts) == 0 {
		return nil, fmt.Errorf("%w: %s", ErrNoPart, strings.Join(missing, "; "))
	}
	c := conclusion{run: r, plan: plan, parts: parts, byUser: handed.ByUser, Evidence: &judge.Evidence{
		Agents: r.agentsOf(plan, handed, parts), Times: r.collector, Histograms: histogramsIn(r.writer.Dir()),
		Caveats: r.cfg.Caveats,
	}}
	if !r.journal.Placed() {
		r.journal.SetAxis(time.Until(parts[0].Info.StartedAt), time.Duration(r.cfg.Scenario.Phases.Measure))
	}
	for _, step := range []func() error{c.merge, c.takeIntervals, c.describe} {
		if err := step(); err != nil {
			return nil, err
		}
	}
	c.lastPulse()
	for _, what := range missing {
		c.Failed.Producers = cmp.Or(c.Failed.Producers, errors.New(what))
	}
	r.release()
	for _, err := range r.leftBehind {
		r.warnings = append(r.warnings, err.Error())
	}
	c.Warnings, c.Failed.Journal = slices.Concat(r.warnings, c.Warnings), r.journal.Failed()
	return r.save(c.Evidence)
}

func (c *conclusion) merge() (err error) {
	finals, names := make([]snapshot.Snapshot, len(c.parts)), make([]string, len(c.parts))
	lefts := make([]judge.Part, len(c.parts))
	for i, p := range c.parts {
		finals[i], names[i], lefts[i] = p.final, p.name, p.Part
	}
	if c.Sent, err = snapshot.Merge(finals); err != nil {
		return err
	}
	c.Groups = c.groupsOf(c.Sent)
	for _, p := range c.parts {
		if crossed(p.final) > 0 {
			c.Cross(p.name, p.Clocks)
		}
	}
	c.Join(lefts, names)
	c.takeFill(lefts)
	if c.hasQueue() {
		c.takeQueue()
	}
	if c.cfg.Scenario.Consume.Parallel == "partition" { // each agent counts all partitions that it may be assigned
		for i := range c.Groups {
			c.Groups[i].Workers = min(c.Groups[i].Workers, c.topic.Partitions)
		}
	}
	c.axis.EndAt(c.EndNs)
	c.startedNs, c.finishedNs, c.interrupted = c.StartedNs, c.FinishedNs, c.Interrupted
	c.AckedIn = c.withFill(c.Sent.Behind.AckedIn)
	return nil
}

func (c *conclusion) describe() error {
	if c.lag != nil { // the coordinator has read the lag after all last commits
		now := c.lag.Seen(c.FinishedNs, c.manual())
		c.Seen.Lag.Final, c.Seen.Lag.Finals, c.Seen.Lag.FinalPartitions = now.Final, now.Finals, now.FinalPartitions
	}
	if err := c.choosePlan(context.Background()); err != nil {
		return err
	}
	if c.plan.Placement != Own {
		c.run.plan.unknown = append(c.run.plan.unknown, "lag.time_lag_peak_ns", "intervals.time_lag_ns")
	}
	c.run.plan.unknown = append(c.run.plan.unknown, "intervals.host", "intervals.processes", "storage.behind_bytes")
	if c.lagReader == nil { // the coordinator is gone
		c.run.plan.unknown = append(c.run.plan.unknown, "broker", "intervals.brokers", "storage")
	}
	c.describeBrokers()
	first := c.parts[0].Info
	c.Setup = c.setup()
	c.Info.StartedAt, c.Info.Host, c.Info.Cluster, c.Info.Driver = first.StartedAt, first.Host, c.plan.Cluster, first.Driver
	for _, p := range c.parts {
		if c.Info.Driver.Consumer == nil {
			c.Info.Driver.Consumer = p.Info.Driver.Consumer
		}
	}
	c.Info.Placement, c.Info.Session = c.plan.Placement, c.plan.Session
	c.Info.InterruptedByUser = c.byUser
	return nil
}

func (c *conclusion) takeFill(parts []judge.Part) {
	if c.Fill != nil {
		c.filledIn = c.Fill.In(c.topic.Partitions)
		c.Fill.Outcome.BoundedBytes = c.fillBound()
		c.Fill.Outcome.BoundedRecords = ifBounded(c.cfg.Scenario.FillCount(), c.asked.FillCount())
		c.from, c.readTo = parts[0].From, parts[0].ReadTo
	}
	if reached, ackedIn := judge.HeldBy(parts); len(reached) > 0 {
		c.Seen.Held = c.backlogsOf(reached, ackedIn)
	}
}

func crossed(s snapshot.Snapshot) (records int64) {
	for _, g := range s.Groups {
		records += g.Received.Crossed
	}
	return records
}

func (r *run) agentsOf(plan Plan, handed Handed, parts []left) []result.Agent {
	all := make([]result.Agent, len(handed.Agents))
	for i, a := range handed.Agents {
		producers, members := plan.Workers(r.cfg.Scenario, i)
		all[i] = result.Agent{Index: i, Instance: fmt.Sprintf("%016x", a.Instance), HostName: a.HostName, Host: a.Host,
			Producers: len(producers), Consumers: len(members) * len(plan.Groups), Partitions: a.Partitions, ClockErrorNs: a.ClockErrorNs, Reasons: a.Reasons}
	}
	for _, p := range parts {
		a, sent := &all[p.index], p.final.Sent[1]
		a.HandedIn, a.StartedNs = true, &p.BeganNs
		a.Counts = &result.AgentCounts{Scheduled: sent.Scheduled, Admitted: sent.Admitted, Acked: sent.Acked}
		a.ClockErrorNs, a.Counts.Crossed = p.Clocks.StartErrorNs, crossed(p.final)
		for _, g := range p.final.Groups {
			a.Counts.Delivered += g.Received.DeliveredInWindow
			a.Counts.Unique += g.Received.UniqueInWindow
		}
		a.PacerLatenessP99Ns, a.Process = p.PacerLatenessP99Ns, &p.Machine.Process
		a.Interrupted = slices.Contains(a.Reasons, result.EndedEarly)
		if p.Window.Interrupted && !handed.Stopped && !a.Interrupted { // the agent ended early by itself, in the drain
			a.Interrupted, a.Reasons = true, append(a.Reasons, result.EndedEarly)
		}
	}
	return all
}

func (c *conclusion) groupsOf(all snapshot.Snapshot) []judge.Group {
	groups := make([]judge.Group, len(all.Groups))
	for i, standing := range all.Groups {
		groups[i] = judge.Group{
			Name: c.groupIDs[i], Standing: standing, Receivers: c.receivers(standing.Books), AtStop: standing.Reached,
		}
		if all.Last != nil && i < len(all.Last.DeliveryGaps) {
			groups[i].Gaps = all.Last.DeliveryGaps[i]
		}
	}
	return groups
}

func (c *conclusion) receivers(books map[int32]*ledger.Receiver) []*ledger.Receiver {
	all := make([]*ledger.Receiver, c.topic.Partitions)
	for p := range all {
		if all[p] = books[int32(p)]; all[p] == nil {
			all[p] = ledger.NewReceiver(int32(p), c.cfg.Scenario.Load.Producers+c.cfg.Scenario.Fillers())
		}
	}
	return all
}

func (c *conclusion) takeQueue() {
	if len(c.Groups) == 0 || c.Groups[0].Standing.Queue == nil {
		return // no part that has consumers was handed in
	}
	c.Queue = &judge.Queue{
		Settled: c.receivers(c.Groups[0].Standing.Queue.Settled),
		Empty:   len(c.parts) == c.plan.Parts, // otherwise a missing part may have settled what the others lack
	}
	for _, p := range c.parts {
		c.Queue.Empty = c.Queue.Empty && (p.Consumers == 0 || p.QueueEmpty)
	}
	c.Drained = c.Unsettled() == 0
}

func leftBy(handed Handed) (parts []left, missing []string, err error) {
	missing = slices.Clone(handed.Missing)
	for i, all := range handed.Parts {
		if all == nil {
			continue
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

// An interval of the run ends at each time at which every part ended one of its intervals. The
// run's last interval ends when the parts end.
func (c *conclusion) takeIntervals() error {
	handed := &source{}
	c.collector.AddSource(handed)
	intervals := &observe.Intervals{
		Axis: c.axis, Journal: c.journal, Period: time.Duration(c.cfg.Scenario.Sampling.Interval), Collector: c.collector,
		Machine: &observe.Machine{}, Backlogs: c.backlogsOf, Endless: c.readOnly() && c.readTo == nil,
		Due: c.stamped && !c.readOnly(), Sends: !c.readOnly(), Queue: c.Queue != nil, BrokerLog: c.brokerLog,
	}
	if len(c.groupIDs) > 1 {
		intervals.GroupNames = c.groupIDs
	}
	readers := make([]*reader, len(c.parts))
	for i, p := range c.parts {
		readers[i] = newReader(p)
		defer readers[i].stop()
	}
	for _, end := range append(commonEnds(c.parts), math.MaxInt64) {
		all := make([]snapshot.Snapshot, len(c.parts))
		var lag result.Interval
		var events []result.Event
		for i, from := range readers {
			s, told, err := from.until(end)
			if err != nil {
				return fmt.Errorf("%s: %w", c.parts[i].name, err)
			}
			all[i] = s
			if i == 0 {
				lag = lagOf(told)
			}
			events = append(events, eventsOf(told, c.parts[i].index)...)
			for _, t := range told {
				if t.Interval != nil {
					c.journal.KeepFailure(c.writer.Agent(agentInterval(c.parts[i].index, *t.Interval)))
				}
			}
		}
		sum, err := snapshot.Merge(all)
		if err != nil {
			return err
		}
		slices.SortStableFunc(events, func(a, b result.Event) int { return cmp.Compare(a.AtNs, b.AtNs) })
		for _, ev := range events {
			c.journal.Event(ev)
		}
		handed.times = sum.Times
		intervals.Take(sum, &lag)
		if handed.err != nil {
			return handed.err
		}
	}
	intervals.AddTo(&c.Seen)
	c.peaks = intervals.Peaks()
	if c.Queue != nil {
		c.Queue.InFlightPeak = intervals.InFlightPeak()
	}
	return nil
}

// lastPulse writes the agents' final counts, so that pulses and metrics end with the result's
// counts. An agent that did not hand in keeps its last pulse.
func (c *conclusion) lastPulse() {
	last := result.Pulse{RunID: c.runID, Agents: slices.DeleteFunc(slices.Clone(c.pulsed.Agents), func(a result.AgentPulse) bool {
		return slices.ContainsFunc(c.parts, func(p left) bool { return p.index == a.Index })
	})}
	for _, p := range c.parts {
		sent := p.final.Sent[0]
		sent.Add(p.final.Sent[1])
		a := result.AgentPulse{
			Index: p.index, HostName: c.Agents[p.index].HostName, AtNs: p.final.EndNs, Phase: "drain", Scheduled: sent.Scheduled,
			Acked: sent.Acked, Failed: sent.Failed, DeferredRecords: sent.Deferred(), InFlightRecords: sent.InFlight(),
		}
		for _, g := range p.final.Groups {
			a.Delivered += g.Received.Delivered
		}
		last.Agents = append(last.Agents, a)
	}
	slices.SortFunc(last.Agents, func(a, b result.AgentPulse) int { return cmp.Compare(a.Index, b.Index) })
	c.journal.KeepFailure(c.writer.Pulse(last))
}

func commonEnds(parts []left) []int64 {
	return slices.DeleteFunc(slices.Clone(parts[0].ends), func(end int64) bool {
		return slices.ContainsFunc(parts[1:], func(p left) bool { return !slices.Contains(p.ends, end) })
	})
}

func lagOf(told []Interval) (lag result.Interval) {
	for _, t := range told {
		if iv := t.Interval; iv != nil {
			samples := slices.Concat(lag.LagSamples, iv.LagSamples)
			lag = *iv
			lag.LagSamples = samples
		}
	}
	return lag
}

// Only part 0 reports phases.
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

func agentInterval(index int, iv result.Interval) result.AgentInterval {
	of := result.AgentInterval{
		Index: index, StartNs: iv.StartNs, EndNs: iv.EndNs, Scheduled: iv.Scheduled, Acked: iv.Acked, Delivered: iv.Delivered,
		DeferredRecords: iv.DeferredRecords, InFlightRecords: iv.InFlightRecords,
		CPUCores: iv.ProcessCPUCores, RSSBytes: iv.ProcessRSSBytes, Host: iv.Host,
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

type source struct {
	times latency.Encoded
	err   error
}

func (s *source) Recorded(merge func(part latency.Encoded) error) {
	s.err = errors.Join(s.err, merge(s.times))
	s.times = nil
}

// The last snapshot closes no interval.
type reader struct {
	next func() (snapshot.Snapshot, error, bool)
	stop func()
	last snapshot.Snapshot
	left int
}

func newReader(p left) *reader {
	r := &reader{left: len(p.ends) + 1}
	r.next, r.stop = iter.Pull2(p.all)
	return r
}

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
