package figure

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"kafkabench.example/kafka-bench/internal/plan/unit"
	"kafkabench.example/kafka-bench/internal/result"
)

const (
	inEvery = " in every "

	shortest = unit.Duration(100 * time.Millisecond) // of sampling.interval
	longest  = unit.Duration(24 * time.Hour)
)

// An intervalFigure is computed from the intervals of a stretch, which adjoin.
type intervalFigure struct {
	single bool // the stretch must be one interval
	value  func(r *result.Run, all []result.Interval) (v float64, missing string)
}

func (e *Expectation) stretch(text string) error {
	every, err := unit.ParseDuration(text)
	switch {
	case err != nil:
		return err
	case every < shortest || every > longest:
		return fmt.Errorf("in every %s: give %s to %s, as in 10s", text, shortest, longest)
	}
	if _, known := inIntervals(e.Figure.Name); !known {
		return fmt.Errorf("in every %s: intervals do not have %s; they have %s, and of each time p50, p90, p99 and max",
			every, e.Figure.Name, strings.Join(slices.Sorted(maps.Keys(countedInIntervals)), ", "))
	}
	e.Every = time.Duration(every)
	return nil
}

// Suits returns an error if no run with this sampling interval and measured window could decide the
// expectation. It names the setting that would suit.
func (e Expectation) Suits(interval, window time.Duration) error {
	if why := e.unsuited(interval, window); why != "" {
		return fmt.Errorf("expectation %q: %s", e, why)
	}
	return nil
}

func (e Expectation) unsuited(interval, window time.Duration) string {
	refuse := func(why, set string, other time.Duration) string {
		every := unit.Duration(e.Every)
		return fmt.Sprintf("in every %s: %s; set %s=%s, or write in every %s", every, why, set, every, unit.Duration(other))
	}
	const setting = "sampling.interval"
	of, _ := inIntervals(e.Figure.Name)
	switch {
	case e.Every == 0:
	case of.single && e.Every != interval:
		return refuse("a percentile is known of one interval, and "+setting+" is "+unit.Duration(interval).String(),
			setting, interval)
	case e.Every%interval != 0:
		return refuse("it is no multiple of "+setting+", which is "+unit.Duration(interval).String(), setting,
			(e.Every+interval-1)/interval*interval)
	case e.Every > window:
		return refuse("the measured window is "+unit.Duration(window).String(), "phases.measure",
			max(interval, window/interval*interval))
	}
	return ""
}

type span struct{ fromNs, toNs int64 }

func (s span) String() string { return "from " + moment(s.fromNs) + " to " + moment(s.toNs) }

func moment(ns int64) string {
	if ns == 0 {
		return "0 s"
	}
	return unit.Span(time.Duration(ns))
}

// Only stretches that lie wholly in the measured window count.
func (e Expectation) checkStretches(r *result.Run, intervals []result.Interval) Checked {
	unknown := func(why string) Checked { return e.checked(Undecided, nil, "is not known: "+why+";") }
	if missing := e.Figure.Missing(r); missing != "" {
		return unknown(missing)
	}
	if interval, err := unit.ParseDuration(r.Scenario.Get("sampling.interval")); err == nil && interval > 0 {
		if why := e.unsuited(time.Duration(interval), math.MaxInt64); why != "" {
			return unknown(why)
		}
	}
	var all, failed, lacking int
	var worst float64
	var at, gap span
	var why string
	for to := int64(e.Every); to <= windowEnd(r); to += int64(e.Every) {
		s := span{to - int64(e.Every), to}
		v, missing := e.inStretch(r, intervals, s)
		switch {
		case missing != "":
			if lacking++; lacking == 1 {
				gap, why = s, missing
			}
		case all == lacking || e.worse(v, worst):
			worst, at = v, s
		}
		if all++; missing == "" && !e.holds(v, 0) {
			failed++
		}
	}
	switch {
	case failed > 0:
		return e.checked(Failed, &worst, fmt.Sprintf("is %s %s (%d of %d stretches failed),",
			e.Figure.near(worst, e.Bound), at, failed, all))
	case lacking > 0:
		return e.checked(Undecided, nil, fmt.Sprintf("is not known %s: %s (%d of %d stretches);", gap, why, lacking, all))
	case all == 0:
		return unknown("the window has no whole stretch")
	}
	return e.checked(Met, &worst, fmt.Sprintf("is %s at worst, %s,", e.Figure.near(worst, e.Bound), at))
}

func windowEnd(r *result.Run) int64 {
	for _, p := range r.Run.Phases {
		if p.Name == "measure" {
			return p.EndNs
		}
	}
	return 0
}

func (e Expectation) worse(v, than float64) bool {
	switch e.Operator[0] {
	case '<':
		return v > than
	case '>':
		return v < than
	}
	return math.Abs(v-e.Bound) > math.Abs(than-e.Bound)
}

// A sampler that was late closes one longer interval. If that lies across the ends of a stretch, the
// stretch is unknown.
func (e Expectation) inStretch(r *result.Run, intervals []result.Interval, s span) (v float64, missing string) {
	first, _ := slices.BinarySearchFunc(intervals, s.fromNs,
		func(i result.Interval, ns int64) int { return cmp.Compare(i.EndNs, ns) })
	var in []result.Interval
	end := s.fromNs
	for _, i := range intervals[first:] {
		if i.EndNs <= s.fromNs {
			continue
		}
		if i.StartNs != end || i.EndNs > s.toNs {
			break
		}
		if len(i.Late) > 0 {
			return 0, strings.Join(i.Late, ", ") + " did not answer in time"
		}
		in, end = append(in, i), i.EndNs
		if end == s.toNs {
			break
		}
	}
	of, _ := inIntervals(e.Figure.Name)
	switch {
	case end != s.toNs:
		return 0, "its intervals were closed late"
	case of.single && len(in) > 1:
		return 0, "a percentile is known of one interval"
	}
	return of.value(r, in)
}

