package bench

import (
	"fmt"
	"time"

	"kafka-bench/internal/driver"
	"kafka-bench/internal/latency"
	"kafka-bench/internal/ledger"
	"kafka-bench/internal/load"
	"kafka-bench/internal/probe"
	"kafka-bench/internal/result"
)

// conclude closes the books, judges the run and saves it.
func (r *run) conclude() (*Outcome, error) {
	info := r.info()
	brokers := r.brokers() // before the topic, and with it the data, is gone
	r.release()
	for _, err := range r.leftBehind {
		r.warnings = append(r.warnings, err.Error())
	}

	books := r.closeBooks()
	warmup, measured := r.producers.Sent()
	out := result.Run{
		Scenario: r.cfg.Scenario,
		Run:      info,
		Load:     r.load(measured, warmup.AckedInWindow+measured.AckedInWindow),
		Delivery: r.delivery(books.Measured, measured),
		Time:     r.times(),
		Lag:      r.lagOutcome(),
		Consumer: r.consumer(),
		Warmup: result.Warmup{
			Load:     r.warmupLoad(warmup),
			Delivery: r.delivery(books.Warmup, warmup),
		},
		Backpressure: r.backpressure(),
		Process:      r.process(warmup.AckedInWindow + measured.AckedInWindow),
		Broker:       brokers,
	}
	out.Compression = r.compression()
	out.Verdict = r.judge(&out, books)
	if err := r.writer.Finish(out); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrNotSaved, err)
	}
	out.Run.ID = r.writer.ID()
	return &Outcome{Dir: r.writer.Dir(), Run: out}, nil
}

func (r *run) closeBooks() ledger.Books {
	var receivers []*ledger.Receiver
	if r.group != nil {
		receivers = r.group.Receivers()
	}
	return ledger.Close(r.producers.Books(), receivers, r.position)
}

// position is how far the consumers have come in a partition. Once the log is
// read to its end that is past everything, whatever the acknowledgements said of
// offsets (at acks 0 they say nothing, and after a truncation they are wrong).
func (r *run) position(partition int32) int64 {
	if r.drained {
		return ledger.ReadToEnd
	}
	at := r.atStop[partition].Position
	if r.ends != nil && at >= r.ends[partition] {
		return ledger.ReadToEnd
	}
	return at
}

// info describes the run, as far as it has come.
func (r *run) info() result.Info {
	c := r.cfg.Cluster.Info()
	info := result.Info{
		Name: r.cfg.Scenario.Name, StartedAt: r.axis.Wall(0), FinishedAt: r.axis.Wall(r.finishedNs),
		Interrupted: r.interrupted, Tool: r.cfg.Tool, Host: result.Host(probe.DescribeHost()),
		Cluster: result.Cluster{
			Kind: c.Kind, ID: c.ID, Version: c.Version, Brokers: c.Brokers, Note: c.Note, Settings: c.Settings,
		},
		Driver: result.Driver{
			Name: r.cfg.Driver.Name(), Version: r.cfg.Driver.Version(),
			Producer: settings(r.producers.Settings()),
		},
		Topic:  r.topic.Name,
		Phases: r.phases(),
	}
	if r.group != nil {
		info.Group, info.Driver.Consumer = r.groupID, settings(r.group.Settings())
	}
	return info
}

// phases are the parts of the run as they were. A run that was interrupted in
// its warm-up has a measured window without length, before zero.
func (r *run) phases() []result.Phase {
	zero, end := min(0, r.axis.End()), r.axis.End()
	return []result.Phase{
		{Name: "warm-up", StartNs: r.startedNs, EndNs: zero},
		{Name: "measure", StartNs: zero, EndNs: end},
		{Name: "drain", StartNs: end, EndNs: max(r.finishedNs, end)},
	}
}

func settings(all []driver.Setting) []result.Setting {
	out := make([]result.Setting, len(all))
	for i, s := range all {
		out[i] = result.Setting{Name: s.Name, Value: s.Value}
	}
	return out
}

// window is the length of the measured window in seconds.
func (r *run) window() float64 { return time.Duration(max(0, r.axis.End())).Seconds() }

// perS divides by the measured window, which an interrupt can leave empty.
func (r *run) perS(n int64) float64 {
	if r.axis.End() <= 0 {
		return 0
	}
	return float64(n) / r.window()
}

func (r *run) load(s load.Sent, ackedInWindow int64) result.Load {
	l := result.Load{
		ClosedLoop: r.arrivals == nil, OfferedPerS: r.perS(s.Scheduled),
		Scheduled: s.Scheduled, Admitted: s.Admitted, Deferred: s.Deferred(), Shed: s.Shed(),
		Acked: s.Acked, Failed: s.Failed, Unknown: s.Unknown,
		AckedPerS: r.perS(ackedInWindow), Bytes: s.AckedBytes,
		Errors: r.producers.Errors(true),
	}
	if s.Shed() > 0 {
		l.ShedByReason = result.Counts{"gate": s.ShedByGate, "queue_full": s.ShedByQueue}
	}
	if r.atStart.wireOK && r.atEnd.wireOK {
		written := r.atEnd.wire.Sub(r.atStart.wire).WrittenBytes
		l.WireBytes = &written
	}
	return l
}

