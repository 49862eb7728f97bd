package report

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"kafkabench.example/kafka-bench/internal/plan/unit"
	"kafkabench.example/kafka-bench/internal/result"
	"kafkabench.example/kafka-bench/internal/result/figure"
	"kafkabench.example/kafka-bench/internal/show/analysis"
	"kafkabench.example/kafka-bench/internal/show/layout"
)

type statistic struct {
	figure.Statistic
	name string
}

// The minimum is named p0.
var statistics = rows()

func rows() []statistic {
	all := make([]statistic, len(figure.Statistics))
	for i, s := range figure.Statistics {
		all[i] = statistic{s, s.Title}
		if s.Key == "min" {
			all[i].name = "p0"
		}
	}
	return all
}

// A percentile with few values beyond it depends on single records.
func (s statistic) supported(count int64) bool {
	return count > 0 && (s.Percentile == 0 || figure.Supported(s.Percentile, count))
}

func (s statistic) text(d distribution) string {
	switch ns := int64(s.Ns(d.Time)); {
	case !d.says(s) || d.counted() && !s.supported(d.independent):
		return unit.Absent
	case s.OfEnded() && d.Count == 0 && d.counted() || s.OfAll() && d.NotEnded > 0:
		return unit.Absent
	case float64(ns) <= s.ClockError(d.Time) && (d.ErrorNs > 0 || s.AtLeast(d.Time)):
		return unit.Absent
	case s.AtLeast(d.Time):
		return "> " + unit.NanosWithin(ns, int64(s.ClockError(d.Time)))
	default:
		return unit.NanosWithin(ns, int64(s.ClockError(d.Time)))
	}
}

const unsupported = unit.Absent + ": fewer than 10 values lie beyond it"

const notEnded = "open: had not ended, and counts as slower than all that had; >: at least"

const shifted = "±: what the clocks of two machines may add or take; a time that is not above it is " + unit.Absent

// The run's files have these times, but the times show how long the tool waited for a CPU.
const unreliable = "a column of " + unit.Absent + ": not to be relied on, the tool was starved of CPU"

func printTimes(p *layout.Page, r *result.Run) {
	l := r.Load
	note := ""
	if r.Says("load.scheduled") && r.Says("load.admitted") {
		note = speaksOf(r)
	}
	shown := measured(r)
	if len(shown) == 0 && r.Run.Imported != nil {
		return // the other tool measured no times
	}
	p.Heading("Times", note)
	printDistributions(p, shown)
	for _, d := range shown {
		for _, text := range skew(d) {
			p.Painted(layout.Yellow, 2, text)
		}
		if text := cumulated(d); text != "" {
			p.Text(2, text)
		}
	}
	legend := fromWhen(shown)
	if l.ClosedLoop {
		legend = []string{"no response times: in a closed loop nothing has an intended send time to count from"}
	}
	if r.Queue != nil && slices.ContainsFunc(shown,
		func(d distribution) bool { return strings.HasPrefix(d.metric, "e2e_") }) {
		legend = append(legend, "e2e and processed: of first deliveries; redelivery: of later ones")
	}
	if thin(shown) {
		legend = append(legend, unsupported)
	}
	if slices.ContainsFunc(shown, func(d distribution) bool { return d.NotEnded > 0 }) {
		legend = append(legend, notEnded)
	}
	if clocked(shown) {
		legend = append(legend, shifted)
	}
	if r.Run.Imported == nil && slices.ContainsFunc(shown,
		func(d distribution) bool { return !r.Says("time." + d.metric) }) {
		legend = append(legend, unreliable)
	}
	p.Text(2, layout.List(legend...))
}

func clocked(all []distribution) bool {
	return slices.ContainsFunc(all, func(d distribution) bool { return d.ErrorNs > 0 })
}

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

// speaksOf is "" if the times simply cover all records.
func speaksOf(r *result.Run) string {
	l, b := r.Load, r.Backpressure
	switch {
	case b != nil && b.Excess != "shed" && b.DeferredPeakRecords > 0 && l.Admitted == l.Scheduled:
		return fmt.Sprintf(" of all %s records, response times from when each was due", unit.Count(l.Admitted))
	case l.Deferred > 0 && r.Method() > 1:
		all := l.Scheduled - l.Shed
		return fmt.Sprintf(" of the %s records that were not shed, %s of the scheduled", unit.Count(all),
			share(all, l.Scheduled))
	case l.Admitted != l.Scheduled:
		return fmt.Sprintf(" of the %s records admitted, %s of the scheduled", unit.Count(l.Admitted),
			share(l.Admitted, l.Scheduled))
	}
	return ""
}

