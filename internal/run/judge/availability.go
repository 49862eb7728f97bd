package judge

import (
	"cmp"
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"

	"kafkabench.example/kafka-bench/internal/measure/latency"
	"kafkabench.example/kafka-bench/internal/measure/snapshot"
	"kafkabench.example/kafka-bench/internal/plan/scenario"
	"kafkabench.example/kafka-bench/internal/result"
)

// Tally holds the counts of one interval of the measured window.
type Tally struct {
	StartNs, EndNs              int64
	Seconds                     float64 // between the readings of the counts
	Scheduled, Acked, Delivered int64
	// OldestDueNs is the due time of the oldest record that had not arrived at the end of the
	// interval; snapshot.NothingDue if none.
	OldestDueNs int64
}

// Replicas describes the replicas of the run's topic in the measured window.
type Replicas struct {
	Under, UnderMin, Leaderless time.Duration // how long any partition lacked a replica in sync, min.insync.replicas, or its leader
	LeaderChanges               int64
	Every                       time.Duration // planned time between two readings
	SparsestNs                  int64         // longest time between two readings; 0 if there was no reading
	// SyncedNs is the last time at which all replicas came back in sync; math.MinInt64 if never.
	SyncedNs  int64
	InSync    bool // at the last reading
	MinInSync int  // the topic's min.insync.replicas; 0 if unknown
}

// availability returns nil if no fault hit a broker. Err says why the times before, during and
// after the faults are unknown.
func (e *Evidence) availability() (_ *result.Availability, err error) {
	shown := e.Seen.Replicas
	if shown == nil {
		return nil, nil
	}
	from, to, known := e.broken()
	if !known {
		return nil, nil
	}
	reaches := func(g snapshot.Gap) bool { return g.FromNs <= to && g.ToNs > from }
	a := &result.Availability{AckGaps: e.ackGaps(reaches), BrokenToEnd: to >= e.EndNs}
	if worst := longest(a.AckGaps); worst != nil {
		a.AckGapMaxNs = worst.ToNs - worst.FromNs
	}
	e.addDeliveryGaps(a, from, to)
	a.AckGapElsewhere = longest(e.ackGaps(func(g snapshot.Gap) bool { return !reaches(g) }))
	if shown.SparsestNs > 0 {
		under, leaderless, changes := shown.Under.Seconds(), shown.Leaderless.Seconds(), shown.LeaderChanges
		a.UnderReplicatedS, a.LeaderlessS, a.LeaderChanges = &under, &leaderless, &changes
		a.LookedEveryNs = max(int64(shown.Every), shown.SparsestNs)
		if shown.MinInSync > 0 {
			underMin := shown.UnderMin.Seconds()
			a.UnderMinISRS = &underMin
		}
	}
	return a, e.addPeriods(a, from, to)
}

func (e *Evidence) ackGaps(counts func(snapshot.Gap) bool) []result.AckGap {
	return worstGaps(e.last().AckGaps, e.EndNs, counts)
}

func anyGap(snapshot.Gap) bool { return true }

func worstGaps(partitions []snapshot.Gaps, end int64, counts func(snapshot.Gap) bool) []result.AckGap {
	all := []result.AckGap{}
	for p, gaps := range partitions {
		worst := result.AckGap{Partition: int32(p)}
		for _, g := range gaps.Within(end) {
			if counts(g) && g.ToNs-g.FromNs > worst.ToNs-worst.FromNs {
				worst.FromNs, worst.ToNs, worst.Open = g.FromNs, g.ToNs, g.ToNs == end
			}
		}
		if worst.ToNs > worst.FromNs {
			all = append(all, worst)
		}
	}
	return all
}

// addDeliveryGaps counts every gap that overlaps the time between the first fault and the recovery.
// The gap lasts until the delivery that ends it, even in the drain: a group that lost its Kafka
// coordinator may receive nothing for some time after all brokers serve again.
func (e *Evidence) addDeliveryGaps(a *result.Availability, from, to int64) {
	counts := func(g snapshot.Gap) bool { return g.FromNs <= to && g.ToNs > from && g.FromNs < e.EndNs }
	groups, known := e.deliveryGaps()
	if !known {
		return
	}
	var all []result.AckGap
	for _, gaps := range groups {
		all = append(all, worstGaps(gaps, max(e.drainedNs(), e.EndNs), counts)...)
	}
	slices.SortStableFunc(all, func(a, b result.AckGap) int {
		return cmp.Or(cmp.Compare(a.Partition, b.Partition), cmp.Compare(b.ToNs-b.FromNs, a.ToNs-a.FromNs))
	})
	all = slices.CompactFunc(all, func(a, b result.AckGap) bool { return a.Partition == b.Partition })
	longestNs := int64(0)
	if worst := longest(all); worst != nil {
		longestNs = worst.ToNs - worst.FromNs
	}
	a.DeliveryGapMaxNs, a.DeliveryGaps = &longestNs, all
}

// After a drain that gave up, waitedInVain adds a gap since the last delivery to partitions in
// which the group is behind.
func waitedInVain(gaps []snapshot.Gaps, behind []int64) []snapshot.Gaps {
	gaps = slices.Clone(gaps)
	for p := range gaps {
		if behind[p] > 0 {
			gaps[p] = gaps[p].Waiting(0)
		}
	}
	return gaps
}

