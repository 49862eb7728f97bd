package bench

import (
	"context"
	"time"

	"kafka-bench/internal/latency"
	"kafka-bench/internal/load"
	"kafka-bench/internal/probe"
	"kafka-bench/internal/result"
)

// lagTimeout bounds one reading of the lag, so that a broker that does not
// answer leaves a gap in the series and does not end it.
const lagTimeout = 5 * time.Second

// lagSeries is what the lag readings came to.
type lagSeries struct {
	latest    probe.Lag
	asked     int64 // when the latest reading was asked for
	known     bool
	peak      int64 // since the start of the measured window
	peakKnown bool
}

// peaks are the highest values that the intervals have seen since the start of
// the measured window.
type peaks struct {
	backlog, timeLag int64
	rss              int64
	brokerRSS        map[int32]int64
}

// startSamplers starts what looks at the run from the side.
func (r *run) startSamplers() {
	s := r.cfg.Scenario
	r.samplers.Go(func() { r.sampleIntervals(time.Duration(s.Sampling.Interval)) })
	if r.group == nil {
		return
	}
	r.samplers.Go(func() {
		r.every(time.Duration(s.Sampling.Lag), func(ctx context.Context) { r.sampleLag(ctx, false) })
	})
	if r.gate != nil {
		r.samplers.Go(func() {
			r.every(time.Duration(s.Backpressure.Poll), func(ctx context.Context) { r.sampleLag(ctx, true) })
		})
	}
}

func (r *run) stopSamplers() {
	close(r.stop)
	r.samplers.Wait()
}

// every calls f at a period until the samplers are stopped; f's context ends
// then too.
func (r *run) every(period time.Duration, f func(context.Context)) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	go func() {
		select {
		case <-r.stop:
			cancel()
		case <-ctx.Done():
		}
	}()
	tick := time.NewTicker(period)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			f(ctx)
		case <-r.stop:
			return
		}
	}
}

// sampleLag reads the lag once; control tells that the reading is for the gate.
func (r *run) sampleLag(ctx context.Context, control bool) {
	ctx, cancel := context.WithTimeout(ctx, lagTimeout)
	defer cancel()
	asked := r.axis.Now()
	lag, err := r.lagReader.Read(ctx)
	if err != nil {
		select {
		case <-r.stop: // nobody waits for it any more
		default:
			r.noteOnce("warning", "the lag could not be read", err)
		}
		return
	}
	r.keepLag(lag, asked)
	if !control {
		return
	}
	now := r.axis.Now()
	change := r.gate.Report(time.Duration(now), lag.Records, time.Duration(now-asked))
	if change == nil {
		return
	}
	what := "gate closed"
	if change.Open {
		what = "gate opened"
	}
	r.note(result.Event{AtNs: now, Kind: "backpressure", What: what, Reason: change.Reason,
		Data: map[string]any{"lag_records": change.Lag, "signal_age_ns": int64(change.Age), "open": change.Open}})
}

func (r *run) keepLag(lag probe.Lag, asked int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.lag.known && asked < r.lag.asked {
		return // the two samplers may overtake each other
	}
	r.lag.latest, r.lag.asked, r.lag.known = lag, asked, true
	if asked >= 0 {
		r.lag.peak, r.lag.peakKnown = max(r.lag.peak, lag.Records), true
	}
}

// counters are the running totals from which an interval takes differences.
type counters struct {
	sent     load.Sent // of both phases
	received load.Received
	runtime  probe.Runtime
	self     probe.Usage
	brokers  []brokerUsage
	at       int64
}

