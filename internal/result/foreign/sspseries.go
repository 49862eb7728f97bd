package foreign

import (
	"slices"
	"strconv"
	"time"

	"kafkabench.example/kafka-bench/internal/result"
)

// The time after the last point gets the rest of the totals. The warm-up is one interval with only
// lag samples.
func (f *sspFile) series(d *draft) {
	d.tells("intervals.start_ns", "intervals.end_ns", "intervals.acked", "intervals.delivered", "intervals.gc_cycles",
		"intervals.time.count", "intervals.time.p50_ns", "intervals.time.p99_ns")
	if f.Config.WarmupS > 0 {
		d.Intervals = append(d.Intervals, result.Interval{StartNs: -nanos(f.Config.WarmupS, 1e9), Phase: "warm-up"})
	}
	left := result.Interval{Acked: f.Final.Sent, Delivered: f.Final.Received}
	var fromS float64
	for _, p := range f.Timeline {
		lengthS := p.ElapsedS - fromS
		i := result.Interval{
			StartNs: nanos(fromS, 1e9), EndNs: nanos(p.ElapsedS, 1e9), Phase: "measure",
			Acked: count(p.SentPerS * lengthS), Delivered: count(p.RecvPerS * lengthS),
			Time: map[string]result.IntervalTime{},
		}
		addTime(&i, "send_service_time", i.Acked, p.AckP50, p.AckP99)
		addTime(&i, "e2e_service_time", i.Delivered, p.E2EP50, p.E2EP99)
		d.Intervals = append(d.Intervals, i)
		left.Acked, left.Delivered, fromS = left.Acked-i.Acked, left.Delivered-i.Delivered, p.ElapsedS
	}
	if f.Final.ElapsedS > fromS {
		d.Intervals = append(d.Intervals, result.Interval{
			StartNs: nanos(fromS, 1e9), EndNs: nanos(f.Final.ElapsedS, 1e9), Phase: "measure",
			Acked: max(left.Acked, 0), Delivered: max(left.Delivered, 0),
		})
	}
	f.lagSeries(d)
	f.processSeries(d)
}

// p50 and p99 are in milliseconds.
func addTime(i *result.Interval, metric string, n int64, p50, p99 float64) {
	if n > 0 {
		i.Time[metric] = result.IntervalTime{Count: n, P50Ns: nanos(p50, 1e6), P99Ns: nanos(p99, 1e6)}
	}
}

// elapsedS counts from before the warm-up.
func (f *sspFile) onAxis(elapsedS float64) int64 { return nanos(elapsedS-f.Config.WarmupS, 1e9) }

// lagSeries adds each sample to its interval, and the latest one to each interval's end.
func (f *sspFile) lagSeries(d *draft) {
	next := 0
	var latest *result.LagSample
	for n := range d.Intervals {
		i := &d.Intervals[n]
		last := n == len(d.Intervals)-1
		for ; next < len(f.LagTimeline) && (last || f.onAxis(f.LagTimeline[next].ElapsedS) <= i.EndNs); next++ {
			s := f.LagTimeline[next]
			partitions, _ := s.byPartition()
			sample := result.LagSample{AtNs: f.onAxis(s.ElapsedS), Records: s.Total, Partitions: partitions}
			i.LagSamples = append(i.LagSamples, sample)
			latest = &sample
		}
		if latest != nil {
			i.LagRecords, i.LagPartitions, i.LagSampledNs = &latest.Records, latest.Partitions, &latest.AtNs
		}
	}
}

// ok is false unless the partitions are numbered without a gap.
func (s sspLag) byPartition() (lag []int64, ok bool) {
	lag = make([]int64, len(s.Partitions))
	for key, n := range s.Partitions {
		p, err := strconv.Atoi(key)
		if err != nil || p < 0 || p >= len(lag) || strconv.Itoa(p) != key {
			return nil, false
		}
		lag[p] = n
	}
	return lag, true
}

// processSeries adds the latest sample to each interval, with the difference of its counters to the
// sample before.
func (f *sspFile) processSeries(d *draft) {
	next := 0
	var before *sspProcess
	for n := range d.Intervals {
		i := &d.Intervals[n]
		latest := before
		for ; next < len(f.Process) && f.onAxis(f.Process[next].ElapsedS) <= i.EndNs; next++ {
			latest = &f.Process[next]
		}
		if latest == before {
			continue
		}
		process := result.IntervalProcess{Name: "run", HeapBytes: scaled(latest.HeapMB, 1<<20),
			Goroutines: latest.Goroutines}
		var cycles int64
		if before != nil {
			cycles, process.GCPauseNs = before.GCCycles, latest.pausesSince(*before)
		}
		i.GCCycles = max(latest.GCCycles-cycles, 0)
		i.Processes = []result.IntervalProcess{process}
		before = latest
	}
}

