package draw

import (
	"math"
	"slices"
	"strconv"
	"testing"

	"pgregory.net/rapid"
)

func TestTicks(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		scale := rapid.SampledFrom([]Scale{Linear, Log, Percentile}).Draw(t, "scale")
		spec := Free("", scale, func(v float64) string { return strconv.FormatFloat(v, 'g', 4, 64) })
		if rapid.Bool().Draw(t, "time") {
			spec.Second = 1e9
		}
		var e extent
		value := rapid.OneOf(rapid.Float64(), rapid.Float64Range(0, 1), rapid.Float64Range(0, 1e13))
		e.add(rapid.SliceOfN(value, 1, 5).Draw(t, "values")...)
		a := newAxis(spec, e, rapid.Bool().Draw(t, "round"))
		length := rapid.Float64Range(30, 900).Draw(t, "length")
		a.place(length, 0)
		a.setTicks(func(ticks []tick) bool { return apart(ticks, 20) })
		for i, tick := range a.ticks {
			if !a.within(tick.at) {
				t.Fatalf("tick %v is beyond the ends %g and %g", tick, a.low, a.high)
			}
			if i == 0 {
				continue
			}
			if last := a.ticks[i-1]; tick.value <= last.value || tick.at >= last.at || tick.label == last.label {
				t.Fatalf("tick %v after %v", tick, last)
			}
		}
	})
}

func TestTickSteps(t *testing.T) {
	for _, c := range []struct {
		name   string
		axis   Axis
		values []float64
		round  bool
		want   []float64
	}{
		{"linear from 0", Axis{}, []float64{3, 870}, true, []float64{0, 200, 400, 600, 800, 1000}},
		{"a minute", Axis{Second: 1}, []float64{60}, false, []float64{0, 10, 20, 30, 40, 50, 60}},
		{"ten minutes in ns", Axis{Second: 1e9}, []float64{600e9}, false, []float64{0, 120e9, 240e9, 360e9, 480e9, 600e9}},
		{"an hour", Axis{Second: 1}, []float64{3600}, false, []float64{0, 600, 1200, 1800, 2400, 3000, 3600}},
		{"two decades", Axis{Scale: Log}, []float64{3, 150}, true, []float64{2, 5, 10, 20, 50, 100, 200}},
		{"many decades", Axis{Scale: Log}, []float64{3, 3e6}, true, []float64{10, 100, 1e3, 1e4, 1e5, 1e6}},
		{"0 on the floor", Axis{Scale: Log}, []float64{0, 10, 1000}, true, []float64{0, 10, 100, 1000}},
		{"percentiles", Axis{Scale: Percentile}, []float64{0, 0.9995}, false, []float64{0, 0.5, 0.9, 0.99, 0.999}},
		{"within a decade", Axis{Scale: Log, Min: 310, Max: 390}, []float64{310, 390}, false, []float64{320, 340, 360, 380}},
	} {
		if c.axis.Min == 0 {
			c.axis.Min, c.axis.Max = math.NaN(), math.NaN()
		}
		var e extent
		e.add(c.values...)
		a := newAxis(c.axis, e, c.round)
		a.place(300, 0)
		a.setTicks(func(ticks []tick) bool { return apart(ticks, 20) && len(ticks) <= 7 })
		var got []float64
		for _, tick := range a.ticks {
			got = append(got, tick.value)
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

func TestSpread(t *testing.T) {
	for _, c := range []struct{ wanted, want []float64 }{
		{[]float64{10, 50}, []float64{10, 50}},
		{[]float64{50, 52}, []float64{43.5, 58.5}},
		{[]float64{0, 1, 2}, []float64{0, 15, 30}},
		{[]float64{100, 100}, []float64{85, 100}},
		{[]float64{40, 50, 70}, []float64{37.5, 52.5, 70}},
	} {
		if got := spread(c.wanted, 15, 0, 100); !slices.Equal(got, c.want) {
			t.Errorf("%v become %v, want %v", c.wanted, got, c.want)
		}
	}
}

func TestWrap(t *testing.T) {
	wide := textWidth("no acks for", textSize) + 1
	got := wrap("no acks for 250 ms or longer", textSize, wide, 9)
	if !slices.Equal(got, []string{"no acks for", "250 ms or", "longer"}) {
		t.Errorf("%q", got)
	}
	if got := wrap("no acks for 250 ms or longer", textSize, wide, 2); len(got) != 2 || got[1] != "250 ms…" {
		t.Errorf("%q", got)
	}
	if got := clean("\u2265 5\u202fms \u2192 \u00f7 \u0394\n\tx"); got != ">= 5 ms -> \u00f7 ? x" {
		t.Errorf("%q", got)
	}
}
