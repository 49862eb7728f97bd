package bench

import (
	"time"

	"kafkabench.example/kafka-bench/internal/measure/latency"
	"kafkabench.example/kafka-bench/internal/measure/snapshot"
	"kafkabench.example/kafka-bench/internal/result"
	"kafkabench.example/kafka-bench/internal/run/judge"
	"kafkabench.example/kafka-bench/internal/run/remote"
)

// counters are what an interval takes differences of, and how the run stood meanwhile.
type counters struct {
	at       int64 // the interval's end by name
	began    int64 // when the reading began
	span     int64 // how long it took, until usedAt
	reached  [][]snapshot.Reached
	sent     snapshot.Sent // of both phases
	received snapshot.Received
	behind   snapshot.Behind
	gate     *snapshot.Gate
	behindAt int64
	recorded latency.Interval // valid until the next reading
	queue    queueReading
	usedAt   int64
	self     snapshot.Usage // of all processes
	brokers  []brokerUsage
}

// sampleIntervals closes an interval at each multiple of the period on the
// run's axis, beginning with what was counted before anything was offered.
func (r *run) sampleIntervals(period time.Duration, before counters) {
	for {
		next := multipleAfter(before.at, int64(period))
		stopped := r.waitForInterval(next)
		// A sampler that was held up closes one longer interval, and not
		// several of which only the first has anything in it.
		at := max(next, multipleAfter(r.axis.Now(), int64(period))-int64(period))
		if stopped {
			at = max(r.axis.Now(), before.at+1)
		}
		after := r.count(at)
		r.closeInterval(before, after)
		if stopped {
			return
		}
		before = after
	}
}

// multipleAfter is the lowest multiple of the period above at, which may be
// negative.
func multipleAfter(at, period int64) int64 {
	multiple := at / period * period // rounded towards zero
	if multiple > at {
		return multiple
	}
	return multiple + period
}

func (r *run) waitForInterval(at int64) (stopped bool) {
	timer := time.NewTimer(time.Duration(at - r.axis.Now()))
	defer timer.Stop()
	select {
	case <-timer.C:
		return false
	case <-r.stop:
		return true
	}
}

// count reads all that counts up. What is of records comes first, and one after the other:
// what arrived before what was sent, so that no record seems to arrive before it is behind.
// Nothing else stands between those readings: to look into /proc takes its time.
func (r *run) count(at int64) counters {
	c := counters{at: at, began: r.axis.Now()}
	standings := r.groups.stand(remote.Want{Times: true, Books: true})
	c.reached, c.received = standings.reached(), standings.received()
	want := remote.Want{Times: true}
	if len(c.reached) > 0 {
		// The lanes are asked in any case: asking is what makes them forget.
		want.Awaited = allAwaited(c.reached)
	}
	sent := r.producers.Snapshot(want)
	c.sent, c.behind, c.gate = sent.Sent[0], sent.Behind, sent.Gate
	c.sent.Add(sent.Sent[1])
	c.behindAt = r.axis.Now()
	c.recorded = r.collector.Collect()
	c.queue = r.readQueue(standings)
	c.usedAt = r.axis.Now()
	c.span = c.usedAt - c.began
	usages, _, died := used(r.processes(), remote.Want{Usage: true})
	c.self = r.usage(usages...)
	if died != nil {
		r.journal.once("warning", "what a process used is only known as far as it told", died)
	}
	c.brokers = r.brokerUsage()
	return c
}

// closeInterval writes the interval between two counts, everywhere.
func (r *run) closeInterval(before, after counters) {
	iv := differences(before, after)
	iv.Phase = r.phaseAt(before.at)
	r.addQueue(&iv, before, after)
	behind, oldestDue := r.addLag(&iv, after)
	if after.gate != nil {
		iv.GateOpen, iv.BoundRecords = &after.gate.Open, after.gate.Bound
	}
	iv.Late = r.late()
	r.peaks.take(iv, after, behind)
	if len(behind) > 0 && iv.EndNs >= 0 && iv.EndNs <= r.axis.End() && !r.endless() {
		r.growth.add(time.Duration(iv.ReadToNs).Seconds(), float64(iv.BacklogRecords))
	}
	if r.replicas != nil {
		r.tally(iv, oldestDue)
	}
	r.journal.interval(iv, after.recorded)
}

