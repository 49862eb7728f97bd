package bench

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"kafkabench.example/kafka-bench/internal/kafka/cluster"
	"kafkabench.example/kafka-bench/internal/measure/latency"
	"kafkabench.example/kafka-bench/internal/measure/snapshot"
	"kafkabench.example/kafka-bench/internal/plan/scenario"
	"kafkabench.example/kafka-bench/internal/result"
)

// What the faults of brokers did to the run's topic: how long no acknowledgement
// came, how long replicas were missing, and how the times were before, during and
// after.

// tallies are the intervals of the measured window, in their order.
type tallies []tally

// tally is what happened in an interval, and when the oldest record was due that had
// not arrived at its end.
type tally struct {
	startNs, endNs                         int64
	seconds                                float64 // that the counts are of
	scheduled, acked, delivered, oldestDue int64
}

func (s *tallies) add(iv result.Interval, oldestDue int64) {
	if iv.StartNs >= 0 {
		*s = append(*s, tally{iv.StartNs, iv.EndNs, iv.Seconds(), iv.Scheduled, iv.Acked, iv.Delivered - iv.Duplicates, oldestDue})
	}
}

// availability is what the faults of brokers did; nil where none befell one.
func (r *run) availability() *result.Availability {
	if r.replicas == nil {
		return nil
	}
	shown, looked := r.replicas.shown()
	from, to, known := r.broken(shown)
	if !known {
		return nil
	}
	reaches := func(g snapshot.Gap) bool { return g.FromNs <= to && g.ToNs > from }
	a := &result.Availability{AckGaps: r.ackGaps(reaches), BrokenToEnd: to >= r.axis.End()}
	if worst := longest(a.AckGaps); worst != nil {
		a.AckGapMaxNs = worst.ToNs - worst.FromNs
	}
	r.addDeliveryGaps(a, from, to)
	a.AckGapElsewhere = longest(r.ackGaps(func(g snapshot.Gap) bool { return !reaches(g) }))
	if looked {
		under, leaderless, changes := shown.under.Seconds(), shown.leaderless.Seconds(), shown.changes
		a.UnderReplicatedS, a.LeaderlessS, a.LeaderChanges = &under, &leaderless, &changes
		a.LookedEveryNs = max(int64(r.replicas.every), shown.sparsest)
		if r.replicas.minInSync > 0 {
			underMin := shown.underMin.Seconds()
			a.UnderMinISRS = &underMin
		}
	}
	r.addStretches(a, from, to)
	return a
}

// ackGaps are the longest time without an acknowledgement in each partition, of those
// that count, and of the partitions that have one.
func (r *run) ackGaps(counts func(snapshot.Gap) bool) []result.AckGap {
	return worstGaps(r.producers.Last().AckGaps, r.axis.End(), counts)
}

// worstGaps are the longest gap in each partition, of those that count until an end, and
// of the partitions that have one.
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

