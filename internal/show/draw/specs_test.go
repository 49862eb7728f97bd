package draw_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"

	"pgregory.net/rapid"

	"kafkabench.example/kafka-bench/internal/show/draw"
)

var unknown = math.NaN()

func records(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) + " records" }

func perSecond(v float64) string { return strconv.FormatFloat(v, 'g', 6, 64) + "/s" }

func percent(p float64) string { return strconv.FormatFloat(100*p, 'g', 8, 64) + " %" }

func times(ns float64) string {
	if math.Abs(ns) >= 1e9 {
		return strconv.FormatFloat(ns/1e9, 'g', 6, 64) + " s"
	}
	return strconv.FormatFloat(ns/1e6, 'g', 6, 64) + " ms"
}

func seconds(label string) draw.Axis {
	a := draw.Free(label, draw.Linear, func(ns float64) string { return strconv.FormatFloat(ns/1e9, 'f', -1, 64) + " s" })
	a.Second = 1e9
	return a
}

func rows(label string, names ...string) draw.Axis {
	a := draw.Free(label, draw.Linear, nil)
	a.Categories = names
	return a
}

func wave(name, figure string, n int, mean, swing float64) draw.Series {
	random := rand.New(rand.NewPCG(uint64(n), uint64(mean)))
	s := draw.Series{Name: name, Figure: figure, Kind: draw.Steps}
	for i := range n {
		s.X0, s.X1 = append(s.X0, float64(i)*1e9), append(s.X1, float64(i+1)*1e9)
		s.Y = append(s.Y, math.Round(mean+swing*math.Sin(float64(i)/9)+swing/4*random.NormFloat64()))
	}
	return s
}

