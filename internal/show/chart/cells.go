package chart

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"kafkabench.example/kafka-bench/internal/plan/unit"
	"kafkabench.example/kafka-bench/internal/result"
	"kafkabench.example/kafka-bench/internal/result/figure"
	"kafkabench.example/kafka-bench/internal/show/analysis"
	"kafkabench.example/kafka-bench/internal/show/draw"
)

const shownFigures = 4

func tellingFigures(study *analysis.Study) []figure.Figure {
	telling := slices.DeleteFunc(slices.Clone(study.Figures), func(f figure.Figure) bool {
		dots := draw.Series{}
		for i := range study.Cells {
			dotsOf(&study.Cells[i], f, 0, &dots)
		}
		low, high := extent(dots.Y)
		return f.Better == figure.Neither || len(study.Cells) > 1 && low == high
	})
	return telling[:min(shownFigures, len(telling))]
}

// cells draws the runs of each cell as dots, with their median and its bounds. If the cells differ
// in only one number or size, this value is their place on the axis.
func cells(in Input) (draw.Spec, error) {
	study, notValid, err := in.study()
	if err != nil {
		return draw.Spec{}, err
	}
	figures := in.Figures
	if len(figures) == 0 {
		figures = tellingFigures(study)
	}
	spec := draw.Spec{Title: titleOf(study, "Figures of repeated runs"), Notes: append(notValid, whiskersNote)}
	places, axis := placesOf(study)
	spec.X = axis
	var titles []string
	all, notes, err := gather(figures, func(f figure.Figure) (draw.Panel, error) {
		p, notes, err := repeatedPanel(study, f, places)
		titles, spec.Notes = append(titles, f.Title), append(spec.Notes, notes...)
		return p, err
	})
	spec.Panels, spec.Notes = all, append(spec.Notes, notes...)
	spec.Alt = fmt.Sprintf("%s of %s: each run, their median and what bounds it.", strings.Join(titles, ", "),
		unit.Things(int64(len(study.Cells)), "configuration"))
	return spec, err
}

const whiskersNote = "Dots are runs. Beside them is their median, with an interval of 95 % from six runs on, " +
	"else from the lowest to the highest."

func repeatedPanel(study *analysis.Study, f figure.Figure, places []float64) (draw.Panel, []string, error) {
	dots := draw.Series{Name: "runs", Figure: f.Name, Kind: draw.Points, Colour: 2}
	medians := draw.Series{Name: "median", Figure: f.Name, Kind: draw.Whiskers, Colour: 1}
	var left undrawn
	for i := range study.Cells {
		cell := &study.Cells[i]
		left.runs += dotsOf(cell, f, places[i], &dots)
		left.cells += addMedian(&medians, places[i], cell.Of(f.Name), 1)
	}
	if len(dots.Y) == 0 {
		return draw.Panel{}, nil, lacksFigure(study, f)
	}
	p := draw.Panel{Y: axisOf(f, draw.Linear), Series: []draw.Series{dots, medians}}
	p.Y.Scale = scaleWithin(p.Series)
	return p, left.notes(f), nil
}

// undrawn counts runs with only a lower bound, and cells whose interval has no upper end.
type undrawn struct{ runs, cells int }

func (b undrawn) notes(f figure.Figure) (notes []string) {
	if b.runs > 0 {
		notes = append(notes, fmt.Sprintf("%s: not drawn are %s with only a lower bound.", f.Title,
			unit.Things(int64(b.runs), "run")))
	}
	if b.cells > 0 {
		notes = append(notes, fmt.Sprintf("%s: no interval is drawn of %s, as its upper end is not known.", f.Title,
			unit.Things(int64(b.cells), "configuration")))
	}
	return notes
}

func dotsOf(cell *analysis.Cell, f figure.Figure, x float64, dots *draw.Series) (left int) {
	f = f.Among(cell.Sample.Among)
	for _, r := range cell.Sample.Taken {
		if v, known := f.Value(&r.Run); known {
			dots.X0, dots.Y = append(dots.X0, x), append(dots.Y, v)
		} else if f.Missing(&r.Run) == "" {
			left++
		}
	}
	return left
}

// addMedian returns left = 1 if the interval has no upper end and is not drawn.
func addMedian(s *draw.Series, x float64, r analysis.Repeated, base float64) (left int) {
	s.X0, s.Y = append(s.X0, x), append(s.Y, some(r.Median)/base)
	s.Low, s.High = append(s.Low, some(r.Low)/base), append(s.High, some(r.High)/base)
	if math.IsInf(r.Summary.High, 1) {
		return 1
	}
	return 0
}