// addDeliveryGaps adds for how long consumers got nothing in the time in which something
// was broken, or in what came of it: a group that lost its coordinator goes on without
// records when every broker serves again. A gap that begins in that time counts, and lasts
// until the delivery that ends it, be it in the drain.
func (r *run) addDeliveryGaps(a *result.Availability, from, to int64) {
	counts := func(g snapshot.Gap) bool { return g.FromNs <= to && g.ToNs > from && g.FromNs < r.axis.End() }
	var all []result.AckGap
	for i, g := range r.groups {
		gaps := g.DeliveryGaps()
		if gaps == nil {
			return
		}
		all = append(all, worstGaps(r.waitedInVain(i, gaps), max(r.drainedNs(), r.axis.End()), counts)...)
	}
	if len(r.groups) == 0 {
		return
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

// waitedInVain is a group's gaps where something was acknowledged by the end of a drain
// that gave up and never handed over: since the last delivery records waited.
func (r *run) waitedInVain(group int, gaps []snapshot.Gaps) []snapshot.Gaps {
	if r.drained || len(r.atStop) <= group {
		return gaps
	}
	behind := r.backlogs(r.atStop)[group].partitions
	gaps = slices.Clone(gaps)
	for p := range gaps {
		if behind[p] > 0 {
			gaps[p] = gaps[p].Waiting(0)
		}
	}
	return gaps
}

// longest is the longest of gaps; nil where there is none.
func longest(gaps []result.AckGap) (worst *result.AckGap) {
	for i, g := range gaps {
		if worst == nil || g.ToNs-g.FromNs > worst.ToNs-worst.FromNs {
			worst = &gaps[i]
		}
	}
	return worst
}

// broken is the time from the first fault of a broker until all brokers served and
// every partition was acknowledged and in sync again, or to the end of the measured
// window; known is false where there was no such fault.
func (r *run) broken(shown replication) (from, to int64, known bool) {
	end := r.axis.End()
	for _, f := range r.faultsDone() {
		if !ofBroker(f) || f.StartNs >= end {
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
	to = max(to, shown.syncedNs)
	if !shown.inSync {
		to = end
	}
	again := to
	for _, gaps := range r.producers.Last().AckGaps {
		for _, g := range gaps.Within(end) {
			if g.FromNs <= to && g.ToNs > from {
				again = max(again, g.ToNs)
			}
		}
	}
	return from, min(again, end), true
}

// repaired is when what a fault broke was there again: by the end, where nobody brought
// it back. The controller may not have missed it by then.
func repaired(f result.Fault, end int64) int64 {
	switch {
	case f.EndNs != nil:
		return *f.EndNs
	case f.Name == scenario.Start || f.Name == scenario.Resume:
		return f.StartNs
	}
	return end
}

// ofBroker tells whether a fault befell a broker.
func ofBroker(f result.Fault) bool { return strings.Contains(f.Target+f.Hit, "broker") }

// addStretches divides the measured window by its intervals.
func (r *run) addStretches(a *result.Availability, from, to int64) {
	window := slices.DeleteFunc(slices.Clone(r.tallies), func(s tally) bool { return s.startNs >= r.axis.End() })
	first, after := window.divide(from, to)
	parts := []tallies{window[:first], window[first:after], window[after:]}
	times, err := timesOf(filepath.Join(r.writer.Dir(), result.HistogramsFile), parts...)
	if err != nil {
		r.warnings = append(r.warnings, "the times before, during and after the faults are not known: "+err.Error())
		return
	}
	a.Before, a.During, a.After = stretch(parts[0], times[0]), stretch(parts[1], times[1]), stretch(parts[2], times[2])
	for _, s := range []*result.Stretch{a.Before, a.During, a.After} {
		if s != nil { // the interval in which a person ended the run goes on into the drain
			s.EndNs = min(s.EndNs, r.axis.End())
		}
	}
}

// divide tells with which interval begins what was during the faults, and with which
// what came after. An interval in which something was broken, be it in part, is during
// the faults, and so are those in which something arrived that had waited for them to
// be over.
func (s tallies) divide(from, to int64) (first, after int) {
	first = slices.IndexFunc(s, func(one tally) bool { return one.endNs > from })
	if first < 0 {
		return len(s), len(s)
	}
	for i, one := range s[first:] {
		if one.endNs >= to && one.oldestDue >= to {
			return first, first + i + 1
		}
	}
	return first, len(s)
}

// stretch sums up intervals; nil where there is none.
func stretch(part tallies, times map[string]result.IntervalTime) *result.Stretch {
	if len(part) == 0 {
		return nil
	}
	s := &result.Stretch{StartNs: part[0].startNs, EndNs: part[len(part)-1].endNs, Time: times}
	var length float64
	var acked, delivered int64
	for _, one := range part {
		length += one.seconds
		acked += one.acked
		delivered += one.delivered
		s.Scheduled += one.scheduled
	}
	s.AckedPerS, s.DeliveredPerS = float64(acked)/length, float64(delivered)/length
	return s
}

// timesOf reads the histograms of the intervals back from the run's log, and adds up
// those of each part: no percentile can be had of the percentiles of intervals. The
// warm-up's records are in no part, and those of the measured window that arrived behind
// it are in the last: they are the slowest, and without them a fault that lasts to the
// end would look the better the worse it was.
func timesOf(path string, parts ...tallies) ([]map[string]result.IntervalTime, error) {
	log, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer log.Close()
	sums := make([]map[string]*latency.Histogram, len(parts))
	for i := range sums {
		sums[i] = make(map[string]*latency.Histogram)
	}
	for entry, err := range latency.ReadLog(log) {
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
			times[i][metric] = result.IntervalTime(h.Summary())
		}
	}
	return times, nil
}

// partAt is the part with the interval at a time: the last that had begun by then, or
// the first; -1 where there are none.
func partAt(at int64, parts []tallies) int {
	in := -1
	for i, part := range parts {
		if len(part) > 0 && (in < 0 || at >= part[0].startNs) {
			in = i
		}
	}
	return in
}

// warmupTag begins the names that the log has for the warm-up's histograms.
var warmupTag = strings.TrimSuffix(latency.Tag(false, 0), latency.Tag(true, 0))

// brokersHit are the brokers that faults befell, each once, as in broker 2.
func (r *run) brokersHit() (all []string) {
	for _, f := range r.faultsDone() {
		who := f.Target
		if f.Hit != "" {
			who = f.Hit
		}
		if ofBroker(f) && !slices.Contains(all, who) {
			all = append(all, who)
		}
	}
	return all
}

// mendTimeout bounds how long brokers may take to be what they were.
const mendTimeout = 90 * time.Second

// mendBrokers has the brokers that were broken on purpose be what they were, for the
// next run of the same cluster. A person who ended the run does not wait for that, and
// has no next run.
func (r *run) mendBrokers() {
	if r.replicas == nil {
		return
	}
	r.replicas.close()
	kafka, own := r.cfg.Cluster.(*cluster.Kafka)
	if !own || r.mended || len(r.brokersHit()) == 0 {
		return
	}
	r.mended = true
	if r.interrupted {
		r.thawBrokers()
		kafka.GiveUp()
		return
	}
	r.journal.progress("waiting until all brokers serve and all replicas are in sync again", nil)
	ctx, cancel := context.WithTimeout(context.Background(), mendTimeout)
	defer cancel()
	if err := kafka.Heal(ctx); err != nil {
		r.leftBehind = append(r.leftBehind, err)
	}
}

// thawBrokers has brokers go on that are paused, where a person ended the run: nobody
// is to wait for those who can't answer.
func (r *run) thawBrokers() {
	if kafka, own := r.cfg.Cluster.(*cluster.Kafka); own && r.replicas != nil {
		kafka.Thaw()
	}
}

// lostWarning says of lost records why, where a broker's fault explains it, and that
// nothing does where acks all should have kept them.
func (r *run) lostWarning() string {
	hit := strings.Join(r.brokersHit(), " and ")
	acks := r.cfg.Scenario.Load.Acks
	switch {
	case hit == "":
		return "%s acknowledged records were lost"
	case acks == "all":
		return "%s acknowledged records were LOST, which acks all should not let happen when " + hit + " fails: each was in every replica in sync when it was acknowledged"
	case acks == "0":
		return "%s records were lost when " + hit + " failed: with acks 0 nobody had acknowledged them"
	}
	return "%s acknowledged records were lost when " + hit + " failed: with acks 1 only the leader had them, and its successor did not"
}

// longGap is the time without an acknowledgement that is worth a warning where no
// fault was asked for.
const longGap = time.Second

// warningsOfTheAcks say that a partition was not acknowledged for long, though nobody
// broke anything. A gate holds records back on purpose.
func (r *run) warningsOfTheAcks() []string {
	if r.replicas != nil || r.gated() {
		return nil
	}
	worst := longest(r.ackGaps(func(snapshot.Gap) bool { return true }))
	if worst == nil || worst.ToNs-worst.FromNs < int64(longGap) {
		return nil
	}
	length := time.Duration(worst.ToNs - worst.FromNs)
	return []string{fmt.Sprintf("partition %d had no acknowledgement for %.1f s, from %.1f s on, though records waited for one: broker or client stood still",
		worst.Partition, length.Seconds(), time.Duration(worst.FromNs).Seconds())}
}
