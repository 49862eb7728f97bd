package observe

import (
	"fmt"
	"slices"
	"time"

	"kafkabench.example/kafka-bench/internal/load"
	"kafkabench.example/kafka-bench/internal/measure/latency"
	"kafkabench.example/kafka-bench/internal/measure/snapshot"
	"kafkabench.example/kafka-bench/internal/result"
	"kafkabench.example/kafka-bench/internal/run/judge"
	"kafkabench.example/kafka-bench/internal/run/remote"
)

// Intervals divides the run into intervals and keeps the highest values of the measured window.
type Intervals struct {
	Axis      *load.Axis
	Journal   *Journal
	Period    time.Duration
	Producers *remote.Producers
	Groups    remote.Groups
	Collector *latency.Collector
	Lag       *Lag
	Machine   *Machine
	// GroupNames are the names of the groups if there are several; nil for one.
	GroupNames []string
	Sends      bool // the run has producers of its own
	// Replicas reads the topic's replicas; nil if no fault hits a broker.
	Replicas *Replicas
	Queue    bool
	// Backlogs returns the groups' backlogs at these positions; ackedIn is by partition.
	Backlogs func(reached [][]snapshot.Reached, ackedIn []int64) []snapshot.Backlog
	// Endless reports that no backlog exists, because others go on writing.
	Endless bool
	// Due reports that the records are the run's own and have stamps.
	Due bool
	// KeepTallies keeps the intervals of the measured window for AddTo.
	KeepTallies bool
	// HandOver receives the counts at the end of each interval if this process runs a part of a
	// run; nil otherwise. The first call has the counts of Begin and no interval.
	HandOver func(snapshot.Snapshot, *result.Interval)
	// Throttled receives the clients' traffic at the end of each interval; nil is not called.
	Throttled func(sending, fetching snapshot.Traffic)
	// BrokerLog has the usage of the local brokers for Take; nil if there are none.
	BrokerLog *BrokerLog

	before   counters
	taken    bool
	peaks    peaks
	backlogs []backlogAt
	wereLate []string
	tallies  []judge.Tally
}

// backlogAt is the backlog at the end of an interval of the window.
type backlogAt struct{ endNs, readNs, records int64 }

// Begin reads the counts before the load starts; the first interval begins with them, at atNs on
// the axis. Watch does not read them, because its goroutine may begin late.
func (s *Intervals) Begin(atNs int64) {
	s.before = s.count(atNs)
	if s.HandOver != nil {
		s.HandOver(s.before.snapshot(), nil)
	}
}

// Take closes an interval with the counts of all parts of a run, and with the lag that one part
// read. The first call only sets the start of the first interval. The histograms come from the
// collector.
func (s *Intervals) Take(all snapshot.Snapshot, seen *result.Interval) {
	after := counters{
		at: all.EndNs, began: all.FromNs, span: all.ToNs - all.FromNs, behindAt: all.ToNs, usedAt: all.ToNs,
		groups: all.Groups, sending: all, recorded: s.Collector.Collect(),
	}
	after.fill()
	if all.Usage != nil {
		after.self = *all.Usage
	}
	after.brokersAt = s.BrokerLog.near(all.EndNs)
	if s.taken {
		s.close(s.before, after, seen)
	}
	s.before, s.taken = after, true
}

// Watch closes an interval at each multiple of the period on the axis, until the observer stops.
func (s *Intervals) Watch(o *Observer) {
	period := int64(s.Period)
	for {
		next := multipleAfter(s.before.at, period)
		stopped := o.WaitUntil(next)
		// A delayed sampler closes one longer interval, because only the first of several would
		// have counts.
		at := max(next, multipleAfter(s.Axis.Now(), period)-period)
		if stopped {
			at = max(s.Axis.Now(), s.before.at+1)
		}
		after := s.count(at)
		s.close(s.before, after, nil)
		if stopped {
			return
		}
		s.before = after
	}
}