func lacksFigure(study *analysis.Study, f figure.Figure) *Missing {
	m := &Missing{Of: "the campaign", Field: f.Name, File: runFile}
	if name := study.Campaign.Name; name != "" {
		m.Of = name
	}
	for _, cell := range study.Cells {
		for _, r := range cell.Sample.Taken {
			if m.Why = f.Missing(&r.Run); m.Why != "" {
				return m
			}
		}
	}
	m.Why = "the runs have only lower bounds"
	return m
}

// placesOf places the cells at the number in which they differ, or else in their order.
func placesOf(study *analysis.Study) ([]float64, draw.Axis) {
	label := analysis.CellsHead(study)
	if places, format := numbersOf(study); places != nil {
		return places, draw.Free(label, draw.Log, format)
	}
	places, names := make([]float64, len(study.Cells)), make([]string, len(study.Cells))
	for i, cell := range study.Cells {
		places[i], names[i] = float64(i), cell.Label
	}
	return places, rows(label, names)
}

func numbersOf(study *analysis.Study) ([]float64, func(float64) string) {
	if len(study.Axes) != 1 || len(study.Cells) < 2 {
		return nil, nil
	}
	number := func(s string) (float64, error) { return strconv.ParseFloat(s, 64) }
	for _, parse := range []struct {
		number func(string) (float64, error)
		format func(float64) string
	}{{size, bytes}, {number, func(v float64) string { return decimals(v, 6) }}} {
		var places []float64
		for _, cell := range study.Cells {
			if len(cell.Values) != 1 {
				return nil, nil
			}
			if v, err := parse.number(cell.Values[0]); err == nil && v > 0 && !slices.Contains(places, v) {
				places = append(places, v)
			}
		}
		if len(places) == len(study.Cells) {
			return places, parse.format
		}
	}
	return nil, nil
}

func size(text string) (float64, error) {
	n, err := unit.ParseSize(text)
	return float64(n), err
}

// repeatNotes prints a figure over all runs of each cell, as a chart over time draws only one run
// of each. The figure is the first of names that the cells have.
func (in Input) repeatNotes(names ...string) ([]string, error) {
	if in.Campaign == nil {
		return nil, nil
	}
	study, _, err := in.study()
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		f := analysis.FigureCalled(name)
		var parts []string
		for i := range study.Cells {
			if r := study.Cells[i].Of(name); r.N > 0 {
				parts = append(parts, fmt.Sprintf("%s %s of %s", study.Cells[i].Label, r.Bounded(f),
					unit.Things(int64(r.N), "run")))
			}
		}
		if len(parts) > 0 {
			return []string{"Drawn is one run of each. Over all runs, " + f.Title + ": " + strings.Join(parts, "; ") + "."}, nil
		}
	}
	return nil, nil
}

func codecs(in Input) (draw.Spec, error) {
	runs := in.Runs
	if len(runs) == 0 && in.Campaign != nil {
		runs = in.Campaign.Runs
	}
	runs = slices.DeleteFunc(readable(runs), func(r *result.Recorded) bool {
		return len(r.Run.Compression) == 0 || !r.Run.Verdict.Usable()
	})
	if len(runs) == 0 {
		return draw.Spec{}, &Missing{Of: "the input", Field: "compression of a valid run", File: runFile}
	}
	var payloads []string
	var series []draw.Series
	for _, r := range runs {
		payload := r.Run.Scenario.Get("load.record.payload")
		if f := r.Run.PayloadFile; f != nil {
			payload = f.Name
		}
		if payload == "" {
			payload = r.Run.Run.Name
		}
		x := slices.Index(payloads, payload)
		if x < 0 {
			x, payloads = len(payloads), append(payloads, payload)
		}
		for _, c := range r.Run.Compression {
			s := slices.IndexFunc(series, func(s draw.Series) bool { return s.Name == c.Codec })
			if s < 0 {
				s, series = len(series), append(series, draw.Series{Name: c.Codec, Figure: "compression.ratio", Kind: draw.Points})
			}
			series[s].X0, series[s].Y = append(series[s].X0, float64(x)), append(series[s].Y, c.Ratio)
		}
	}
	return draw.Spec{
		Title: "Compression ratio by payload and codec", X: rows("payload", payloads),
		Panels: []draw.Panel{{Y: draw.Free("uncompressed ÷ compressed bytes", draw.Log, times), Series: series}},
		Alt:    fmt.Sprintf("How many times smaller each codec made batches of %s.", strings.Join(payloads, ", ")),
	}, nil
}
