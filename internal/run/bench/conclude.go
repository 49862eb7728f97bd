package bench

import (
	"fmt"
	"time"

	"kafkabench.example/kafka-bench/internal/kafka/driver"
	"kafkabench.example/kafka-bench/internal/kafka/probe"
	"kafkabench.example/kafka-bench/internal/measure/latency"
	"kafkabench.example/kafka-bench/internal/measure/ledger"
	"kafkabench.example/kafka-bench/internal/measure/snapshot"
	"kafkabench.example/kafka-bench/internal/plan/scenario"
	"kafkabench.example/kafka-bench/internal/result"
	"kafkabench.example/kafka-bench/internal/result/bottleneck"
	"kafkabench.example/kafka-bench/internal/result/outcome"
	"kafkabench.example/kafka-bench/internal/run/remote"
)

// conclude closes the books, judges the run and saves it.
func (r *run) conclude() (*Outcome, error) {
	info := r.info()
	brokers := withMetrics(r.brokers(), r.brokerWatch.metrics()) // before the topic, and with it the data, is gone
	storage := r.storage()
	r.release()
	for _, err := range r.leftBehind {
		r.warnings = append(r.warnings, err.Error())
	}

	books := r.closeBooks()
	sent := r.producers.Snapshot(remote.Want{}).Sent
	warmup, measured := sent[0], sent[1]
	out := result.Run{
		Scenario: r.recorded,
		Run:      info,
		Load:     r.load(measured, warmup.AckedInWindow+measured.AckedInWindow),
		Delivery: r.measuredDeliveries(books, measured.Scheduled),
		Time:     r.times(measured),
		Lag:      r.lagOutcome(),
		Consumer: r.consumer(r.groups, r.atStart.members, r.atEnd.members),
		Warmup: result.Warmup{
			Load:     r.warmupLoad(warmup),
			Delivery: r.deliveries(books, false, warmup.Scheduled+r.fillRead().sent.Scheduled),
		},
		Backpressure: r.backpressure(measured),
		Process:      r.process(warmup.AckedInWindow + measured.AckedInWindow),
		Broker:       brokers,
		Faults:       r.faultsDone(),
		Availability: r.availability(),
		Fill:         r.fillOutcome(),
		Clients:      r.clients(),
		HostUse:      r.hostUse(),
		Storage:      storage,
	}
	out.Groups = r.eachGroup(&out, books)
	out.Compression = r.compression()
	settled := r.settledBooks()
	out.Queue = r.queueOutcome(settled, brokers, out.Time)
	out.Run.NotMeasured = append(out.Run.NotMeasured, unreliable(&out)...)
	out.Verdict = r.judge(&out, books, settled)
	system := outcome.Of(&out)
	out.System = &system
	out.Bottleneck = bottleneck.Find(&out, r.allowed())
	if err := r.writer.Finish(out); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrNotSaved, err)
	}
	out.Run.ID = r.writer.ID()
	return &Outcome{Dir: r.writer.Dir(), Run: out}, nil
}

// closeBooks lays what each group received beside what was sent; without a group,
// nothing.
func (r *run) closeBooks() []ledger.Books {
	sent := r.sentBooks()
	if len(r.groups) == 0 {
		return []ledger.Books{ledger.Close(sent, nil, nil)}
	}
	if r.queue != nil {
		return []ledger.Books{r.ofQueue(ledger.Close(sent, r.queue.group.Receivers(), func(int32) int64 { return -1 }))}
	}
	books := make([]ledger.Books, len(r.groups))
	for i, g := range r.groups {
		books[i] = ledger.Close(sent, g.Receivers(), func(partition int32) int64 { return r.position(i, partition) })
	}
	return books
}