// AddTo adds the values of the measured window to seen. Call it after the observer has stopped.
func (s *Intervals) AddTo(seen *judge.Seen) {
	seen.BacklogPeak, seen.TimeLagPeakNs, seen.BacklogPeaks = s.peaks.backlog, s.peaks.timeLag, s.peaks.backlogs
	seen.Intervals = s.tallies
	var g growth
	for _, b := range s.backlogs {
		if b.endNs <= s.Axis.End() { // a run of a fixed number of records moves the end when it is past
			g.add(time.Duration(b.readNs).Seconds(), float64(b.records))
		}
	}
	if slope, standardError, known := g.slope(); known {
		seen.GrowthPerS, seen.GrowthErrorPerS, seen.GrowthReadings = &slope, &standardError, int(g.n)
	}
}

// Peaks returns the highest usage of the processes.
func (s *Intervals) Peaks() Peaks { return s.peaks.used }

// InFlightPeak returns the most records that a queue had in flight at the end of an interval.
func (s *Intervals) InFlightPeak() int64 { return s.peaks.inFlight }

func (s *Intervals) processes() remote.Children {
	return slices.Concat(s.Machine.Senders, s.Groups.Processes())
}

type counters struct {
	at       int64 // nominal end of the interval
	began    int64
	span     int64 // how long the reading took, until usedAt
	reached  [][]snapshot.Reached
	sending  snapshot.Snapshot
	sent     snapshot.Sent
	groups   remote.Standings
	received snapshot.Received
	behind   snapshot.Behind
	gate     *snapshot.Gate
	behindAt int64
	recorded latency.Interval // valid until the next reading
	usedAt   int64
	self     snapshot.Usage
	each     []processUsage
	brokersAt
	host hostReading
}

func multipleAfter(at, period int64) int64 {
	multiple := at / period * period
	if multiple > at {
		return multiple
	}
	return multiple + period
}

// count reads deliveries before acks, so that no record appears delivered before it was sent, and
// /proc last, because that takes long.
func (s *Intervals) count(at int64) counters {
	c := counters{at: at, began: s.Axis.Now()}
	standings := s.Groups.Stand(remote.Want{Times: true, Books: true})
	c.groups = standings
	want := remote.Want{Times: true}
	if len(standings) > 0 {
		// Ask even if no record is awaited: the request makes producers forget records that have
		// arrived.
		want.Awaited = standings.Awaited()
	}
	c.sending = s.Producers.Snapshot(want)
	c.fill()
	c.behindAt = s.Axis.Now()
	c.recorded = s.Collector.Collect()
	c.usedAt = s.Axis.Now()
	c.span = c.usedAt - c.began
	var died error
	c.self, c.each, died = s.Machine.usageOfEach(s.processes())
	if died != nil {
		s.Journal.Once("warning", "the usage of a process is only known up to its last report", died)
	}
	c.brokersAt, c.host = brokersAt{c.usedAt, s.Machine.readBrokers()}, s.Machine.readHost()
	return c
}

func (c *counters) fill() {
	c.reached, c.received = c.groups.Reached(), c.groups.Received()
	c.sent, c.behind, c.gate = c.sending.Sent[0], c.sending.Behind, c.sending.Gate
	c.sent.Add(c.sending.Sent[1])
}

// snapshot returns the counts without the books, which are sent once at the end.
func (c counters) snapshot() snapshot.Snapshot {
	s := c.sending
	s.FromNs, s.ToNs, s.EndNs = c.began, c.behindAt, c.at
	s.Groups = slices.Clone(c.groups)
	for i := range s.Groups {
		g := &s.Groups[i]
		g.Books, g.Reached = nil, slices.Clone(g.Reached)
		g.Queue = g.Queue.WithoutBooks()
		for p := range g.Reached {
			g.Reached[p].Awaited = nil
		}
	}
	s.Usage, s.Times = &c.self, c.recorded.Encode()
	return s
}

