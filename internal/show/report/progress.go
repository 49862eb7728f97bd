package report

import (
	"fmt"
	"strings"

	"kafkabench.example/kafka-bench/internal/plan/unit"
	"kafkabench.example/kafka-bench/internal/result"
	"kafkabench.example/kafka-bench/internal/show/layout"
)

const fullEvery = 5

const fullFormat = "%6s %5s  %-19s %9s %8s %8s %8s %8s %8s %11s"

func (l *Live) full(i result.Interval) string {
	var b strings.Builder
	if l.lines%fullEvery == 0 {
		b.WriteString(l.fold(fullFormat, "time", "done", "metric", "count", "p50", "p90", "p99", "max", "mean", "total"))
	}
	l.lines++
	at, done := seconds(i.EndNs), l.progress(i)
	for _, text := range []string{
		layout.List(i.Phase, rate(i, i.Scheduled)+" offered", comma(rate(i, i.Acked), withBytes(i, i.AckedBytes))+" acked",
			comma(rate(i, i.Delivered), withBytes(i, i.DeliveredBytes))+" delivered"),
		layout.List("lag "+lagOf(i), "backlog "+unit.Count(i.BacklogRecords), "deferred "+unit.Count(i.DeferredRecords),
			"shed "+rate(i, i.Shed), "gate "+gate(i)),
	} {
		b.WriteString(l.hang(fmt.Sprintf("%6s %5s  %s", at, done, text), 14) + "\n")
	}
	for _, metric := range result.TimeMetrics {
		t := i.Time[metric]
		l.totals[metric] += t.Count
		if l.totals[metric] == 0 {
			continue
		}
		ns := func(ns *int64) string {
			if ns == nil || t.Count == 0 {
				return unit.Absent
			}
			return unit.Nanos(*ns)
		}
		mean := unit.Absent
		if t.MeanNs != nil {
			mean = unit.Nanos(int64(*t.MeanNs))
		}
		b.WriteString(l.fold(fullFormat, at, done, strings.TrimSuffix(layout.Words(metric), " time"), unit.Count(t.Count),
			ns(&t.P50Ns), ns(t.P90Ns), ns(&t.P99Ns), ns(&t.MaxNs), mean, unit.Count(l.totals[metric])))
	}
	return b.String()
}

func comma(a, b string) string {
	if b == "" {
		return a
	}
	return a + ", " + b
}

func withBytes(i result.Interval, bytes *int64) string {
	if bytes == nil || i.Seconds() <= 0 {
		return ""
	}
	return unit.Bytes(int64(float64(*bytes)/i.Seconds())) + "/s"
}

func (l *Live) progress(i result.Interval) string {
	phase := l.phase
	if l.ended.Name == i.Phase { // the next phase begins before the last interval of a phase is known
		phase = l.ended
	}
	length := phase.EndNs - phase.StartNs
	if length <= 0 || phase.Name != i.Phase {
		return unit.Absent
	}
	return unit.WholePercent(min(max(float64(i.EndNs-phase.StartNs)/float64(length), 0), 1))
}