// differences are what the counts say of the interval between them.
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
	addUsage(&iv, before, after)
	return iv
}

func intervalTimes(recorded latency.Interval) map[string]result.IntervalTime {
	times := make(map[string]result.IntervalTime)
	for m := range latency.Metric(latency.NumMetrics) {
		if s := recorded.Summary(m); s.Count > 0 {
			times[m.String()] = result.IntervalTime(s)
		}
	}
	return times
}

func (r *run) phaseAt(ns int64) string {
	switch {
	case ns < 0:
		return "warm-up"
	case ns < r.axis.End():
		return "measure"
	default:
		return "drain"
	}
}

// addUsage fills in what the processes used in the interval.
func addUsage(iv *result.Interval, before, after counters) {
	length := float64(after.usedAt - before.usedAt)
	if after.self.RSS > 0 {
		cores := float64(after.self.CPU()-before.self.CPU()) / length
		iv.ProcessCPUCores, iv.ProcessRSSBytes = &cores, &after.self.RSS
	}
	for i, b := range after.brokers {
		if i < len(before.brokers) && before.brokers[i].pid == b.pid {
			iv.BrokerCPUCores = append(iv.BrokerCPUCores, float64(b.CPU()-before.brokers[i].CPU())/length)
		}
	}
}

// addLag fills in the three measures of being behind, those of the slowest group, and
// returns how far each group is behind, and when the oldest record was due whose user has
// no answer.
func (r *run) addLag(iv *result.Interval, c counters) (behind []snapshot.Backlog, oldestDue int64) {
	if len(r.groups) == 0 {
		return nil, snapshot.NothingDue
	}
	if r.there != nil {
		behind = snapshot.Unread(c.reached, r.there)
	} else {
		behind = snapshot.Backlogs(c.reached, r.withFill(c.behind.AckedIn))
	}
	if !r.endless() {
		lead := behind[snapshot.Slowest(behind)]
		iv.BacklogRecords, iv.BacklogPartition = lead.Records, lead.Partitions
	}
	oldestDue = snapshot.NothingDue
	if r.stamped && !r.readOnly() {
		var open int64
		open, oldestDue = undelivered(c.behind, c.reached[0])
		iv.UndeliveredRecords = &open
		if open > 0 {
			iv.TimeLagNs = max(1, c.behindAt-oldestDue)
		}
	}
	iv.LagSamples = r.lag.takeFresh()
	if lag := r.lag.now(); lag.known {
		iv.LagRecords, iv.LagSampledNs, iv.LagPartitions = &lag.Records, &lag.asked, lag.Partitions
	}
	return behind, oldestDue
}

// undelivered counts the records whose users have no answer, and tells when the oldest of
// them was due.
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

// peaks are the highest values that the intervals have seen since the start of
// the measured window.
type peaks struct {
	backlog, timeLag int64
	backlogs         []int64 // by group
	rss              int64
	brokerRSS        map[int32]int64
}

// tally keeps an interval of the measured window, for what faults did.
func (r *run) tally(iv result.Interval, oldestDueNs int64) {
	if iv.StartNs >= 0 {
		r.tallies = append(r.tallies, judge.Tally{
			StartNs: iv.StartNs, EndNs: iv.EndNs, Seconds: iv.Seconds(), Scheduled: iv.Scheduled, Acked: iv.Acked,
			Delivered: iv.Delivered - iv.Duplicates, OldestDueNs: oldestDueNs,
		})
	}
}

// take takes an interval in, with what the processes used and how far the groups
// were behind at its end.
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
	p.rss = max(p.rss, after.self.RSS)
	if p.brokerRSS == nil {
		p.brokerRSS = make(map[int32]int64)
	}
	for _, b := range after.brokers {
		p.brokerRSS[b.id] = max(p.brokerRSS[b.id], b.RSS)
	}
}
