package chart

import (
	"math"
	"strconv"

	"kafkabench.example/kafka-bench/internal/plan/unit"
	"kafkabench.example/kafka-bench/internal/result/figure"
	"kafkabench.example/kafka-bench/internal/show/draw"
)

func nanos(v float64) string       { return unit.Nanos(whole(v)) }
func count(v float64) string       { return unit.Count(whole(v)) }
func bytes(v float64) string       { return unit.Bytes(whole(v)) }
func bytesPerS(v float64) string   { return unit.Bytes(whole(v)) + "/s" }
func perS(v float64) string        { return unit.PerSecond(v) }
func cores(v float64) string       { return unit.Decimals(v, 2) }
func share(v float64) string       { return unit.ShortPercent(v) }
func times(v float64) string       { return unit.Factor(v) }
func percentile(p float64) string  { return "p" + decimals(100*p, 9) }
func signedShare(v float64) string { return sign(v) + unit.ShortPercent(v) }

// clock formats ns on the run's time axis as seconds: -3 s, 0.5 s.
func clock(ns float64) string { return decimals(ns/1e9, 3) + " s" }

func whole(v float64) int64 { return int64(math.Round(v)) }

func sign(v float64) string {
	if v > 0 {
		return "+"
	}
	return ""
}

func decimals(v float64, n int) string {
	scale := math.Pow10(n)
	return strconv.FormatFloat(math.Round(v*scale)/scale+0, 'f', -1, 64)
}

func timeAxis() draw.Axis {
	axis := draw.Free("time since the measured window began", draw.Linear, clock)
	axis.Second = 1e9
	return axis
}

func rows(label string, names []string) draw.Axis {
	return draw.Axis{Label: label, Min: math.NaN(), Max: math.NaN(), Categories: names}
}

func axisOf(f figure.Figure, scale draw.Scale) draw.Axis { return draw.Free(f.Title, scale, f.Format) }

// apart is the ratio of the highest series to the lowest from which the axis is logarithmic: on a
// linear one, the lowest series would be flat.
const apart = 20

func scaleOf(all []draw.Series) draw.Scale {
	low, high := math.Inf(1), 0.0
	for _, s := range all {
		if _, most := extent(s.Y); most > 0 {
			low, high = min(low, most), max(high, most)
		}
	}
	if high >= apart*low {
		return draw.Log
	}
	return draw.Linear
}

// extent returns NaN without a known value.
func extent(values []float64) (low, high float64) {
	low, high = math.NaN(), math.NaN()
	for _, v := range values {
		if !math.IsNaN(v) && !(v >= low) {
			low = v
		}
		if !math.IsNaN(v) && !(v <= high) {
			high = v
		}
	}
	return low, high
}
