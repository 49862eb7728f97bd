package foreign

import (
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

func (f *sspFile) processSeries(d *draft) {
	next, before := 0, int64(0)
	for n := range d.Intervals {
		i := &d.Intervals[n]
		for ; next < len(f.Process) && f.onAxis(f.Process[next].ElapsedS) <= i.EndNs; next++ {
			i.GCCycles += max(f.Process[next].GCCycles-before, 0)
			before = f.Process[next].GCCycles
		}
	}
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
	all, before := f.Process[len(f.Process)-1].GCCycles, int64(0)
	for _, s := range f.Process {
		if f.onAxis(s.ElapsedS) <= sampledLate {
			before = s.GCCycles
		}
	}
	d.Run.Process.GCCycles = max(all-before, 0)
	d.tells("process.gc_cycles")
	d.warn("its count of garbage collections, %s, includes the warm-up; the %s of the last sample before the measured window are taken off",
		thousands(all), thousands(before))
}