// position is how far a group has come in a partition. Once the log is read to its
// end that is past everything, whatever the acknowledgements said of offsets (at
// acks 0 they say nothing, and after a truncation they are wrong).
func (r *run) position(group int, partition int32) int64 {
	if r.drained {
		return ledger.ReadToEnd
	}
	at := r.atStop[group][partition].Position
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
		Interrupted: r.interrupted, Tool: r.cfg.Tool, MethodVersion: result.Method, Host: result.Host(probe.DescribeHost()),
		Cluster: result.Cluster{
			Kind: c.Kind, ID: c.ID, Version: c.Version, Brokers: c.Brokers, Note: c.Note, Settings: c.Settings,
			WarmedUpS: r.cfg.WarmedUp.Seconds(),
		},
		Driver: result.Driver{
			Name: r.cfg.Driver.Name(), Version: r.cfg.Driver.Version(),
			Producer: settings(r.producers.Settings()),
		},
		Topic:       r.topic.Name,
		NotMeasured: r.notMeasured(),
		Phases:      r.phases(),
	}
	if len(r.groups) > 0 {
		info.Driver.Consumer = settings(r.groups[0].Settings())
	}
	if len(r.groups) == 1 && !r.manual() {
		info.Group = r.groupIDs[0]
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

func (r *run) closedLoop() bool { return r.arrivals == nil && !r.readOnly() }

func (r *run) load(s snapshot.Sent, ackedInWindow int64) result.Load {
	l := result.Load{
		ClosedLoop: r.closedLoop(), OfferedPerS: r.perS(s.Scheduled),
		Scheduled: s.Scheduled, Admitted: s.Admitted, Deferred: s.Deferred(), Shed: s.Shed(),
		Acked: s.Acked, Failed: s.Failed, Unknown: s.Unknown,
		AckedPerS: r.perS(ackedInWindow), Bytes: s.AckedBytes,
		Errors: r.producers.Last().Errors[1], VolumeBoundedBytes: r.volumeBound(),
	}
	if s.Shed() > 0 {
		l.ShedByReason = result.Counts{"gate": s.ShedByGate, "queue_full": s.ShedByQueue}
	}
	if s.ShedByDegrade > 0 {
		l.ShedByReason["degrade"] = s.ShedByDegrade
	}
	if !l.ClosedLoop && !r.readOnly() {
		gap := int64(0)
		if worst := longest(r.ackGaps(func(snapshot.Gap) bool { return true })); worst != nil {
			gap = worst.ToNs - worst.FromNs
		}
		l.AckGapMaxNs = &gap
	}
	if wire := r.atEnd.sending.Sub(r.atStart.sending); wire.Counted {
		written := wire.Wire.WrittenBytes
		l.WireBytes = &written
	}
	return l
}

// warmupLoad is the warm-up's side of the books, with the fill that the consumers
// read; its rates are its own, over its own length.
func (r *run) warmupLoad(s snapshot.Sent) result.Load {
	offered := s.Scheduled
	s.Add(r.fillRead().sent)
	l := result.Load{
		ClosedLoop: r.closedLoop(),
		Scheduled:  s.Scheduled, Admitted: s.Admitted, Deferred: s.Deferred(), Shed: s.Shed(),
		Acked: s.Acked, Failed: s.Failed, Unknown: s.Unknown, Bytes: s.AckedBytes,
		Errors: addedCounts(r.producers.Last().Errors[0], r.fillRead().errors),
	}
	if warmup := time.Duration(min(0, r.axis.End()) - r.startedNs).Seconds(); warmup > 0 {
		l.OfferedPerS = float64(offered) / warmup
	}
	return l
}

// measuredDeliveries are those of the measured window. Where all that there was to read
// is the fill, they are of its records, which are in the warm-up's book.
func (r *run) measuredDeliveries(books []ledger.Books, scheduled int64) result.Delivery {
	if !r.readOnly() || r.fill == nil || !r.stamped {
		return r.deliveries(books, true, scheduled)
	}
	d := r.deliveries(books, false, r.fill.sent.Scheduled)
	d.Bytes = r.groups.received().Bytes
	return d
}

// deliveries are those of all groups together, of one phase.
func (r *run) deliveries(books []ledger.Books, measured bool, scheduled int64) result.Delivery {
	var sum ledger.Book
	for _, b := range books {
		if measured {
			sum = added(sum, b.Measured)
		} else {
			sum = added(sum, b.Warmup)
		}
	}
	d := r.delivery(sum, scheduled*int64(len(books)), r.groups.received())
	if len(r.groups) > 1 {
		d.Copies = len(r.groups)
	}
	if measured {
		d.Pending += r.unread(r.atStop)
	}
	return d
}

// unread is how many records groups have not read of what the topic held, where
// that is all there is to read.
func (r *run) unread(reached [][]snapshot.Reached) (sum int64) {
	if r.there == nil {
		return 0
	}
	for _, b := range r.backlogs(reached) {
		sum += b.records
	}
	return sum
}

// maxLostRanges bounds what is named of the lost records of all groups.
const maxLostRanges = 100

// added adds what another group received to a book, which keeps what was sent.
func added(sum, b ledger.Book) ledger.Book {
	sum.Delivered += b.Delivered
	sum.Unique += b.Unique
	sum.Duplicates += b.Duplicates
	sum.Reordered += b.Reordered
	sum.LateBeyondWindow += b.LateBeyondWindow
	sum.Corrupt += b.Corrupt
	sum.CorruptUnplaced += b.CorruptUnplaced
	sum.Foreign += b.Foreign
	sum.Lost += b.Lost
	sum.Pending += b.Pending
	sum.UnackedDelivered += b.UnackedDelivered
	room := max(0, maxLostRanges-len(sum.LostRanges))
	sum.LostRanges = append(sum.LostRanges, b.LostRanges[:min(room, len(b.LostRanges))]...)
	return sum
}

// delivery is what groups received of the records that were scheduled for them.
func (r *run) delivery(b ledger.Book, scheduled int64, received snapshot.Received) result.Delivery {
	if len(r.groups) == 0 {
		return result.Delivery{}
	}
	deliveredPerS := r.perS(received.UniqueInWindow)
	duplicatesPerS := r.perS(received.DeliveredInWindow - received.UniqueInWindow)
	if !r.stamped {
		// Without stamps a record's phase is unknown: all that is known is how
		// many were handed over in the window.
		return result.Delivery{
			Delivered: received.DeliveredInWindow, DeliveredPerS: deliveredPerS, DuplicatesPerS: &duplicatesPerS, Bytes: received.Bytes,
		}
	}
	d := result.Delivery{
		Checked: true, Delivered: b.Delivered, Unique: b.Unique, Duplicates: b.Duplicates,
		Lost: b.Lost, Reordered: b.Reordered, LateBeyondWindow: b.LateBeyondWindow, Corrupt: b.Corrupt, CorruptUnplaced: b.CorruptUnplaced, Foreign: b.Foreign,
		Pending: b.Pending, UnackedDelivered: b.UnackedDelivered,
		DeliveredPerS: deliveredPerS, DuplicatesPerS: &duplicatesPerS,
	}
	if scheduled > 0 {
		d.Ratio = float64(b.Unique) / float64(scheduled)
	}
	for _, l := range b.LostRanges {
		d.LostRanges = append(d.LostRanges, result.LostRange{Producer: l.Producer, Partition: l.Partition, From: l.From, To: l.To})
	}
	return d
}

func (r *run) times(sent snapshot.Sent) map[string]result.Time {
	times := make(map[string]result.Time)
	for m := range latency.Metric(latency.NumMetrics) {
		if d := r.collector.TotalsAmong(m, r.population(m, sent)); d.Count+d.NotEnded > 0 {
			times[m.String()] = result.Time(d)
		}
	}
	return times
}

// population is the measured records that have a time, or would have it if they had
// been acknowledged, delivered or processed before the run ended. What was shed never
// was a record. Of a response time that did not end it is known that it took at least
// from the window's end to the run's, because none was due later.
func (r *run) population(m latency.Metric, sent snapshot.Sent) latency.Population {
	none := latency.Population{Open: latency.NumMetrics}
	of := none
	of.Records = sent.Scheduled - sent.Shed()
	if m != latency.SendServiceTime && m != latency.E2EServiceTime {
		if r.closedLoop() {
			return none
		}
		of.FloorNs = max(0, r.finishedNs-r.axis.End())
	}
	switch m {
	case latency.SendDelay:
		return of
	case latency.SendServiceTime:
		of.Open = latency.UnackedServiceTime
		return of
	case latency.SendResponseTime:
		of.Open = latency.UnackedResponseTime
		return of
	case latency.ProcessedResponseTime:
		if plan(r.cfg.Scenario.Consume).None() {
			return none
		}
	case latency.E2EServiceTime, latency.E2EResponseTime:
	default:
		return none
	}
	if !r.stamped {
		return none
	}
	of.Records *= int64(len(r.groups)) // each reads everything
	return of
}

func (r *run) lagOutcome() result.Lag {
	l := result.Lag{
		BacklogPeakRecords: r.peaks.backlog, TimeLagPeakNs: r.peaks.timeLag, Drained: r.drained,
		DrainFromNs: r.drainFromNs(), Changes: r.changes,
	}
	settled(l.Changes, r.looks.all, r.axis.End(), time.Duration(r.cfg.Scenario.Backpressure.Target))
	// In the moment before it arrived, a record was as old as its e2e time came to,
	// whether or not anybody looked.
	for _, m := range []latency.Metric{latency.E2EResponseTime, latency.E2EServiceTime} {
		if d := r.collector.Totals(true, m); d.Count > 0 {
			l.TimeLagPeakNs = max(l.TimeLagPeakNs, d.MaxNs)
			break
		}
	}
	if len(r.held) > 0 { // mostly more than at the end of the first interval
		l.BacklogPeakRecords = max(l.BacklogPeakRecords, r.held[slowest(r.held)].records)
	}
	for _, c := range r.changes { // where a backlog ends, and mostly between two intervals
		l.BacklogPeakRecords = max(l.BacklogPeakRecords, c.BacklogRecords)
	}
	l.PeakRecords, l.PeakAtLeastRecords = r.lag.highest(), r.lag.highestAtLeast()
	l.FinalRecords = r.finalLag(r.lag.now())
	if slope, standardError, known := r.growth.slope(); known {
		l.BacklogGrowthPerS, l.BacklogGrowthErrorPerS = &slope, &standardError
	}
	if !r.endless() { // whatever was delivered at the very end is no drain
		l.DrainTimeS = time.Duration(max(0, r.drainedNs()-l.DrainFromNs)).Seconds()
	}
	if l.DrainTimeS > 0 {
		l.DrainPerS = float64(r.lateDeliveries()) / l.DrainTimeS
	}
	l.FinalPartitions = r.finalPartitions()
	return l
}

// finalLag is the lag of a reading that was made once all was delivered; nil if
// there is none.
func (r *run) finalLag(reading lagReading) *int64 {
	if !reading.known || reading.asked < r.finishedNs {
		return nil
	}
	return &reading.Records
}

// drainFromNs is when the drain began: at the window's end, or when consumers that were
// held for the drain were let go.
func (r *run) drainFromNs() int64 {
	if r.letGoNs == 0 { // they were not held, or let go as the window began
		return r.axis.End()
	}
	return max(r.axis.End(), r.letGoNs)
}

// lateDeliveries are the first deliveries of the drain.
func (r *run) lateDeliveries() int64 {
	if r.drained {
		return r.groups.received().UniqueAfter
	}
	return r.lateAtFinish
}

// drainedNs is when the last record was delivered, or when the drain gave up.
func (r *run) drainedNs() int64 {
	if r.drained && len(r.groups) > 0 {
		return max(lastDelivery(r.atStop), r.startedNs) // of a run that was interrupted there may be none
	}
	return r.finishedNs
}

// consumer says how busy groups were between two readings of what their members
// did.
func (r *run) consumer(gs groups, before, after []snapshot.MemberCounts) result.Consumer {
	if len(gs) == 0 {
		return result.Consumer{}
	}
	c := result.Consumer{Members: len(gs) * r.cfg.Scenario.Consume.Consumers}
	r.processesOfTheConsumers(&c)
	var committing time.Duration
	for i, g := range gs {
		a, b := before[i], after[i]
		c.Workers += g.Workers()
		c.Polls += b.Polls - a.Polls
		c.EmptyPolls += b.EmptyPolls - a.EmptyPolls
		c.Commits += b.Commits - a.Commits
		c.CommitErrors += b.CommitErrors - a.CommitErrors
		committing += b.CommitTime - a.CommitTime
		c.Rebalances += b.Rebalances - a.Rebalances
	}
	if c.Commits > 0 {
		mean := committing.Seconds() * 1e3 / float64(c.Commits)
		c.CommitMeanMs = &mean
	}
	plan := plan(r.cfg.Scenario.Consume)
	if plan.None() || r.axis.End() <= 0 {
		return c
	}
	utilisation := float64(gs.received().WorkInWindow) / (float64(c.Workers) * float64(r.axis.End()))
	c.Utilisation = &utilisation
	if mean := plan.Work.Mean(); mean > 0 && len(plan.Changes) == 0 {
		capacity := float64(c.Workers) / mean.Seconds()
		c.CapacityPerS = &capacity
	}
	return c
}

func (r *run) backpressure(sent snapshot.Sent) *result.Backpressure {
	if !r.gated() {
		return nil
	}
	s := r.cfg.Scenario
	b, gate, final := s.Backpressure, r.atEnd.gate.Sub(r.atStart.gate), r.producers.Snapshot(remote.Want{})
	out := &result.Backpressure{
		Controller: b.Controller, Excess: b.Excess, MaxLag: b.MaxLag, ResumeLag: b.ResumeLag,
		TargetNs: int64(b.Target), Signal: b.Signal, Per: b.Per, PollNs: int64(b.Poll),
		Decisions: gate.Changes, ClosedS: gate.Closed.Seconds(), BlindS: gate.Blind.Seconds(), Refused: gate.Refused,
		Shed:           &result.ShedCounts{ByGate: sent.ShedByGate, ByQueue: sent.ShedByQueue, ByDegrade: sent.ShedByDegrade},
		BoundRecords:   boundOf(final),
		PeakLagToBound: peakToBound(b, r.lag.inWindow()), PeakAtLeastToBound: peakToBound(b, r.lag.inWindow().atLeast()),
		SignalAgeMaxNs:      max(int64(gate.MaxAge), r.lag.oldestSignal()),
		DeferredPeakRecords: final.DeferredPeak,
	}
	if s.Load.Processes > 1 {
		out.Processes, out.Share = s.Load.Processes, b.Share
	}
	return out
}

// boundOf is how the bound moved in the measured window; nil where it did not.
func boundOf(s snapshot.Snapshot) *result.Bound {
	if s.Gate == nil {
		return nil
	}
	return (*result.Bound)(s.Gate.InWindow)
}

// peakToBound is the peak of the lag ÷ the bound that a controller was given.
func peakToBound(b scenario.Backpressure, peak *windowPeak) *float64 {
	if peak == nil || b.Controller != "credit" && b.Controller != "hysteresis" {
		return nil
	}
	records := peak.records
	if b.Per == "partition" {
		records = peak.partition
	}
	ratio := float64(records) / float64(b.MaxLag)
	return &ratio
}
