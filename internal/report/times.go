package report

import (
	"fmt"
	"strings"

	"kafka-bench/internal/result"
	"kafka-bench/internal/unit"
)

// beyond is how many values must lie above a percentile before it is printed:
// with fewer, it is the luck of single records.
const beyond = 10

// percentiles are the columns of the table.
var percentiles = []struct {
	name     string
	per1000  int64 // of the values lie above it
	quantile func(result.Time) int64
}{
	{"p50", 500, func(t result.Time) int64 { return t.P50Ns }},
	{"p90", 100, func(t result.Time) int64 { return t.P90Ns }},
	{"p99", 10, func(t result.Time) int64 { return t.P99Ns }},
	{"p99.9", 1, func(t result.Time) int64 { return t.P999Ns }},
}

// times is the table of what records went through.
func (p *page) times(r *result.Run) {
	l := r.Load
	note := ""
	if l.Admitted != l.Scheduled {
		note = fmt.Sprintf(" of the %s records admitted, %s of the scheduled", unit.Count(l.Admitted), share(l.Admitted, l.Scheduled))
	}
	p.heading("Times", note)
	t := table{gap: 3}
	t.add("", "count", "p50", "p90", "p99", "p99.9", "max")
	thin, skewed := false, []string{}
	for _, metric := range result.TimeMetrics {
		v, measured := r.Time[metric]
		if !measured || v.Count == 0 || (l.ClosedLoop && fromIntended(metric)) {
			continue
		}
		row := []string{"  " + words(metric), unit.Count(v.Count)}
		for _, q := range percentiles {
			if v.Count*q.per1000 < beyond*1000 {
				thin = true
				row = append(row, absent)
				continue
			}
			row = append(row, unit.Nanos(q.quantile(v)))
		}
		t.add(append(row, unit.Nanos(v.MaxNs))...)
		if v.Negative > 0 {
			skewed = append(skewed, fmt.Sprintf("%s: %s below zero, down to %s", words(metric), unit.Count(v.Negative), unit.Nanos(v.MinNs)))
		}
		if v.OutOfRange > 0 {
			skewed = append(skewed, fmt.Sprintf("%s: %s above an hour", words(metric), unit.Count(v.OutOfRange)))
		}
	}
	for _, line := range t.lines() {
		p.line(line)
	}
	for _, s := range skewed {
		p.line("  ", p.paint(yellow, s))
	}
	legend := []string{"service: from the actual send", "response: from the intended send"}
	if l.ClosedLoop {
		legend = []string{"no response times: in a closed loop nothing has an intended send time to count from"}
	}
	if thin {
		legend = append(legend, fmt.Sprintf("%s: below %d values beyond it", absent, beyond))
	}
	for _, line := range wrap(list(legend...), Width-2) {
		p.line("  ", line)
	}
}

// fromIntended tells the metrics that count from the intended send time, which
// a closed loop does not have.
func fromIntended(metric string) bool {
	return strings.Contains(metric, "response") || metric == "send_delay" || metric == "pacer_lateness"
}

// words turns a metric's key into the words of the field.
func words(metric string) string { return strings.ReplaceAll(metric, "_", " ") }
