package chart

import (
	"math"
	"slices"
	"strings"

	"kafkabench.example/kafka-bench/internal/result"
	"kafkabench.example/kafka-bench/internal/result/figure"
	"kafkabench.example/kafka-bench/internal/show/analysis"
	"kafkabench.example/kafka-bench/internal/show/draw"
)

type field struct {
	name  string
	value func(*result.Interval) float64 // NaN if it is not known
	// supported reports whether an interval has enough records for the value; nil means always.
	supported func(*result.Run, *result.Interval) bool
}

func perSecond(name string, count func(*result.Interval) float64) field {
	return field{name: name, value: func(i *result.Interval) float64 { return count(i) / seconds(i) }}
}

func seconds(i *result.Interval) float64 {
	if s := i.Seconds(); s > 0 {
		return s
	}
	return math.NaN()
}

func some[T int64 | float64](p *T) float64 {
	if p == nil {
		return math.NaN()
	}
	return float64(*p)
}

func at[T int64 | float64](list []T, i int) float64 {
	if i >= len(list) {
		return math.NaN()
	}
	return float64(list[i])
}

var (
	scheduled = perSecond("scheduled", func(i *result.Interval) float64 { return float64(i.Scheduled) })
	acked     = perSecond("acked", func(i *result.Interval) float64 { return float64(i.Acked) })
	delivered = perSecond("delivered", func(i *result.Interval) float64 { return float64(i.Delivered) })
	shed      = perSecond("shed", func(i *result.Interval) float64 { return float64(i.Shed) })
	deferred  = field{name: "deferred_records",
		value: func(i *result.Interval) float64 { return float64(i.DeferredRecords) }}
	backlog = field{name: "backlog_records",
		value: func(i *result.Interval) float64 { return float64(i.BacklogRecords) }}
	timeLag = field{name: "time_lag_ns", value: func(i *result.Interval) float64 { return some(i.TimeLag()) }}
	unacked = field{name: "queue_oldest_unacked_ns",
		value: func(i *result.Interval) float64 { return some(i.QueueOldestUnackedNs) }}

	redelivered  = perSecond("redelivered", func(i *result.Interval) float64 { return some(i.Redelivered) })
	ackedByQueue = perSecond("acked_by_queue", func(i *result.Interval) float64 { return some(i.AckedByQueue) })
)

func timeField(metric, statistic string, ns func(result.IntervalTime) int64) field {
	return field{name: "time." + metric + "." + statistic + "_ns", value: func(i *result.Interval) float64 {
		t, has := i.Time[metric]
		if !has || t.Count == 0 {
			return math.NaN()
		}
		return float64(ns(t))
	}}
}

func p50(metric string) field {
	return timeField(metric, "p50", func(t result.IntervalTime) int64 { return t.P50Ns }).asPercentile(metric, 50)
}

func p99(metric string) field {
	return timeField(metric, "p99", func(t result.IntervalTime) int64 { return t.P99Ns }).asPercentile(metric, 99)
}

func (f field) asPercentile(metric string, percent float64) field {
	f.supported = func(r *result.Run, i *result.Interval) bool {
		return figure.Supported(percent, figure.Independent(r, metric, i.Time[metric].Count))
	}
	return f
}

func highestTime(metric string) field {
	return timeField(metric, "max", func(t result.IntervalTime) int64 { return t.MaxNs })
}

// missing says why a run does not have the field; "" if it may have it. An imported run has only
// the fields that its tool reported. A count is missing if the run had no producers, or no
// consumers.
func (f field) missing(r named) string {
	path := "intervals." + f.name
	if rest, isTime := strings.CutPrefix(f.name, "time."); isTime { // CannotSay omits the metric
		if _, statistic, _ := strings.Cut(rest, "."); !r.Run.Says("intervals.time." + statistic) {
			path = "intervals.time." + statistic
		}
	}
	switch {
	case !r.Run.Says(path) && r.Run.Run.Imported != nil:
		return "the imported result does not tell it"
	case !r.Run.Says(path):
		return "the run could not measure it"
	}
	switch f.name {
	case scheduled.name, acked.name, shed.name, deferred.name:
		if !produces(r) {
			return noProducers
		}
	case delivered.name, backlog.name, timeLag.name:
		if !consumes(r) {
			return noConsumers
		}
	}
	return ""
}

const (
	noProducers = "the run had no producers"
	noConsumers = "the run had no consumers"
)

