package analysis

import (
	"math"
	"strings"

	"kafkabench.example/kafka-bench/internal/measure/stats"
	"kafkabench.example/kafka-bench/internal/plan/unit"
	"kafkabench.example/kafka-bench/internal/result/figure"
)

// known is v as JSON has it: null where it is not a number.
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
	// Low and High bound the median with the confidence Reached; null below two
	// runs. It is 0.95 at least from six runs on, and what the lowest and
	// the highest of fewer reach.
	Low     *float64 `json:"median_low"`
	High    *float64 `json:"median_high"`
	Reached float64  `json:"confidence"`
	Min     *float64 `json:"min"`
	Max     *float64 `json:"max"`
	// AtLeast bounds the median from below, where it is null because too many of the
	// runs have only a lower bound.
	AtLeast *float64 `json:"median_at_least,omitempty"`
	// ClockError is by how much the values may be off, up or down, because the clocks of
	// two machines differ: the largest of any run. Absent if each rests on one clock.
	ClockError float64  `json:"clock_error,omitempty"`
	Mean       *float64 `json:"mean"`
	Stddev     *float64 `json:"stddev"`

	Summary stats.Summary `json:"-"`
	Least   stats.Summary `json:"-"` // of lower bounds in place of +Inf
	Values  []float64     `json:"-"` // a lower bound is +Inf
}

// Confidence of the interval of a median.
const Confidence = 0.95

// Fewest is the number of runs below which an interval is only the range of what
// was seen. The range of five still holds the median 15 times in 16.
const Fewest = 5

// FromValues is a figure over runs that all know its value.
func FromValues(values []float64) Repeated {
	return repeatedOf(figure.Repeats{Ranked: values, AtLeast: values})
}

func repeatedOf(all figure.Repeats) Repeated {
	values, wanted := all.Ranked, Confidence
	if n := len(values); n >= 2 && n < 6 {
		// The confidence of the range of n values, which is all there is.
		wanted = 1 - math.Exp2(float64(1-n))
	}
	s := stats.Summarise(values, wanted)
	r := Repeated{
		N: s.N, Median: known(s.Median), Low: known(s.Low), High: known(s.High), Reached: s.Confidence,
		Min: known(s.Min), Max: known(s.Max), Mean: known(s.Mean), Stddev: known(s.Stddev),
		ClockError: all.ClockError, Summary: s, Least: stats.Summarise(all.AtLeast, wanted), Values: values,
	}
	if math.IsInf(s.Median, 1) {
		r.AtLeast = known(r.Least.Median)
	}
	return r
}

// MedianText prints the median, or that there is none.
func (r Repeated) MedianText(f figure.Figure) string {
	if r.N == 0 {
		return unit.Absent
	}
	return f.FormatClocked(r.Summary.Median, r.Least.Median, r.ClockError)
}

// Interval prints what bounds the median: [8.40, 8.70 ms] where it is an
// interval, 8.40..8.70 ms where it is the range of few values, nothing of one.
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

// Bounded prints the median and what bounds it: 8.51 ms [8.40, 8.70 ms], or
// 8.51 ms (8.40..8.70 ms) of few.
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

// WithoutUnit takes the unit off low where high has the same: it is said once.
func WithoutUnit(low, high string) string {
	if number, suffix, found := strings.Cut(low, " "); found && strings.HasSuffix(high, " "+suffix) {
		return number
	}
	return strings.TrimSuffix(low, "/s")
}