// seen is the lag that a part of the run read; nil if this process reads it.
func (s *Intervals) close(before, after counters, seen *result.Interval) {
	iv := differences(before, after)
	iv.Phase = s.phaseAt(before.at)
	s.addPartitions(&iv, before, after)
	if s.Queue {
		now := after.groups[0].Queue
		addQueue(&iv, before.groups[0].Queue, now, after.usedAt)
		s.peaks.inFlight = max(s.peaks.inFlight, now.Counts.InFlight)
	}
	behind, oldestDue := s.addBehind(&iv, after)
	if seen != nil {
		iv.LagSamples, iv.LagRecords, iv.LagSampledNs, iv.LagPartitions =
			seen.LagSamples, seen.LagRecords, seen.LagSampledNs, seen.LagPartitions
	} else {
		s.addLag(&iv)
	}
	s.addGroups(&iv, before, after, behind)
	if s.Replicas != nil {
		iv.UnderReplicated, iv.Leaderless = s.Replicas.lacking(iv.StartNs, iv.EndNs)
	}
	if after.gate != nil {
		iv.GateOpen, iv.BoundRecords = &after.gate.Open, after.gate.Bound
	}
	iv.Late = s.late()
	s.peaks.take(iv, after, behind)
	if iv.StartNs >= 0 && iv.EndNs <= s.Axis.End() {
		s.peaks.used.takeCores(iv)
	}
	if len(behind) > 0 && iv.EndNs >= 0 && iv.EndNs <= s.Axis.End() && !s.Endless {
		s.backlogs = append(s.backlogs, backlogAt{iv.EndNs, iv.ReadToNs, iv.BacklogRecords})
	}
	if s.KeepTallies && iv.StartNs >= 0 {
		s.tallies = append(s.tallies, judge.Tally{
			StartNs: iv.StartNs, EndNs: iv.EndNs, Seconds: iv.Seconds(), Scheduled: iv.Scheduled, Acked: iv.Acked,
			Delivered: iv.Delivered - iv.Duplicates, OldestDueNs: oldestDue,
		})
	}
	s.addThrottled(&iv, before, after)
	s.Journal.Interval(iv, after.recorded)
	if s.HandOver != nil {
		s.HandOver(after.snapshot(), &iv)
	}
}

func (s *Intervals) addThrottled(iv *result.Interval, before, after counters) {
	sending, fetching := after.traffic()
	if s.Throttled != nil {
		s.Throttled(sending, fetching)
	}
	sent, fetched := before.traffic()
	if held := int64(sending.Sub(sent).Produce.Throttled + fetching.Sub(fetched).Fetch.Throttled); held > 0 {
		iv.ThrottledNs = held
	}
}

func (c counters) traffic() (sending, fetching snapshot.Traffic) {
	for _, g := range c.groups {
		fetching = fetching.Add(g.Traffic)
	}
	return c.sending.Traffic, fetching
}

// late reports once the start, and once the end, of each period in which a process has no new
// figures.
func (s *Intervals) late() (names []string) {
	for _, p := range s.processes() {
		name := fmt.Sprintf("%s (pid %d)", p.Name(), p.PID())
		was := slices.Contains(s.wereLate, name)
		switch is := p.Late(); {
		case is:
			names = append(names, name)
			if !was {
				s.Journal.Now("warning", name+" does not answer", "its figures are those of its last report")
			}
		case was && p.Err() == nil: // an ended process is reported elsewhere
			s.Journal.Now("process", name+" answers again", "")
		}
	}
	s.wereLate = names
	return names
}