func goldens() map[string]draw.Spec {
	acked, delivered := wave("acked", "acked", 60, 10000, 300), wave("delivered", "delivered", 60, 9300, 900)
	for i := 30; i < 36; i++ {
		delivered.Y[i] = unknown
	}
	lag := wave("", "lag_records", 60, 4000, 3000)
	lag.Kind, lag.X1 = draw.Line, nil
	for i := range 8 {
		lag.Y[i] = 0
	}
	bound := draw.Series{Name: "bound", Figure: "bound_records", Kind: draw.Steps}
	bound.X0, bound.X1, bound.Y = []float64{0}, []float64{60e9}, []float64{5000}
	lag.Name = "lag"
	curve := func(name string, scale float64) draw.Series {
		s := draw.Series{Name: name, Figure: "e2e_response_time", Kind: draw.Line}
		for k := range 90 {
			p := 1 - math.Pow(10, -float64(k)/20)
			s.X0, s.Y = append(s.X0, p), append(s.Y, scale*math.Exp(float64(k)/20)*1e6)
		}
		return s
	}
	spread := wave("range of the rest", "backlog", 60, 2000, 500)
	spread.Kind, spread.Low, spread.High = draw.Band, make([]float64, 60), make([]float64, 60)
	for i, y := range spread.Y {
		spread.Low[i], spread.High[i] = y-700, y+900
	}
	spread.Y = nil
	lost := draw.Series{Name: "no acks", Figure: "gaps.acks", Kind: draw.Bars}
	lost.X0, lost.X1, lost.Y = []float64{20e9, 20.2e9, 41e9}, []float64{26e9, 26.4e9, 41.3e9}, []float64{0, 1, 2}
	held := draw.Series{Name: "no deliveries", Figure: "gaps.deliveries", Kind: draw.Bars}
	held.X0, held.X1, held.Y = []float64{20e9, 20.1e9}, []float64{31e9, 30e9}, []float64{0, 2}
	run := draw.Series{Name: "a run", Figure: "send_service_time_p99", Kind: draw.Points}
	run.X0, run.Y = []float64{0, 0, 0, 1, 1, 2, 3, 3, 4}, []float64{4.1e6, 4.4e6, 5e6, 9e6, 8.8e6, 5e6, 4e6, 4.9e6, 6e6}
	median := draw.Series{Name: "median, 95 % interval", Figure: "send_service_time_p99", Kind: draw.Whiskers}
	median.X0, median.Y = []float64{0, 1, 2, 3, 4}, []float64{4.4e6, 8.9e6, 5e6, 4.5e6, 6e6}
	median.Low, median.High = []float64{4.1e6, 8.8e6, unknown, 4e6, unknown}, []float64{5e6, 9e6, unknown, 4.9e6, unknown}
	difference := draw.Series{Figure: "difference", Kind: draw.Whiskers}
	difference.X0, difference.Y = []float64{-0.01, 0.22, 0.31, unknown}, []float64{0, 1, 2, 3}
	difference.Low, difference.High = []float64{-0.02, 0.1, -0.05, unknown}, []float64{0.005, 0.34, 0.7, unknown}
	sizes := []float64{100, 1000, 10000, 100000}
	rate := func(name string, values ...float64) draw.Series {
		return draw.Series{Name: name, Figure: "acked_bytes_per_s", Kind: draw.Line, X0: sizes, Y: values}
	}
	written := func(unit string) func(float64) string {
		return func(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) + unit }
	}
	one := func(y draw.Axis, series ...draw.Series) []draw.Panel { return []draw.Panel{{Y: y, Series: series}} }

	return map[string]draw.Spec{
		"steps": {
			Title: "overload: rates and lag", Alt: "Rates and lag of a run of 60 s.",
			X: seconds("time since the start of the measured window"),
			Panels: []draw.Panel{
				{Y: draw.Free("records a second", draw.Linear, perSecond), Series: []draw.Series{acked, delivered}},
				{Y: draw.Free("lag in records", draw.Log, written("")), Series: []draw.Series{lag, bound}},
			},
			Marks: []draw.Mark{
				{At: 20e9, Words: "broker 2 stopped"}, {At: 21.5e9, Words: "rebalance"}, {At: 57e9, Words: "broker 2 is back"},
			},
			Notes: []string{"Values are those of intervals.ndjson; an interval without a reading is left open."},
		},
		"percentiles": {
			Title: "Time from end to end, by percentile", Alt: "Three curves.",
			X: draw.Free("percentile", draw.Percentile, percent),
			Panels: []draw.Panel{{
				Y: draw.Free("e2e response time", draw.Log, times), Height: 280,
				Series: []draw.Series{curve("baseline", 2), curve("overload", 60), curve("recovery-aggressive", 9)},
				Stripes: []draw.Stripe{
					{From: 0.999, To: 0.9999, Words: "pending"}, {From: 0.9999, To: 1 - math.Pow(10, -89.0/20), Words: "shed"},
				},
			}},
		},
		"band": {
			Title: "Partitions", Alt: "A band and a line.", X: seconds("time"),
			Panels: one(draw.Free("backlog", draw.Linear, records), spread, wave("partition 7", "backlog", 60, 4500, 900)),
		},
		"cells": {
			Title: "Send time by compression", Alt: "Dots, medians and intervals of five codecs.",
			X:      rows("codec", "none", "gzip", "snappy", "lz4", "zstd"),
			Panels: one(draw.Free("send service time p99", draw.Linear, times), run, median),
		},
		"bars": {
			Title: "Outage", Alt: "Three partitions and their gaps.", X: seconds("time"),
			Panels: []draw.Panel{
				{
					Y: rows("partition", "0", "1", "2"), Series: []draw.Series{lost, held},
					Stripes: []draw.Stripe{{From: 20e9, To: 30e9, Words: "broker 1 killed"}},
				},
				{Y: draw.Free("records a second", draw.Linear, perSecond), Series: []draw.Series{acked}},
			},
		},
		"rows": {
			Title: "Difference of B to A", Alt: "Four figures.", X: draw.Free("B ÷ A - 1", draw.Linear, percent),
			Panels: one(rows("", "acked records a second", "e2e response time p50", "e2e response time p99", "lag peak"), difference),
		},
		"lines": {
			Title: "Throughput by record size", Alt: "Two lines with markers.",
			X: draw.Free("record size", draw.Log, written(" B")),
			Panels: one(draw.Free("throughput", draw.Linear, written(" MB/s")),
				rate("franz-go", 60, 240, 410, 430), rate("sarama", 40, 190, 380, 425)),
		},
		"names": {
			Title: "Long names on a narrow axis", Alt: "Nine columns.",
			X: rows("variant", "off", "hysteresis-loose", "hysteresis-tight", "credit-5000-records", "latency-250ms", "latency-1s",
				"aimd-slow-start-with-a-long-name", "pid", "none at all"),
			Panels: one(draw.Free("lag peak", draw.Log, written("")),
				draw.Series{
					Name: "a run", Kind: draw.Points, X0: []float64{0, 1, 2, 3, 4, 5, 6, 7, 8},
					Y: []float64{9e5, 9e3, 4e3, 5e3, 700, 3000, 2000, 1e4, 0},
				}),
		},
		"empty": {
			Title: "Nothing was recorded", Alt: "No values.", X: seconds("time"),
			Panels: one(draw.Free("lag in records", draw.Log, records),
				draw.Series{Name: "lag", Kind: draw.Line, X0: []float64{0, 1e9}, Y: []float64{unknown, unknown}}),
		},
		"many": {
			Title: "Lag of each partition", Alt: "Fourteen lines.", X: seconds("time"),
			Panels: one(draw.Free("lag in records", draw.Linear, records), manySeries(14)...), Marks: manyMarks(15),
		},
	}
}

