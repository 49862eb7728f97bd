package analysis

import (
	"math"
	"strings"

	"kafkabench.example/kafka-bench/internal/measure/stats"
	"kafkabench.example/kafka-bench/internal/plan/unit"
	"kafkabench.example/kafka-bench/internal/result/figure"
)

// known returns v as JSON has it: null for NaN and infinity.
func known(v float64) *float64 {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return nil
	}
	return &v
}

// Repeated is a figure over repeated runs, as JSON has it.
type Repeated struct {
	N      int      `json:"n"` // runs that have the figure
	Median *float64 `json:"median"`
	// Low and High bound the median with the confidence Reached; null for fewer
	// than two runs. Reached is at least 0.95 for six runs or more. For fewer runs,
	// it is the confidence of the lowest and highest value.
	Low     *float64 `json:"median_low"`
	High    *float64 `json:"median_high"`
	Reached float64  `json:"confidence"`
	Min     *float64 `json:"min"`
	Max     *float64 `json:"max"`
	// AtLeast is a lower bound of the median, if the median is null because too
	// many runs have only lower bounds.
	AtLeast *float64 `json:"median_at_least,omitempty"`
	// ClockError is the error of the values, up or down, because the clocks of two machines differ:
	// the largest of any run. Absent if each value rests on one clock.
	ClockError float64  `json:"clock_error,omitempty"`
	Mean       *float64 `json:"mean"`
	Stddev     *float64 `json:"stddev"`

	Summary  stats.Summary `json:"-"`
	Least    stats.Summary `json:"-"` // with lower bounds in place of +Inf
	Values   []float64     `json:"-"` // a lower bound is +Inf
	AtLeasts []float64     `json:"-"` // Values with lower bounds in place of +Inf
}

// Confidence is the confidence of the interval of a median.
const Confidence = 0.95

// Fewest is the number of runs below which an interval is only the range of the values. The range
// of five values contains the median in 15 of 16 cases.
const Fewest = 5

// FromValues returns a figure with one value for each run.
func FromValues(values []float64) Repeated {
	return repeatedOf(figure.Repeats{Ranked: values, AtLeast: values})
}

func repeatedOf(all figure.Repeats) Repeated {
	values, wanted := all.Ranked, Confidence
	if n := len(values); n >= 2 && n < 6 {
		wanted = 1 - math.Exp2(float64(1-n))
	}
	s := stats.Summarise(values, wanted)
	r := Repeated{
		N: s.N, Median: known(s.Median), Low: known(s.Low), High: known(s.High), Reached: s.Confidence,
		Min: known(s.Min), Max: known(s.Max), Mean: known(s.Mean), Stddev: known(s.Stddev),
		ClockError: all.ClockError, Summary: s, Least: stats.Summarise(all.AtLeast, wanted), Values: values,
		AtLeasts: all.AtLeast,
	}
	if math.IsInf(s.Median, 1) {
		r.AtLeast = known(r.Least.Median)
	}
	return r
}

// MedianText prints the median, or the mark of an absent value.
func (r Repeated) MedianText(f figure.Figure) string {
	if r.N == 0 {
		return unit.Absent
	}
	return f.FormatClocked(r.Summary.Median, r.Least.Median, r.ClockError)
}

// Interval prints the bounds of the median: [8.40, 8.70 ms], or 8.40..8.70 ms for the range of few
// values. It is "" for one value.
func (r Repeated) Interval(f figure.Figure) string {
	if r.N < 2 || math.IsNaN(r.Summary.Low) {
		return ""
	}
	low, high := f.FormatRanked(r.Summary.Low, r.Least.Low), f.FormatRanked(r.Summary.High, r.Least.High)
	if low == high {
		return ""
	}
	low = WithoutUnit(low, high)
	if r.N < Fewest {
		return low + ".." + high
	}
	return "[" + low + ", " + high + "]"
}

// Bounded prints the median with its bounds: 8.51 ms [8.40, 8.70 ms], or 8.51 ms
// (8.40..8.70 ms) for few values.
func (r Repeated) Bounded(f figure.Figure) string {
	bounds := r.Interval(f)
	switch {
	case bounds == "":
		return r.MedianText(f)
	case r.N < Fewest:
		return r.MedianText(f) + " (" + bounds + ")"
	}
	return r.MedianText(f) + " " + bounds
}

// WithoutUnit removes the unit of low if high has the same.
func WithoutUnit(low, high string) string {
	if number, suffix, found := strings.Cut(low, " "); found && strings.HasSuffix(high, " "+suffix) {
		return number
	}
	return strings.TrimSuffix(low, "/s")
}