func longest(gaps []result.AckGap) (worst *result.AckGap) {
	for i, g := range gaps {
		if worst == nil || g.ToNs-g.FromNs > worst.ToNs-worst.FromNs {
			worst = &gaps[i]
		}
	}
	return worst
}

// broken returns the period from the first broker fault until all brokers serve and every partition
// is acknowledged and in sync again, at most to the end of the measured window. Known is false if
// no fault hit a broker.
func (e *Evidence) broken() (from, to int64, known bool) {
	end := e.EndNs
	for _, f := range e.Faults.Injected {
		if !HitsBroker(f) || f.StartNs >= end {
			continue
		}
		if !known || f.StartNs < from {
			from = f.StartNs
		}
		to, known = max(to, repaired(f, end)), true
	}
	if !known {
		return 0, 0, false
	}
	to = max(to, e.Seen.Replicas.SyncedNs)
	if !e.Seen.Replicas.InSync {
		to = end
	}
	again := to
	for _, gaps := range e.last().AckGaps {
		for _, g := range gaps.Within(end) {
			if g.FromNs <= to && g.ToNs > from {
				again = max(again, g.ToNs)
			}
		}
	}
	return from, min(again, end), true
}

func repaired(f result.Fault, end int64) int64 {
	switch {
	case f.EndNs != nil:
		return *f.EndNs
	case scenario.Mends(f.Name):
		return f.StartNs
	}
	return end
}

func (e *Evidence) addPeriods(a *result.Availability, from, to int64) error {
	window := slices.DeleteFunc(slices.Clone(e.Seen.Intervals), func(t Tally) bool { return t.StartNs >= e.EndNs })
	first, after := divide(window, from, to)
	parts := [][]Tally{window[:first], window[first:after], window[after:]}
	times, err := timesOf(e.Histograms, parts...)
	if err != nil {
		return err
	}
	a.Before, a.During, a.After = period(parts[0], times[0]), period(parts[1], times[1]), period(parts[2], times[2])
	for _, p := range []*result.Stretch{a.Before, a.During, a.After} {
		if p != nil {
			p.EndNs = min(p.EndNs, e.EndNs)
		}
	}
	return nil
}

// An interval that overlaps the faults is "during", and so is one in which records arrived that
// became due before the end of the faults. Otherwise the backlog of an outage would be in the
// percentiles of the repaired cluster.
func divide(all []Tally, from, to int64) (first, after int) {
	first = slices.IndexFunc(all, func(t Tally) bool { return t.EndNs > from })
	if first < 0 {
		return len(all), len(all)
	}
	for i, t := range all[first:] {
		if t.EndNs >= to && t.OldestDueNs >= to {
			return first, first + i + 1
		}
	}
	return first, len(all)
}

func period(part []Tally, times map[string]result.IntervalTime) *result.Stretch {
	if len(part) == 0 {
		return nil
	}
	p := &result.Stretch{StartNs: part[0].StartNs, EndNs: part[len(part)-1].EndNs, Time: times}
	var length float64
	var acked, delivered int64
	for _, t := range part {
		length += t.Seconds
		acked += t.Acked
		delivered += t.Delivered
		p.Scheduled += t.Scheduled
	}
	p.AckedPerS, p.DeliveredPerS = float64(acked)/length, float64(delivered)/length
	return p
}

// timesOf leaves out the warm-up's records. Measured records that arrived after the window belong
// to the last part: they are the slowest.
func timesOf(log iter.Seq2[latency.LogEntry, error], parts ...[]Tally) ([]map[string]result.IntervalTime, error) {
	sums := make([]map[string]*latency.Histogram, len(parts))
	for i := range sums {
		sums[i] = make(map[string]*latency.Histogram)
	}
	for entry, err := range log {
		if err != nil {
			return nil, err
		}
		in := partAt(int64(entry.Start+entry.End)/2, parts)
		if in < 0 || strings.HasPrefix(entry.Tag, warmupTag) {
			continue
		}
		if sums[in][entry.Tag] == nil {
			sums[in][entry.Tag] = latency.NewHistogram()
		}
		sums[in][entry.Tag].Merge(entry.Histogram)
	}
	times := make([]map[string]result.IntervalTime, len(parts))
	for i, sum := range sums {
		times[i] = make(map[string]result.IntervalTime)
		for metric, h := range sum {
			times[i][metric] = result.IntervalTimeOf(h.Summary())
		}
	}
	return times, nil
}

// partAt returns -1 if all parts are empty.
func partAt(at int64, parts [][]Tally) int {
	in := -1
	for i, part := range parts {
		if len(part) > 0 && (in < 0 || at >= part[0].StartNs) {
			in = i
		}
	}
	return in
}

var warmupTag = strings.TrimSuffix(latency.Tag(false, 0), latency.Tag(true, 0))

// longGap gives a warning in a run without broker faults.
const longGap = time.Second

// A gate holds records back on purpose.
func (v verdict) warningsOfTheAcks() []string {
	if v.Seen.Replicas != nil || v.Scenario.Backpressure.Gates() {
		return nil
	}
	worst := longest(v.ackGaps(anyGap))
	if worst == nil || worst.ToNs-worst.FromNs < int64(longGap) {
		return nil
	}
	length := time.Duration(worst.ToNs - worst.FromNs)
	return []string{fmt.Sprintf("partition %d had no acknowledgement for %.1f s, from %.1f s on, though records waited for one: broker or client stood still",
		worst.Partition, length.Seconds(), time.Duration(worst.FromNs).Seconds())}
}