func manySeries(n int) []draw.Series {
	var all []draw.Series
	for i := range n {
		all = append(all, wave(fmt.Sprintf("partition %d", i), "lag", 60, float64(500*(i+1)), 200))
	}
	return all
}

func manyMarks(n int) []draw.Mark {
	var all []draw.Mark
	for i := range n {
		all = append(all, draw.Mark{At: float64(i) * 4e9, Words: fmt.Sprintf("consumer %d joined", i)})
	}
	return all
}

// anySpec also makes bad specs.
func anySpec(t *rapid.T) draw.Spec {
	spec := draw.Spec{Title: anyWords(t, "title"), Alt: "alt", X: anyAxis(t, "x")}
	spec.Notes = rapid.SliceOfN(anyText, 0, 2).Draw(t, "notes")
	kinds := []draw.Kind{draw.Steps, draw.Line, draw.Points, draw.Whiskers, draw.Band, draw.Bars}
	for range rapid.IntRange(0, 3).Draw(t, "panels") {
		p := draw.Panel{Y: anyAxis(t, "y")}
		if rapid.IntRange(0, 3).Draw(t, "tall") == 0 {
			p.Height = rapid.Float64Range(20, 500).Draw(t, "height")
		}
		for range rapid.IntRange(0, 9).Draw(t, "series") {
			n := rapid.IntRange(0, 20).Draw(t, "n")
			values := func(label string) []float64 { return rapid.SliceOfN(anyValue, n, n).Draw(t, label) }
			p.Series = append(p.Series, draw.Series{
				Name: anyWords(t, "name"), Kind: rapid.SampledFrom(kinds).Draw(t, "kind"),
				X0: values("x0"), X1: values("x1"), Y: values("y"), Low: values("low"), High: values("high"),
			})
		}
		for range rapid.IntRange(0, 4).Draw(t, "stripes") {
			stripe := draw.Stripe{From: anyValue.Draw(t, "from"), To: anyValue.Draw(t, "to"), Words: anyWords(t, "stripe")}
			p.Stripes = append(p.Stripes, stripe)
		}
		spec.Panels = append(spec.Panels, p)
	}
	for range rapid.IntRange(0, 16).Draw(t, "marks") {
		spec.Marks = append(spec.Marks, draw.Mark{At: anyValue.Draw(t, "at"), Words: anyWords(t, "mark")})
	}
	return spec
}

var (
	anyValue = rapid.OneOf(
		rapid.Float64Range(0, 12), rapid.Float64Range(0, 1), rapid.Float64Range(-1e6, 1e12), rapid.Float64(),
		rapid.SampledFrom([]float64{0, 1, 2, 3, 5, 100, 1e9, 60e9, 3600e9, math.NaN(), math.Inf(1)}),
	)
	anyText = rapid.OneOf(
		rapid.SampledFrom([]string{
			"", "p99", "lag", "delivered", "backpressure-study-hysteresis-tight",
			"e2e response time p99.9, of all records that were scheduled",
		}),
		rapid.StringN(0, 12, -1), rapid.StringMatching("[a-z]{1,70}"),
	)
)

func anyWords(t *rapid.T, label string) string { return anyText.Draw(t, label) }

func anyAxis(t *rapid.T, label string) draw.Axis {
	scale := rapid.SampledFrom([]draw.Scale{draw.Linear, draw.Log, draw.Percentile}).Draw(t, label+" scale")
	a := draw.Free(anyWords(t, label), scale, func(v float64) string { return strconv.FormatFloat(v, 'g', 3, 64) + " ms" })
	switch rapid.IntRange(0, 9).Draw(t, label+" kind") {
	case 0, 1:
		a.Categories = rapid.SliceOfN(anyText, 1, 40).Draw(t, "categories")
	case 2:
		a.Min = anyValue.Draw(t, "min")
	case 3:
		a.Min, a.Max = anyValue.Draw(t, "min"), anyValue.Draw(t, "max")
	case 4:
		a.Second = rapid.SampledFrom([]float64{1, 1e9}).Draw(t, "second")
	case 5:
		a.Format = func(v float64) string { return strings.Repeat("x", 60) + strconv.FormatFloat(v, 'g', -1, 64) }
	}
	return a
}
