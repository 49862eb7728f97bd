package report

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"kafkabench.example/kafka-bench/internal/plan/unit"
	"kafkabench.example/kafka-bench/internal/result"
	"kafkabench.example/kafka-bench/internal/result/figure"
	"kafkabench.example/kafka-bench/internal/show/layout"
)

// statistic is one row of a table of times.
type statistic struct {
	name string
	key  string // the end of its names in files
	// percentile is 0 for what any count supports.
	percentile float64
	ns         func(result.Time) float64
}

// statistics are the figures of a distribution, from the least to the greatest.
var statistics = []statistic{
	{"p0", "min", 0, func(t result.Time) float64 { return float64(t.MinNs) }},
	{"p50", "p50", 50, func(t result.Time) float64 { return float64(t.P50Ns) }},
	{"p75", "p75", 75, func(t result.Time) float64 { return float64(t.P75Ns) }},
	{"p90", "p90", 90, func(t result.Time) float64 { return float64(t.P90Ns) }},
	{"p95", "p95", 95, func(t result.Time) float64 { return float64(t.P95Ns) }},
	{"p99", "p99", 99, func(t result.Time) float64 { return float64(t.P99Ns) }},
	{"p99.5", "p99_5", 99.5, func(t result.Time) float64 { return float64(t.P995Ns) }},
	{"p99.9", "p99_9", 99.9, func(t result.Time) float64 { return float64(t.P999Ns) }},
	{"p99.99", "p99_99", 99.99, func(t result.Time) float64 { return float64(t.P9999Ns) }},
	{"max", "max", 0, func(t result.Time) float64 { return float64(t.MaxNs) }},
	{"mean", "mean", 0, func(t result.Time) float64 { return t.MeanNs }},
	{"stddev", "stddev", 0, func(t result.Time) float64 { return t.StddevNs }},
}

// supported tells whether so many independent values have the statistic. A
// percentile with few values beyond it is the luck of single records.
func (s statistic) supported(count int64) bool {
	return count > 0 && (s.percentile == 0 || figure.Supported(s.percentile, count))
}

// text prints the statistic of a time, or that it does not have it.
func (s statistic) text(d distribution) string {
	ofEnded := s.key == "min" || s.key == "mean" || s.key == "stddev"
	switch ns := int64(s.ns(d.Time)); {
	case !d.says(s) || !s.supported(d.independent):
		return unit.Absent
	case ofEnded && (d.Count == 0 || d.NotEnded > 0 && s.key != "min"):
		return unit.Absent
	case !s.atLeast(d.Time):
		return unit.Nanos(ns)
	case ns > 0:
		return "> " + unit.Nanos(ns)
	}
	return unit.Absent
}

// atLeast tells whether the statistic is only a lower bound.
func (s statistic) atLeast(t result.Time) bool { return slices.Contains(t.AtLeast, s.key+"_ns") }

// unsupported explains the mark that stands for such a percentile.
const unsupported = unit.Absent + ": fewer than 10 values lie beyond it"

// notEnded explains the bounds.
const notEnded = "open: had not ended, and counts as slower than all that had; >: at least"

// unreliable explains a column of such marks: the times are in the result, and what
// they say is how long the tool waited.
const unreliable = "a column of " + unit.Absent + ": not to be relied on, the tool was starved of CPU"

// printTimes is the table of what records went through.
func printTimes(p *layout.Page, r *result.Run) {
	l := r.Load
	note := ""
	if r.Says("load.scheduled") && r.Says("load.admitted") {
		note = speaksOf(r)
	}
	shown := measured(r)
	if len(shown) == 0 && r.Run.Imported != nil {
		return // the other tool measured none
	}
	p.Heading("Times", note)
	printDistributions(p, shown)
	for _, d := range shown {
		for _, text := range skew(d) {
			p.Line("  ", p.Paint(layout.Yellow, text))
		}
	}
	legend := fromWhen(shown)
	if l.ClosedLoop {
		legend = []string{"no response times: in a closed loop nothing has an intended send time to count from"}
	}
	if r.Queue != nil && slices.ContainsFunc(shown, func(d distribution) bool { return strings.HasPrefix(d.metric, "e2e_") }) {
		legend = append(legend, "e2e and processed: of first deliveries; redelivery: of later ones")
	}
	if thin(shown) {
		legend = append(legend, unsupported)
	}
	if slices.ContainsFunc(shown, func(d distribution) bool { return d.NotEnded > 0 }) {
		legend = append(legend, notEnded)
	}
	if r.Run.Imported == nil && slices.ContainsFunc(shown, func(d distribution) bool { return !r.Says("time." + d.metric) }) {
		legend = append(legend, unreliable)
	}
	p.Text(2, layout.List(legend...))
}