// warmupLoad is the warm-up's side of the books; its rates are over its own
// length.
func (r *run) warmupLoad(s load.Sent) result.Load {
	l := result.Load{
		ClosedLoop: r.arrivals == nil,
		Scheduled:  s.Scheduled, Admitted: s.Admitted, Deferred: s.Deferred(), Shed: s.Shed(),
		Acked: s.Acked, Failed: s.Failed, Unknown: s.Unknown, Bytes: s.AckedBytes,
		Errors: r.producers.Errors(false),
	}
	if warmup := time.Duration(min(0, r.axis.End()) - r.startedNs).Seconds(); warmup > 0 {
		l.OfferedPerS = float64(s.Scheduled) / warmup
	}
	return l
}

func (r *run) delivery(b ledger.Book, s load.Sent) result.Delivery {
	if r.group == nil {
		return result.Delivery{}
	}
	inWindow := r.group.Received().DeliveredInWindow
	if !r.stamped {
		// Without stamps a record's phase is unknown: all that is known is how
		// many were handed over in the window.
		return result.Delivery{Delivered: inWindow, DeliveredPerS: r.perS(inWindow)}
	}
	d := result.Delivery{
		Checked: true, Delivered: b.Delivered, Unique: b.Unique, Duplicates: b.Duplicates,
		Lost: b.Lost, Reordered: b.Reordered, LateBeyondWindow: b.LateBeyondWindow, Corrupt: b.Corrupt, CorruptUnplaced: b.CorruptUnplaced, Foreign: b.Foreign,
		Pending: b.Pending, UnackedDelivered: b.UnackedDelivered,
		DeliveredPerS: r.perS(inWindow),
	}
	if s.Scheduled > 0 {
		d.Ratio = float64(b.Unique) / float64(s.Scheduled)
	}
	for _, l := range b.LostRanges {
		d.LostRanges = append(d.LostRanges, result.LostRange{Producer: l.Producer, Partition: l.Partition, From: l.From, To: l.To})
	}
	return d
}

func (r *run) times() map[string]result.Time {
	times := make(map[string]result.Time)
	for m := range latency.Metric(latency.NumMetrics) {
		if d := r.collector.Totals(true, m); d.Count > 0 {
			times[m.String()] = result.Time(d)
		}
	}
	return times
}

func (r *run) lagOutcome() result.Lag {
	l := result.Lag{
		BacklogPeakRecords: r.peaks.backlog, TimeLagPeakNs: r.peaks.timeLag, Drained: r.drained,
		DrainTimeS: time.Duration(max(0, r.finishedNs-r.axis.End())).Seconds(),
	}
	l.PeakRecords = r.lag.highest()
	if lag := r.lag.now(); lag.known && lag.asked >= r.finishedNs {
		l.FinalRecords = &lag.Records
	}
	if r.group != nil && l.DrainTimeS > 0 {
		l.DrainPerS = float64(r.group.Received().Delivered-r.atEnd.received.Delivered) / l.DrainTimeS
	}
	return l
}

func (r *run) consumer() result.Consumer {
	if r.group == nil {
		return result.Consumer{}
	}
	a, b := r.atStart.members, r.atEnd.members
	c := result.Consumer{
		Members: r.cfg.Scenario.Consume.Consumers, Workers: r.group.Workers(),
		Polls: b.Polls - a.Polls, EmptyPolls: b.EmptyPolls - a.EmptyPolls,
		Commits: b.Commits - a.Commits, CommitErrors: b.CommitErrors - a.CommitErrors,
		Rebalances: b.Rebalances - a.Rebalances,
	}
	plan := plan(r.cfg.Scenario.Consume)
	if plan.None() || r.axis.End() <= 0 {
		return c
	}
	utilisation := float64(r.group.Received().WorkInWindow) / (float64(c.Workers) * float64(r.axis.End()))
	c.Utilisation = &utilisation
	if mean := plan.Work.Mean(); mean > 0 && len(plan.Changes) == 0 {
		capacity := float64(c.Workers) / mean.Seconds()
		c.CapacityPerS = &capacity
	}
	return c
}

func (r *run) backpressure() *result.Backpressure {
	if r.gate == nil {
		return nil
	}
	b := r.cfg.Scenario.Backpressure
	stats := r.atEnd.gate.Sub(r.atStart.gate)
	return &result.Backpressure{
		Controller: b.Controller, Excess: b.Excess, MaxLag: b.MaxLag, ResumeLag: b.ResumeLag,
		PollNs:    int64(b.Poll),
		Decisions: stats.Changes, ClosedS: stats.Closed.Seconds(), SignalAgeMaxNs: max(int64(stats.MaxAge), r.lag.oldestSignal()),
		DeferredPeakRecords: r.producers.DeferredPeak(),
	}
}