func differences(before, after counters) result.Interval {
	iv := result.Interval{
		StartNs: before.at, EndNs: after.at,
		ReadFromNs: before.began, ReadToNs: after.began, ReadSpanNs: after.span,
		Scheduled:  after.sent.Scheduled - before.sent.Scheduled,
		Admitted:   after.sent.Admitted - before.sent.Admitted,
		Shed:       after.sent.Shed() - before.sent.Shed(),
		Acked:      after.sent.Acked - before.sent.Acked,
		Failed:     after.sent.Failed - before.sent.Failed,
		Unknown:    after.sent.Unknown - before.sent.Unknown,
		Delivered:  after.received.Delivered - before.received.Delivered,
		Duplicates: after.received.Duplicates() - before.received.Duplicates(),
		Processed:  after.received.Processed - before.received.Processed,

		DeferredRecords: after.sent.Deferred(), InFlightRecords: after.sent.InFlight(),
		GCCycles: after.self.GCCycles - before.self.GCCycles,
		Time:     intervalTimes(after.recorded),
	}
	ackedBytes, handed := after.sent.AckedBytes-before.sent.AckedBytes, after.received.Handed-before.received.Handed
	iv.AckedBytes, iv.DeliveredBytes = &ackedBytes, &handed
	addUsage(&iv, before, after)
	return iv
}

func intervalTimes(recorded latency.Interval) map[string]result.IntervalTime {
	times := make(map[string]result.IntervalTime)
	for m := range latency.Metric(latency.NumMetrics) {
		if s := recorded.Summary(m); s.Count > 0 {
			times[m.String()] = result.IntervalTimeOf(s)
		}
	}
	return times
}

func (s *Intervals) phaseAt(ns int64) string {
	switch {
	case ns < 0:
		return "warm-up"
	case ns < s.Axis.End():
		return "measure"
	default:
		return "drain"
	}
}

// leastForCPU is the shortest interval with CPU figures, because /proc counts in ticks of 10 ms.
const leastForCPU = 100 * time.Millisecond

// Late readings may be closer together than the interval's ends, so half the time between readings
// is enough.
func cpuKnown(before, after counters) bool {
	return after.at-before.at >= int64(leastForCPU) && after.usedAt-before.usedAt >= int64(leastForCPU/2)
}

func addUsage(iv *result.Interval, before, after counters) {
	timed := cpuKnown(before, after)
	length := float64(after.usedAt - before.usedAt)
	if after.self.RSS > 0 {
		iv.ProcessRSSBytes = &after.self.RSS
		if timed {
			cores := float64(after.self.CPU()-before.self.CPU()) / length
			iv.ProcessCPUCores = &cores
		}
	}
	iv.Processes = processesBetween(before.each, after.each)
	iv.Brokers = brokersIn(before.brokersAt, after.brokersAt)
	if !timed {
		for i := range iv.Brokers {
			iv.Brokers[i].CPUCores = nil
		}
		after.host.hostOK = false
	}
	for _, b := range iv.Brokers {
		if b.CPUCores != nil {
			iv.BrokerCPUCores = append(iv.BrokerCPUCores, *b.CPUCores)
		}
	}
	iv.Host = hostBetween(before.host, after.host)
}

func (s *Intervals) addPartitions(iv *result.Interval, before, after counters) {
	if acked := after.behind.AckedIn; s.Sends && len(acked) <= result.MaxPartitions {
		iv.AckedPartition = slices.Clone(acked)
		for p, n := range before.behind.AckedIn {
			iv.AckedPartition[p] -= n
		}
	}
	if len(after.reached) == 0 || len(after.reached[0]) > result.MaxPartitions {
		return
	}
	iv.DeliveredPartition = make([]int64, len(after.reached[0]))
	for g, reached := range after.reached {
		for p := range reached {
			iv.DeliveredPartition[p] += reached[p].Delivered - before.reached[g][p].Delivered
		}
	}
}

func addQueue(iv *result.Interval, before, after *snapshot.Queue, nowNs int64) {
	acked := after.Total.Acked - before.Total.Acked
	again := after.Total.Redelivered - before.Total.Redelivered
	dead := after.Dead() - before.Dead()
	iv.AckedByQueue, iv.Redelivered, iv.DeadLettered = &acked, &again, &dead
	iv.QueueInFlight = &after.Counts.InFlight
	if oldest := after.OldestUnackedNs; oldest != nil {
		var age int64
		if *oldest != snapshot.NothingDue {
			age = max(1, nowNs-*oldest)
		}
		iv.QueueOldestUnackedNs = &age
	}
}

