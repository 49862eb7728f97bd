package chart

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"kafkabench.example/kafka-bench/internal/result/figure"
	"kafkabench.example/kafka-bench/internal/show/draw"
)

// Differences compares sets of runs with the first of them.
type Differences struct {
	Base string
	Sets []DifferenceSet
}

// DifferenceSet compares one set with the base.
type DifferenceSet struct {
	Name    string
	Figures []Difference
}

// Difference is how much a figure of a set is higher than that of the base, relative to the base's
// median. NaN is unknown.
type Difference struct {
	Figure           figure.Figure
	Ratio, Low, High float64
	Word             string // better, worse, no difference shown …
}

func differences(in Input) (draw.Spec, error) {
	d := in.Differences
	if d == nil || len(d.Sets) == 0 {
		return draw.Spec{}, errors.New("it draws a comparison: name two sets of runs")
	}
	var names []string
	var titles []string
	for _, set := range d.Sets {
		for _, f := range set.Figures {
			if !slices.Contains(names, f.Figure.Name) && !math.IsNaN(f.Ratio) {
				names, titles = append(names, f.Figure.Name), append(titles, f.Figure.Title)
			}
		}
	}
	if len(names) == 0 {
		return draw.Spec{}, errors.New("no figure of the sets has a difference: there are too few runs, or their base is 0")
	}
	p := draw.Panel{Y: rows("figure", titles)}
	var notes []string
	for _, set := range d.Sets {
		s := draw.Series{Name: set.Name, Figure: "difference_ratio", Kind: draw.Whiskers}
		for _, f := range set.Figures {
			row := slices.Index(names, f.Figure.Name)
			if row < 0 || math.IsNaN(f.Ratio) {
				notes = append(notes, fmt.Sprintf("%s: %s has no difference that is known.", set.Name, f.Figure.Title))
				continue
			}
			s.X0, s.Y = append(s.X0, f.Ratio), append(s.Y, float64(row))
			s.Low, s.High = append(s.Low, f.Low), append(s.High, f.High)
		}
		p.Series = append(p.Series, s)
	}
	return draw.Spec{
		Title: "Differences from " + d.Base, X: draw.Free("difference from the median of "+d.Base, draw.Linear, signedShare),
		Panels: []draw.Panel{p}, Marks: []draw.Mark{{At: 0, Words: "no difference"}}, Notes: notes,
		Alt: fmt.Sprintf("By how much the figures of each set are higher or lower than those of %s, with their bounds.",
			d.Base),
	}, nil
}

// History is figures over the runs of one configuration, oldest first.
type History struct {
	Runs   []string // name of each run, such as 2026-11-24 13:50
	Series []HistorySeries
}

// HistorySeries is one figure over the runs.
type HistorySeries struct {
	Figure  figure.Figure
	Values  []float64 // one for each run; NaN is unknown
	Changes []LevelChange
}

// LevelChange is a change of a figure's level.
type LevelChange struct {
	At            int     // index of the first run of the new level
	Before, After float64 // medians of the levels before and after
	Word          string  // better, worse, higher, lower
}

func history(in Input) (draw.Spec, error) {
	h := in.History
	if h == nil || len(h.Runs) == 0 || len(h.Series) == 0 {
		return draw.Spec{}, errors.New("it draws a history: name the runs of one configuration")
	}
	spec := draw.Spec{
		Title: "History", X: rows("run", h.Runs),
		Alt: fmt.Sprintf("Figures of %d runs of one configuration in the order of time, and where their levels change.",
			len(h.Runs)),
	}
	for _, of := range h.Series {
		s := draw.Series{Name: "run", Figure: of.Figure.Name, Kind: draw.Points, Colour: 1}
		for i, v := range of.Values {
			s.X0, s.Y = append(s.X0, float64(i)), append(s.Y, v)
		}
		p := draw.Panel{Y: axisOf(of.Figure, draw.Linear), Series: []draw.Series{s}}
		if len(of.Changes) > 0 {
			p.Series = append(p.Series, levelsOf(of, len(h.Runs)))
		}
		for _, c := range of.Changes {
			spec.Marks = append(spec.Marks, draw.Mark{At: float64(c.At) - 0.5, Words: of.Figure.Title + " " + c.Word})
		}
		spec.Panels = append(spec.Panels, p)
	}
	return spec, nil
}

func levelsOf(of HistorySeries, runs int) draw.Series {
	s := draw.Series{Name: "level", Figure: of.Figure.Name, Kind: draw.Steps, Colour: 2}
	from, level := -0.5, of.Changes[0].Before
	add := func(to float64) { s.X0, s.X1, s.Y = append(s.X0, from), append(s.X1, to), append(s.Y, level) }
	for _, c := range of.Changes {
		add(float64(c.At) - 0.5)
		from, level = float64(c.At)-0.5, c.After
	}
	add(float64(runs) - 0.5)
	return s
}