// countedInIntervals has the figures that intervals have, besides times.
var countedInIntervals = map[string]intervalFigure{
	"scheduled":  sumOf(func(i result.Interval) *int64 { return &i.Scheduled }),
	"admitted":   sumOf(func(i result.Interval) *int64 { return &i.Admitted }),
	"shed":       sumOf(func(i result.Interval) *int64 { return &i.Shed }),
	"acked":      sumOf(func(i result.Interval) *int64 { return &i.Acked }),
	"failed":     sumOf(func(i result.Interval) *int64 { return &i.Failed }),
	"unknown":    sumOf(func(i result.Interval) *int64 { return &i.Unknown }),
	"duplicates": sumOf(func(i result.Interval) *int64 { return &i.Duplicates }),

	"offered_per_s":         rateOf(func(i result.Interval) *int64 { return &i.Scheduled }),
	"acked_per_s":           rateOf(func(i result.Interval) *int64 { return &i.Acked }),
	"acked_bytes_per_s":     rateOf(func(i result.Interval) *int64 { return i.AckedBytes }),
	"delivered_per_s":       rateOf(func(i result.Interval) *int64 { return new(i.Delivered - i.Duplicates) }),
	"delivered_bytes_per_s": rateOf(func(i result.Interval) *int64 { return i.DeliveredBytes }),
	"duplicates_per_s":      rateOf(func(i result.Interval) *int64 { return &i.Duplicates }),
	"queue_acked_per_s":     rateOf(func(i result.Interval) *int64 { return i.AckedByQueue }),

	"lag_peak":             peakOf(lagPeak),
	"backlog_peak":         peakOf(func(i result.Interval) *int64 { return &i.BacklogRecords }),
	"time_lag_peak":        peakOf(result.Interval.TimeLag),
	"deferred_peak":        peakOf(func(i result.Interval) *int64 { return &i.DeferredRecords }),
	"queue_in_flight_peak": peakOf(func(i result.Interval) *int64 { return i.QueueInFlight }),
}

func inIntervals(name string) (s intervalFigure, known bool) {
	if s, known = countedInIntervals[name]; known {
		return s, true
	}
	for _, metric := range result.TimeMetrics {
		statistic, of := strings.CutPrefix(name, metric+"_")
		switch {
		case !of:
		case statistic == "max":
			return maxOf(metric), true
		case statistic == "p50" || statistic == "p90" || statistic == "p99":
			return quantileOf(metric, statistic), true
		}
	}
	return intervalFigure{}, false
}

func over(of func(result.Interval) *int64, join func(a, b int64) int64) func([]result.Interval) (int64, string) {
	return func(all []result.Interval) (v int64, missing string) {
		for n, i := range all {
			one := of(i)
			if one == nil {
				return 0, notMeasured
			}
			if v = join(v, *one); n == 0 {
				v = *one
			}
		}
		return v, ""
	}
}

func sumOf(of func(result.Interval) *int64) intervalFigure { return joined(of, add) }

func peakOf(of func(result.Interval) *int64) intervalFigure {
	return joined(of, func(a, b int64) int64 { return max(a, b) })
}

func joined(of func(result.Interval) *int64, join func(a, b int64) int64) intervalFigure {
	whole := over(of, join)
	return intervalFigure{value: func(_ *result.Run, all []result.Interval) (float64, string) {
		v, missing := whole(all)
		return float64(v), missing
	}}
}

func add(a, b int64) int64 { return a + b }

func rateOf(of func(result.Interval) *int64) intervalFigure {
	sum := over(of, add)
	return intervalFigure{value: func(_ *result.Run, all []result.Interval) (float64, string) {
		v, missing := sum(all)
		seconds := 0.0
		for _, i := range all {
			seconds += i.Seconds()
		}
		return float64(v) / seconds, missing
	}}
}

// Older runs have only the latest sample.
func lagPeak(i result.Interval) *int64 {
	peak := i.LagRecords
	for _, sample := range i.LagSamples {
		if peak == nil || sample.Records > *peak {
			peak = &sample.Records
		}
	}
	return peak
}

func maxOf(metric string) intervalFigure {
	return intervalFigure{value: func(_ *result.Run, all []result.Interval) (float64, string) {
		highest, count := int64(0), int64(0)
		for _, i := range all {
			t := i.Time[metric]
			highest, count = max(highest, t.MaxNs), count+t.Count
		}
		if count == 0 {
			return 0, "no record ended in it"
		}
		return float64(highest), ""
	}}
}

func quantileOf(metric, name string) intervalFigure {
	return intervalFigure{single: true, value: func(r *result.Run, all []result.Interval) (float64, string) {
		t := all[0].Time[metric]
		ns, percentile := &t.P50Ns, 50.0
		switch name {
		case "p90":
			ns, percentile = t.P90Ns, 90
		case "p99":
			ns, percentile = &t.P99Ns, 99
		}
		switch count := Independent(r, metric, t.Count); {
		case count == 0:
			return 0, "no record ended in it"
		case !Supported(percentile, count):
			return 0, fmt.Sprintf("%s records are too few for %s", unit.Count(count), name)
		case ns == nil:
			return 0, notMeasured
		}
		return float64(*ns), ""
	}}
}