type distribution struct {
	metric string
	result.Time
	independent int64 // the number of values that support a percentile
	run         *result.Run
}

func distributionOf(r *result.Run, metric string, t result.Time) distribution {
	return distribution{metric: metric, Time: t, independent: figure.Independent(r, metric, t.Count+t.NotEnded)}
}

// counted is false if another tool did not say how many values it has.
func (d distribution) counted() bool { return d.run == nil || d.run.Says("time."+d.metric+".count") }

// An imported run may not know the statistic.
func (d distribution) says(s statistic) bool {
	return s.Taken(d.Time) && (d.run == nil || d.run.Says("time."+d.metric+"."+s.Key+"_ns"))
}

func (d distribution) figure(s statistic) (v layout.Datum, known bool) {
	if d.run == nil {
		return v, false
	}
	f := analysis.FigureCalled(d.metric + "_" + s.Key)
	value, known := f.Value(d.run)
	return layout.Datum{Figure: f.Name, Value: value}, known
}

// measured is in the order of a record's life. Further times of another tool come last.
func measured(r *result.Run) (all []distribution) {
	metrics := slices.Clone(result.TimeMetrics)
	for _, metric := range slices.Sorted(maps.Keys(r.Time)) {
		if !slices.Contains(metrics, metric) {
			metrics = append(metrics, metric)
		}
	}
	for _, metric := range metrics {
		v, known := r.Time[metric]
		if known && (v.Count+v.NotEnded > 0 || !r.Says("time."+metric+".count")) && (!r.Load.ClosedLoop || !fromIntended(metric)) {
			d := distributionOf(r, metric, v)
			d.run = r
			all = append(all, d)
		}
	}
	return all
}

func printDistributions(p *layout.Page, all []distribution) {
	above, below, counts, open := []string{""}, []string{""}, []string{"  count"}, []string{"  open"}
	some := false
	for _, d := range all {
		first, second := columnHead(d.metric)
		above, below = append(above, first), append(below, second)
		count := unit.Count(d.Count)
		if !d.counted() {
			count = unit.Absent
		}
		counts, open = append(counts, count), append(open, unit.Count(d.NotEnded))
		some = some || d.NotEnded > 0
	}
	t := layout.Table{Gap: 2, Rows: [][]string{above, below, counts}}
	if some {
		t.Add(open...)
	}
	data := map[[2]int]layout.Datum{}
	for _, s := range statistics {
		row := []string{"  " + s.name}
		for _, d := range all {
			if v, known := d.figure(s); known {
				data[[2]int{len(t.Rows), len(row)}] = v
			}
			row = append(row, s.text(d))
		}
		t.Add(row...)
	}
	if p.Width < layout.Width {
		t.Gap = 1
	}
	p.TableOf(t, 2, data)
}

// columnHead is a metric's name in two lines, without "time", which the table's heading has.
func columnHead(metric string) (above, below string) {
	above, below, _ = strings.Cut(layout.Words(metric), " ")
	if short := strings.TrimSuffix(below, " time"); short != "" {
		below = short
	}
	return above, below
}

func thin(all []distribution) bool {
	for _, d := range all {
		for _, s := range statistics {
			if d.says(s) && d.counted() && !s.supported(d.independent) {
				return true
			}
		}
	}
	return false
}

func skew(d distribution) (texts []string) {
	if d.Negative > 0 {
		texts = append(texts, fmt.Sprintf("%s: %s below zero, down to %s", layout.Words(d.metric),
			unit.Count(d.Negative), unit.Nanos(d.MinNs)))
	}
	if d.OutOfRange > 0 {
		texts = append(texts, fmt.Sprintf("%s: %s above an hour", layout.Words(d.metric), unit.Count(d.OutOfRange)))
	}
	return texts
}

// cumulated is a line of the points of a CDF that are neither none nor all, and of the first that is
// all; "" without one.
func cumulated(d distribution) string {
	var parts []string
	for _, point := range d.CDF {
		if point.Count > 0 {
			parts = append(parts, unit.Percent(float64(point.Count)/float64(max(d.Count, 1)))+" ≤ "+unit.Nanos(point.AtMostNs))
		}
		if point.Count >= d.Count {
			break
		}
	}
	if len(parts) == 0 {
		return ""
	}
	return "CDF of " + layout.Words(d.metric) + ": " + layout.List(parts...)
}

// fromIntended reports whether a metric counts from the intended send time, which a closed loop
// does not have.
func fromIntended(metric string) bool {
	return strings.Contains(metric, "response") || metric == "send_delay" || metric == "pacer_lateness"
}