// pausesSince is nil if a sample does not have them.
func (p sspProcess) pausesSince(before sspProcess) *int64 {
	if p.GCPauseMs == nil || before.GCPauseMs == nil {
		return nil
	}
	pauses := max(*p.GCPauseMs-*before.GCPauseMs, 0)
	return scaled(&pauses, 1e6)
}

// scaled is nil for nil.
func scaled(v *float64, unit float64) *int64 {
	if v == nil {
		return nil
	}
	n := nanos(*v, unit)
	return &n
}

// sspBounds are the upper bounds of the tool's first buckets in milliseconds. The file does not have
// them; these agree with all percentiles of the published files. The further buckets have no
// verified bounds.
var sspBounds = []float64{0.05, 0.1, 0.25, 0.5, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000, 20_000}

// cdf is nil if the buckets contradict the count, the extremes or a percentile.
func (t sspTimes) cdf(d *draft, metric string) (points []result.CDFPoint) {
	if len(t.CDFBuckets) == 0 {
		return nil
	}
	var n int64
	for i, in := range t.CDFBuckets {
		if n += in; i < len(sspBounds) && in >= 0 {
			points = append(points, result.CDFPoint{AtMostNs: nanos(sspBounds[i], 1e6), Count: n})
		}
	}
	const slack = 2 // records, for the ways to count a percentile
	agrees := len(points) == len(sspBounds) && n == t.Count
	for _, q := range []struct{ part, ms float64 }{
		{0, t.Min}, {0.5, t.P50}, {0.75, t.P75}, {0.9, t.P90}, {0.95, t.P95}, {0.99, t.P99}, {0.995, t.P995},
		{0.999, t.P999}, {0.9999, t.P9999}, {1, t.Max},
	} {
		for _, p := range points {
			rank := q.part * float64(t.Count)
			below := nanos(q.ms, 1e6) <= p.AtMostNs
			agrees = agrees && (!below || float64(p.Count) >= rank-slack) && (below || float64(p.Count) <= rank+slack)
		}
	}
	if !agrees {
		d.warn("the CDF of %s is left out: its buckets do not agree with its percentiles", metric)
		return nil
	}
	last := slices.IndexFunc(points, func(p result.CDFPoint) bool { return p.Count == t.Count })
	if last < 0 {
		return append(points, result.CDFPoint{AtMostNs: nanos(t.Max, 1e6), Count: t.Count})
	}
	return points[:last+1]
}

// The source's own peak includes the warm-up.
func (f *sspFile) lag(d *draft) {
	if len(f.LagTimeline) == 0 {
		return
	}
	var peak *int64
	for _, s := range f.LagTimeline {
		if f.onAxis(s.ElapsedS) >= 0 && (peak == nil || s.Total > *peak) {
			peak = &s.Total
		}
	}
	d.Run.Lag.PeakRecords, d.Run.Lag.FinalRecords = peak, &f.LagSummary.Final
	if peak != nil && *peak < f.LagSummary.Peak {
		d.warn("its peak lag of %s was in the warm-up; that of the measured window is %s",
			thousands(f.LagSummary.Peak), thousands(*peak))
	}
}

// sampledLate is how long after the window's start a sample still counts as taken at the start.
const sampledLate = int64(100 * time.Millisecond)

// The garbage collections are a difference of two samples.
func (f *sspFile) process(d *draft) {
	if len(f.Process) == 0 {
		return
	}
	none := 0.0
	last, before := f.Process[len(f.Process)-1], sspProcess{GCPauseMs: &none}
	for _, s := range f.Process {
		if f.onAxis(s.ElapsedS) <= sampledLate {
			before = s
		}
	}
	d.Run.Process.GCCycles = max(last.GCCycles-before.GCCycles, 0)
	d.Run.Process.GCPauseTotalNs = last.pausesSince(before)
	d.tells("process.gc_cycles")
	d.warn("its count of garbage collections, %s, includes the warm-up; the %s of the last sample before the measured window are taken off",
		thousands(last.GCCycles), thousands(before.GCCycles))
}