// sampleIntervals closes an interval at each multiple of the period on the
// run's axis.
func (r *run) sampleIntervals(period time.Duration) {
	before := r.count(r.startedNs)
	for {
		next := (before.at/int64(period) + 1) * int64(period)
		if before.at < 0 {
			next = -((-before.at - 1) / int64(period)) * int64(period)
		}
		stopped := r.waitForInterval(next)
		at := next
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

func (r *run) count(at int64) counters {
	warmup, measured := r.producers.Sent()
	warmup.Add(measured)
	c := counters{sent: warmup, runtime: probe.ReadRuntime(), brokers: r.brokerUsage(), at: at}
	if r.group != nil {
		c.received = r.group.Received()
	}
	if self, err := probe.Self(); err != nil {
		r.noteOnce("warning", "the tool's own resource usage could not be read", err)
	} else {
		c.self = self
	}
	return c
}

// closeInterval writes the interval between two counts, everywhere.
func (r *run) closeInterval(before, after counters) {
	recorded := r.collector.Collect()
	iv := result.Interval{
		StartNs: before.at, EndNs: after.at, Phase: r.phaseAt(before.at),
		Scheduled:  after.sent.Scheduled - before.sent.Scheduled,
		Admitted:   after.sent.Admitted - before.sent.Admitted,
		Shed:       after.sent.Shed() - before.sent.Shed(),
		Acked:      after.sent.Acked - before.sent.Acked,
		Failed:     after.sent.Failed - before.sent.Failed,
		Unknown:    after.sent.Unknown - before.sent.Unknown,
		Delivered:  after.received.Delivered - before.received.Delivered,
		Duplicates: after.received.Duplicates - before.received.Duplicates,
		Processed:  after.received.Processed - before.received.Processed,

		DeferredRecords: after.sent.Deferred(), InFlightRecords: after.sent.InFlight(),
		GCCycles: after.runtime.GCCycles - before.runtime.GCCycles,
		Time:     intervalTimes(recorded),
	}
	r.addUsage(&iv, before, after)
	r.addLag(&iv)
	if r.gate != nil {
		open := r.gate.Open()
		iv.GateOpen = &open
	}
	r.keepPeaks(iv, after)
	r.logHistograms(recorded, before.at, after.at)
	r.failed(r.writer.Interval(iv))
	if r.cfg.Watch != nil {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.cfg.Watch.Interval(iv)
	}
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
func (r *run) addUsage(iv *result.Interval, before, after counters) {
	length := float64(after.at - before.at)
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

// addLag fills in the three measures of being behind.
func (r *run) addLag(iv *result.Interval) {
	if r.group == nil {
		return
	}
	// Delivered is read before acked: a record counts as backlog a moment too
	// long rather than too short.
	reached := r.group.Reached()
	acked := r.producers.AckedIn(len(reached))
	now := r.axis.Now()
	for p, at := range reached {
		// A record can be delivered before its acknowledgement is settled.
		backlog := max(0, acked[p]-at.Arrived)
		iv.BacklogPartition = append(iv.BacklogPartition, backlog)
		iv.BacklogRecords += backlog
		if backlog == 0 || !r.stamped {
			continue
		}
		if due, behind := r.producers.OldestDue(p, at.Next); behind {
			iv.TimeLagNs = max(iv.TimeLagNs, now-due)
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.lag.known {
		records, asked := r.lag.latest.Records, r.lag.asked
		iv.LagRecords, iv.LagSampledNs, iv.LagPartitions = &records, &asked, r.lag.latest.Partitions
	}
}

func (r *run) keepPeaks(iv result.Interval, after counters) {
	if iv.EndNs <= 0 {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.peaks.backlog = max(r.peaks.backlog, iv.BacklogRecords)
	r.peaks.timeLag = max(r.peaks.timeLag, iv.TimeLagNs)
	r.peaks.rss = max(r.peaks.rss, after.self.RSS)
	if r.peaks.brokerRSS == nil {
		r.peaks.brokerRSS = make(map[int32]int64)
	}
	for _, b := range after.brokers {
		r.peaks.brokerRSS[b.id] = max(r.peaks.brokerRSS[b.id], b.RSS)
	}
}

// logHistograms appends the interval to the histogram log.
func (r *run) logHistograms(recorded latency.Interval, from, to int64) {
	if r.logWriter == nil {
		r.logWriter = latency.NewLogWriter(r.writer.HistogramLog(), r.axis.Wall(0))
	}
	r.failed(r.logWriter.WriteInterval(time.Duration(from), time.Duration(to), recorded))
}
