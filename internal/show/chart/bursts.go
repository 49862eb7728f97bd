package chart

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"kafkabench.example/kafka-bench/internal/plan/unit"
	"kafkabench.example/kafka-bench/internal/show/analysis"
	"kafkabench.example/kafka-bench/internal/show/draw"
)

func bursts(in Input) (draw.Spec, error) {
	s, err := in.over()
	if err != nil {
		return draw.Spec{}, err
	}
	for _, r := range s.runs {
		if _, _, err := burstsOf(r); err != nil {
			return draw.Spec{}, err
		}
	}
	metric := timeOf(s.runs)
	var ps panels
	ps.add(sideBySide(draw.Free("offered/s", draw.Linear, perS), s.runs, scheduled.each))
	ps.add(sideBySide(draw.Free("consumer lag", draw.Linear, count), s.runs,
		func(r named) (draw.Series, error) { return lagSeries(r, r.name) }))
	ps.add(sideBySide(draw.Free(inWords(metric)+" p99", draw.Linear, nanos), s.runs, p99(metric).each))
	return ps.spec(s, "Bursts",
		fmt.Sprintf("Offered rate, consumer lag and %s p99 of %s over time.", inWords(metric), s.said()))
}

// burstsOf returns the period and the length of a run's bursts, in ns. Each period ends with a
// burst; the first period begins with the measured window.
func burstsOf(r named) (period, length int64, err error) {
	const path = "load.arrival."
	if kind := r.Run.Scenario.Get(path + "process"); kind != "burst" {
		return 0, 0, r.lacks(runFile, "bursts (scenario.load.arrival.process: burst)", "")
	}
	p, err := unit.ParseDuration(r.Run.Scenario.Get(path + "period"))
	if err != nil {
		return 0, 0, fmt.Errorf("%s: scenario.load.arrival.period: %w", r.name, err)
	}
	l, err := unit.ParseDuration(r.Run.Scenario.Get(path + "length"))
	if err != nil {
		return 0, 0, fmt.Errorf("%s: scenario.load.arrival.length: %w", r.name, err)
	}
	if l <= 0 || l >= p {
		return 0, 0, r.lacks(runFile, "time between bursts", "a burst is as long as its period")
	}
	return int64(p), int64(l), nil
}

// burstPeaks uses only bursts that are completely within the measured window.
func burstPeaks(in Input) (draw.Spec, error) {
	s, err := in.over()
	if err != nil {
		return draw.Spec{}, err
	}
	peaks := draw.Series{Name: "highest of a burst", Figure: "lag_records", Kind: draw.Points, Colour: 1}
	troughs := draw.Series{Name: "lowest between two", Figure: "lag_records", Kind: draw.Points, Colour: 2}
	highs := draw.Series{Name: "median of the highest", Figure: "lag_records", Kind: draw.Whiskers, Colour: 1}
	lows := draw.Series{Name: "median of the lowest", Figure: "lag_records", Kind: draw.Whiskers, Colour: 2}
	var names []string
	_, notes, err := gather(s.runs, func(r named) (named, error) {
		high, low, err := extremes(r)
		if err != nil {
			return r, err
		}
		x := float64(len(names))
		names = append(names, r.name)
		addPoints(&peaks, x, high)
		addPoints(&troughs, x, low)
		addMedian(&highs, x, analysis.FromValues(high), 1)
		addMedian(&lows, x, analysis.FromValues(low), 1)
		return r, nil
	})
	series := []draw.Series{peaks, highs, troughs, lows}
	axis := draw.Free("consumer lag", scaleWithin(series), count)
	return draw.Spec{
		Title: s.title("Consumer lag in and between bursts"), X: rows("run", names),
		Panels: []draw.Panel{{Y: axis, Series: series}},
		Alt:    fmt.Sprintf("The highest lag of each burst of %s, and the lowest between two bursts.", s.said()),
		Notes:  slices.Concat(s.notes, notes, []string{strings.ReplaceAll(whiskersNote, "runs", "bursts")}),
	}, err
}

func addPoints(s *draw.Series, x float64, values []float64) {
	for _, v := range values {
		s.X0, s.Y = append(s.X0, x), append(s.Y, v)
	}
}

func extremes(r named) (high, low []float64, err error) {
	period, length, err := burstsOf(r)
	if err != nil {
		return nil, nil, err
	}
	levels, _ := analysis.LagOver(r.Intervals)
	end := analysis.Window(&r.Run)
	for from := period - length; from+period <= end; from += period {
		most, least := math.Inf(-1), math.Inf(1)
		for _, l := range levels {
			if l.StartNs >= from && l.StartNs < from+period {
				most = max(most, float64(l.Records))
				if l.StartNs >= from+length {
					least = min(least, float64(l.Records))
				}
			}
		}
		if !math.IsInf(most, 0) && !math.IsInf(least, 0) {
			high, low = append(high, most), append(low, least)
		}
	}
	if len(high) == 0 {
		return nil, nil, r.lacks(intervalsFile, "lag_samples of a whole burst", "")
	}
	return high, low, nil
}
