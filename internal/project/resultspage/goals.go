package main

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"kafkabench.example/kafka-bench/internal/result"
	"kafkabench.example/kafka-bench/internal/result/figure"
)

//go:embed goals.json
var goalsFile []byte

type goal struct {
	What    string `json:"what"`
	Study   string `json:"study"`
	Variant string `json:"variant"`
	Figure  string `json:"figure"`
	Change  int    `json:"change"` // number of the change of the consumers, from 1; 0 is the whole run
	// Of and Above are variants of the same study. The figure is divided by its median in Of, or
	// its median in Above is subtracted.
	Of    string      `json:"of"`
	Above string      `json:"above"`
	Prior *[2]float64 `json:"prior"` // from, to; in the figure's unit
	Least *float64    `json:"least"` // the goal is to reach it,
	Most  *float64    `json:"most"`  // or to stay within it; without either it is only shown

	base    *float64 // the median in Of or Above
	unknown bool     // base is missing
}

func goals() ([]goal, error) {
	var all []goal
	if err := json.Unmarshal(goalsFile, &all); err != nil {
		return nil, fmt.Errorf("goals.json: %w", err)
	}
	return all, nil
}

const notMade = "The runs have not been made."

func (s *shelf) goalTable() (string, error) { return s.goalsOf(studies) }

// goalsOf leaves out a goal whose study was not made; missingOf names these studies.
func (s *shelf) goalsOf(names []string) (string, error) {
	all, err := goals()
	if err != nil {
		return "", err
	}
	var b strings.Builder
	var runs []*result.Recorded
	for _, name := range names {
		if e := s.of(name); e != nil {
			runs = append(runs, e.runs()...)
		}
	}
	fmt.Fprintf(&b, "| %s | before | goal | median [lowest, highest] | held in |\n|---|--:|--:|--:|--:|",
		methodsOf(runs))
	rows := 0
	for _, g := range all {
		e := s.of(g.Study)
		if !slices.Contains(names, g.Study) || e == nil || len(e.runs()) == 0 {
			continue
		}
		row, err := g.row(e)
		if err != nil {
			return "", err
		}
		fmt.Fprintf(&b, "\n| %s |", strings.Join(row, " | "))
		rows++
	}
	if rows == 0 {
		return notMade, nil
	}
	return b.String(), nil
}

// row has the columns goal, earlier result, bound, our result and number of runs.
func (g goal) row(e *entry) ([]string, error) {
	f, err := e.figure(g.Figure)
	if err != nil {
		return nil, fmt.Errorf("goals.json: %w", err)
	}
	if g, f, err = g.against(e, f); err != nil {
		return nil, err
	}
	row := []string{g.What, absent, g.bound(f), absent, absent}
	if g.Prior != nil {
		row[1] = between(f, plain(g.Prior[:]))
	}
	runs := e.valid(g.Variant)
	values := g.values(f, runs)
	switch {
	case len(runs) == 0:
		row[3] = "not measured"
		return row, nil
	case g.unknown:
		row[3] = "not known"
		return row, nil
	case len(values.Ranked) > 0:
		row[3] = withRange(f, values)
	}
	if g.Least != nil || g.Most != nil {
		held := len(slices.DeleteFunc(slices.Clone(values.Ranked), func(v float64) bool { return !g.holds(v) }))
		row[4] = fmt.Sprintf("%d of %d runs", held, len(runs)) // a run without the figure has not reached the goal
	}
	return row, nil
}

// Without a run of the other variant, the figure is unknown.
func (g goal) against(e *entry, f figure.Figure) (goal, figure.Figure, error) {
	other := g.Of + g.Above // at most one is set
	if other == "" {
		return g, f, nil
	}
	base, known, err := e.median(other, g.Figure)
	if err != nil {
		return g, f, err
	}
	g.base = &base
	if !known || g.Of != "" && base == 0 {
		g.base, g.unknown = nil, true
	}
	if g.Of != "" {
		f.Kind = figure.Number
	}
	return g, f, nil
}

// For a change, the value is the time to settle.
func (g goal) values(f figure.Figure, runs []*result.Run) figure.Repeats {
	switch {
	case g.unknown:
		return figure.Repeats{}
	case g.Change > 0:
		var settled []float64
		for _, r := range runs {
			if g.Change <= len(r.Lag.Changes) && r.Lag.Changes[g.Change-1].SettlingS != nil {
				settled = append(settled, figure.Settled(r.Lag.Changes[g.Change-1])*1e9)
			}
		}
		return plain(settled)
	}
	all := f.Over(runs)
	for _, values := range [][]float64{all.Ranked, all.AtLeast} {
		for i := range values {
			switch {
			case g.base == nil:
			case g.Of != "":
				values[i] /= *g.base
			default:
				values[i] -= *g.base
			}
		}
	}
	return all
}

func (g goal) holds(v float64) bool {
	return (g.Least == nil || v >= *g.Least) && (g.Most == nil || v <= *g.Most)
}

func (g goal) bound(f figure.Figure) string {
	switch {
	case g.Least != nil && g.Most != nil:
		return between(f, plain([]float64{*g.Least, *g.Most}))
	case g.Least != nil:
		return "≥ " + f.Format(*g.Least)
	case g.Most != nil && *g.Most == 0:
		return "none"
	case g.Most != nil:
		return "≤ " + f.Format(*g.Most)
	}
	return absent
}

func withRange(f figure.Figure, values figure.Repeats) string {
	low, high := values.Format(f, slices.Min[[]float64]), values.Format(f, slices.Max[[]float64])
	median := values.Format(f, medianOf)
	if low == high {
		return median
	}
	return fmt.Sprintf("%s [%s, %s]", median, low, high)
}