// fromWhen says where the times begin that are shown; others, such as that of a poll,
// say so by their names.
func fromWhen(shown []distribution) (legend []string) {
	for _, kind := range []struct{ of, text string }{
		{"_service_time", "service: from the actual send"}, {"_response_time", "response: from the intended send"},
	} {
		if slices.ContainsFunc(shown, func(d distribution) bool { return strings.HasSuffix(d.metric, kind.of) }) {
			legend = append(legend, kind.text)
		}
	}
	return legend
}

// speaksOf says which records the times are of, where they are not simply all.
func speaksOf(r *result.Run) string {
	l, b := r.Load, r.Backpressure
	switch {
	case b != nil && b.Excess != "shed" && b.DeferredPeakRecords > 0 && l.Admitted == l.Scheduled:
		return fmt.Sprintf(" of all %s records, response times from when each was due", unit.Count(l.Admitted))
	case l.Deferred > 0 && r.Method() > 1:
		all := l.Scheduled - l.Shed
		return fmt.Sprintf(" of the %s records that were not shed, %s of the scheduled", unit.Count(all), share(all, l.Scheduled))
	case l.Admitted != l.Scheduled:
		return fmt.Sprintf(" of the %s records admitted, %s of the scheduled", unit.Count(l.Admitted), share(l.Admitted, l.Scheduled))
	}
	return ""
}

// distribution is a time of a run under the name of its metric.
type distribution struct {
	metric string
	result.Time
	independent int64 // how many of its values a percentile can rest on
	run         *result.Run
}

func distributionOf(r *result.Run, metric string, t result.Time) distribution {
	return distribution{metric: metric, Time: t, independent: figure.Independent(r, metric, t.Count+t.NotEnded)}
}

// says tells whether the run knows the statistic: one of another tool may not.
func (d distribution) says(s statistic) bool {
	return d.run == nil || d.run.Says("time."+d.metric+"."+s.key+"_ns")
}

// measured are the times of a run that mean something, in the order of a
// record's life. What another tool measured beside these keeps its own name, and
// comes after them.
func measured(r *result.Run) (all []distribution) {
	metrics := slices.Clone(result.TimeMetrics)
	for _, metric := range slices.Sorted(maps.Keys(r.Time)) {
		if !slices.Contains(metrics, metric) {
			metrics = append(metrics, metric)
		}
	}
	for _, metric := range metrics {
		v, known := r.Time[metric]
		if known && v.Count+v.NotEnded > 0 && (!r.Load.ClosedLoop || !fromIntended(metric)) {
			d := distributionOf(r, metric, v)
			d.run = r
			all = append(all, d)
		}
	}
	return all
}

// printDistributions prints a column for each time and a row for each statistic, so
// that service and response times stand beside each other.
func printDistributions(p *layout.Page, all []distribution) {
	above, below, counts, open := []string{""}, []string{""}, []string{"  count"}, []string{"  open"}
	some := false
	for _, d := range all {
		first, second := columnHead(d.metric)
		above, below = append(above, first), append(below, second)
		counts, open = append(counts, unit.Count(d.Count)), append(open, unit.Count(d.NotEnded))
		some = some || d.NotEnded > 0
	}
	t := layout.Table{Gap: 2, Rows: [][]string{above, below, counts}}
	if some {
		t.Add(open...)
	}
	for _, s := range statistics {
		row := []string{"  " + s.name}
		for _, d := range all {
			row = append(row, s.text(d))
		}
		t.Add(row...)
	}
	if p.Width < layout.Width {
		t.Gap = 1
	}
	p.Table(t, 2)
}

// columnHead is a metric's name in two lines: "send" above "response". That it is
// a time is said once, above the table.
func columnHead(metric string) (above, below string) {
	above, below, _ = strings.Cut(layout.Words(metric), " ")
	if short := strings.TrimSuffix(below, " time"); short != "" {
		below = short
	}
	return above, below
}

// thin tells whether some percentile is not printed.
func thin(all []distribution) bool {
	for _, d := range all {
		for _, s := range statistics {
			if d.says(s) && !s.supported(d.independent) {
				return true
			}
		}
	}
	return false
}

// skew says what the histogram of a time could not hold.
func skew(d distribution) (texts []string) {
	if d.Negative > 0 {
		texts = append(texts, fmt.Sprintf("%s: %s below zero, down to %s", layout.Words(d.metric), unit.Count(d.Negative), unit.Nanos(d.MinNs)))
	}
	if d.OutOfRange > 0 {
		texts = append(texts, fmt.Sprintf("%s: %s above an hour", layout.Words(d.metric), unit.Count(d.OutOfRange)))
	}
	return texts
}

// fromIntended tells the metrics that count from the intended send time, which
// a closed loop does not have.
func fromIntended(metric string) bool {
	return strings.Contains(metric, "response") || metric == "send_delay" || metric == "pacer_lateness"
}