func (s *Intervals) addGroups(iv *result.Interval, before, after counters, behind []snapshot.Backlog) {
	var lag lagReading
	if s.Lag != nil {
		lag = s.Lag.now()
	}
	for g, name := range s.GroupNames {
		of := result.IntervalGroup{
			Name: name, Delivered: after.groups[g].Received.Delivered - before.groups[g].Received.Delivered,
		}
		if lag.known {
			of.LagRecords = &lag.groups[g].Records
		}
		if !s.Endless {
			of.BacklogRecords = &behind[g].Records
		}
		iv.Groups = append(iv.Groups, of)
	}
}

func (s *Intervals) addLag(iv *result.Interval) {
	if len(s.Groups) == 0 {
		return
	}
	iv.LagSamples = s.Lag.takeFresh()
	if lag := s.Lag.now(); lag.known {
		iv.LagRecords, iv.LagSampledNs, iv.LagPartitions = &lag.Records, &lag.asked, lag.Partitions
	}
}

func (s *Intervals) addBehind(iv *result.Interval, c counters) (behind []snapshot.Backlog, oldestDue int64) {
	if len(c.groups) == 0 {
		return nil, snapshot.NothingDue
	}
	behind = s.Backlogs(c.reached, c.behind.AckedIn)
	if !s.Endless {
		lead := behind[snapshot.Slowest(behind)]
		iv.BacklogRecords, iv.BacklogPartition = lead.Records, lead.Partitions
	}
	oldestDue = snapshot.NothingDue
	if s.Due {
		var open int64
		open, oldestDue = undelivered(c.behind, c.reached[0])
		iv.UndeliveredRecords = &open
		if open > 0 {
			iv.TimeLagNs = max(1, c.behindAt-oldestDue)
		}
	}
	return behind, oldestDue
}

func undelivered(sent snapshot.Behind, reached []snapshot.Reached) (records, oldestDue int64) {
	records, oldestDue = sent.WaitingRecords, snapshot.NothingDue
	if records > 0 {
		oldestDue = sent.WaitingDueNs
	}
	for p, open := range sent.OpenRecords {
		if open -= reached[p].Corrupt; open > 0 {
			records, oldestDue = records+open, min(oldestDue, sent.OldestDueNs[p])
		}
	}
	return records, oldestDue
}

type peaks struct {
	backlog, timeLag int64
	backlogs         []int64
	inFlight         int64
	used             Peaks
}

func (p *Peaks) takeCores(iv result.Interval) {
	if c := iv.ProcessCPUCores; c != nil && (p.ToolCores == nil || *c > *p.ToolCores) {
		p.ToolCores = c
	}
	if p.BrokerCores == nil {
		p.BrokerCores = make(map[int32]float64)
	}
	for _, b := range iv.Brokers {
		if b.CPUCores != nil {
			p.BrokerCores[b.ID] = max(p.BrokerCores[b.ID], *b.CPUCores)
		}
	}
}

func (p *peaks) take(iv result.Interval, after counters, behind []snapshot.Backlog) {
	if iv.EndNs <= 0 {
		return
	}
	if p.backlogs == nil {
		p.backlogs = make([]int64, len(behind))
	}
	for i, b := range behind {
		p.backlogs[i] = max(p.backlogs[i], b.Records)
	}
	p.backlog = max(p.backlog, iv.BacklogRecords)
	p.timeLag = max(p.timeLag, iv.TimeLagNs)
	p.used.Tool = max(p.used.Tool, after.self.RSS)
	if p.used.Brokers == nil {
		p.used.Brokers = make(map[int32]int64)
	}
	for _, b := range after.brokers {
		p.used.Brokers[b.id] = max(p.used.Brokers[b.id], b.RSS)
	}
}