// A killed run has no totals, so produces and consumes check its intervals too.
func produces(r named) bool {
	return r.Run.Load.Scheduled > 0 || slices.ContainsFunc(r.Intervals,
		func(i result.Interval) bool { return i.Scheduled > 0 || i.Acked > 0 })
}

func consumes(r named) bool {
	return r.Run.Consumer.Members > 0 || slices.ContainsFunc(r.Intervals,
		func(i result.Interval) bool { return i.Delivered > 0 })
}

func (f field) of(r named, name string) (draw.Series, error) {
	s := draw.Series{Name: name, Figure: f.name, Kind: draw.Steps}
	if why := f.missing(r); why != "" {
		m := r.lacks(intervalsFile, f.name, why)
		m.None = why == noProducers || why == noConsumers
		return s, m
	}
	n := len(r.Intervals)
	s.X0, s.X1, s.Y = make([]float64, n), make([]float64, n), make([]float64, n)
	for i := range r.Intervals {
		iv := &r.Intervals[i]
		s.X0[i], s.X1[i], s.Y[i] = float64(iv.StartNs), float64(iv.EndNs), math.NaN()
		if f.supported == nil || f.supported(&r.Run, iv) {
			s.Y[i] = f.value(iv)
		}
	}
	if _, known := extent(s.Y); math.IsNaN(known) {
		why := ""
		if f.supported != nil {
			why = "no interval has enough records for it"
		}
		return s, r.lacks(intervalsFile, f.name, why)
	}
	return s, nil
}

type call struct {
	name string
	field
}

func panelOf(axis draw.Axis, r named, calls ...call) (draw.Panel, []string, error) {
	series, notes, err := gather(calls, func(c call) (draw.Series, error) { return c.of(r, c.name) })
	return draw.Panel{Y: axis, Series: series}, notes, err
}

func sideBySide(axis draw.Axis, runs []named, of func(named) (draw.Series, error)) (draw.Panel, []string, error) {
	series, notes, err := gather(runs, of)
	axis.Scale = scaleOf(series)
	return draw.Panel{Y: axis, Series: series}, notes, err
}

func (f field) each(r named) (draw.Series, error) { return f.of(r, r.name) }

type panels struct {
	all   []draw.Panel
	notes []string
	errs  []error
}

func (ps *panels) add(p draw.Panel, notes []string, err error) {
	if err != nil {
		ps.errs = append(ps.errs, err)
		return
	}
	ps.all, ps.notes = append(ps.all, p), append(ps.notes, notes...)
}

// need adds a panel and returns its error: without this panel there is no chart.
func (ps *panels) need(p draw.Panel, notes []string, err error) error {
	ps.add(p, notes, err)
	return err
}

func (ps *panels) spec(s selection, title, alt string) (draw.Spec, error) {
	if len(ps.all) == 0 {
		return draw.Spec{}, ps.errs[0]
	}
	for _, err := range ps.errs {
		ps.notes = append(ps.notes, notDrawn(err)...)
	}
	spec := draw.Spec{Title: s.title(title), Alt: alt, X: timeAxis(), Panels: ps.all, Notes: append(s.notes, ps.notes...)}
	if s.alone() {
		spec.Marks = marks(s.runs[0])
	} else {
		spec.Marks = []draw.Mark{{At: 0, Words: "measured window begins"}}
	}
	return spec, nil
}

func marks(r named) []draw.Mark {
	all := phaseMarks(&r.Run)
	for _, c := range r.Run.Lag.Changes {
		all = append(all, draw.Mark{At: float64(c.AtNs), Words: c.What})
	}
	return append(all, eventMarks(r, markedKinds...)...)
}

var markedKinds = []string{"fault", "rebalance"}

// Marks reports whether charts over time may mark an event.
func Marks(e result.Event) bool { return slices.Contains(markedKinds, e.Kind) }

func phaseMarks(r *result.Run) (all []draw.Mark) {
	if measure := analysis.Phase(r, "measure"); measure.EndNs > measure.StartNs {
		all = append(all, draw.Mark{At: float64(measure.StartNs), Words: "measured window begins"},
			draw.Mark{At: float64(measure.EndNs), Words: "measured window ends"})
	}
	return all
}

func eventMarks(r named, kinds ...string) (all []draw.Mark) {
	for _, e := range r.Events {
		if e.AtNs >= 0 && slices.Contains(kinds, e.Kind) {
			all = append(all, draw.Mark{At: float64(e.AtNs), Words: plain(e.What)})
		}
	}
	return all
}

func plain(text string) string {
	return strings.NewReplacer("→", "to", "−", "-", "≤", "at most").Replace(text)
}
