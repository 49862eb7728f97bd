package chart

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"kafkabench.example/kafka-bench/internal/show/analysis"
	"kafkabench.example/kafka-bench/internal/show/draw"
)

type shape struct {
	nodes, threads float64
	queue          bool
}

func (s shape) workers() float64 { return s.nodes * s.threads }

func (s shape) String() string {
	if s.queue {
		return fmt.Sprintf("%g × %g", s.nodes, s.threads)
	}
	return fmt.Sprintf("%g", s.nodes)
}

func shapeOf(c *analysis.Cell) (s shape, ok bool) {
	s.threads = 1
	if s.queue = c.EngineOf() != ""; s.queue {
		s.threads, _ = strconv.ParseFloat(c.Setting(threadsPath), 64)
	}
	s.nodes, _ = strconv.ParseFloat(c.Setting(nodesPath), 64)
	return s, s.workers() > 0
}

type shapes struct {
	all   []shape
	lines []line
	notes []string
}

func (in Input) shapes() (study *analysis.Study, s shapes, err error) {
	if study, s.notes, err = in.study(); err != nil {
		return nil, s, err
	}
	for i := range study.Cells {
		if shape, ok := shapeOf(&study.Cells[i]); ok && !slices.Contains(s.all, shape) {
			s.all = append(s.all, shape)
		}
	}
	if len(s.all) < 2 {
		return nil, s, &Missing{Of: nameOf(study), Field: "two numbers in scenario." + nodesPath, File: runFile}
	}
	slices.SortFunc(s.all, func(a, b shape) int {
		return cmp.Or(cmp.Compare(a.workers(), b.workers()), cmp.Compare(a.nodes, b.nodes))
	})
	s.lines = linesOf(study, func(c *analysis.Cell) shape { of, _ := shapeOf(c); return of })
	return study, s, nil
}

func (s shapes) place(c *analysis.Cell) (x float64, ok bool) {
	shape, ok := shapeOf(c)
	at := slices.Index(s.all, shape)
	return float64(at), ok && at >= 0
}

func (s shapes) axis() draw.Axis {
	names := make([]string, len(s.all))
	for i, shape := range s.all {
		names[i] = shape.String()
	}
	if s.all[0].queue {
		return rows("nodes × threads", names)
	}
	return rows("consumers", names)
}

func threads(in Input) (draw.Spec, error) {
	study, s, err := in.shapes()
	if err != nil {
		return draw.Spec{}, err
	}
	if !s.all[0].queue {
		return draw.Spec{}, &Missing{Of: nameOf(study), Field: "queue", File: runFile}
	}
	metric := "e2e_response_time"
	if !study.Has(analysis.FigureCalled(metric + "_p50")) {
		metric = "e2e_service_time" // of a closed loop
	}
	s.leaveOut(study, metric)
	spec := draw.Spec{
		Title: titleOf(study, "Latency by nodes and threads"), X: s.axis(), Notes: append(s.notes, whiskersNote),
		Alt: fmt.Sprintf("The %s of each engine of %s by nodes × threads.", inWords(metric), nameOf(study)),
	}
	for _, statistic := range []string{"_p50", "_p99"} {
		p, notes, err := linesPanel(study, s.lines, analysis.FigureCalled(metric+statistic), s.place, true)
		if err != nil {
			return draw.Spec{}, err
		}
		spec.Panels, spec.Notes = append(spec.Panels, p), append(spec.Notes, notes...)
	}
	return spec, nil
}

// leaveOut removes the shapes without any value of a time, which would be empty columns.
func (s *shapes) leaveOut(study *analysis.Study, metric string) {
	f := analysis.FigureCalled(metric + "_p50")
	var gone []string
	s.all = slices.DeleteFunc(s.all, func(of shape) bool {
		empty := !slices.ContainsFunc(study.Cells, func(c analysis.Cell) bool {
			is, ok := shapeOf(&c)
			return ok && is == of && c.Of(f.Name).N > 0
		})
		if empty {
			gone = append(gone, of.String())
		}
		return empty
	})
	if len(gone) > 0 {
		s.notes = append(s.notes, fmt.Sprintf("Not drawn: the runs of %s have no %s.", strings.Join(gone, ", "), inWords(metric)))
	}
}

// speedUp draws the ratio of each shape's throughput, or acknowledged rate of a queue, to that of
// the smallest shape, and the ideal.
func speedUp(in Input) (draw.Spec, error) {
	study, s, err := in.shapes()
	if err != nil {
		return draw.Spec{}, err
	}
	f := analysis.FigureCalled(analysis.ThroughputFigure)
	if s.all[0].queue {
		f = analysis.FigureCalled("queue_acked_per_s")
	}
	if !study.Has(f) {
		return draw.Spec{}, lacksFigure(study, f)
	}
	p := draw.Panel{Y: draw.Free(f.Title+" ÷ that of the smallest", draw.Log, times), Series: []draw.Series{s.ideal()}}
	for n, l := range s.lines {
		series := draw.Series{Name: l.said(), Figure: f.Name, Kind: draw.Whiskers, Colour: 1 + n%5}
		base := s.base(l, f.Name)
		if math.IsNaN(base) {
			s.notes = append(s.notes, fmt.Sprintf("Not drawn: %s has no valid run of the smallest, %s.", l.said(), s.all[0]))
			continue
		}
		for _, cell := range l.cells {
			if x, ok := s.place(cell); ok && cell.Of(f.Name).N > 0 {
				addMedian(&series, x, cell.Of(f.Name), base)
			}
		}
		if len(series.X0) > 0 {
			p.Series = append(p.Series, series)
		}
	}
	if len(p.Series) == 1 {
		return draw.Spec{}, &Missing{Of: nameOf(study), Field: f.Name, File: runFile,
			Why: fmt.Sprintf("there is no valid run of the smallest, %s", s.all[0])}
	}
	return draw.Spec{
		Title: titleOf(study, "Speed-up"), X: s.axis(), Panels: []draw.Panel{p},
		Alt: fmt.Sprintf("How many times the throughput of the smallest configuration of %s the others reached.",
			nameOf(study)),
		Notes: append(s.notes, "Medians, with an interval of 95 % from six runs on, else from the lowest to the highest; "+
			"what the smallest reached varies, too, and is not in it."),
	}, nil
}

func (s shapes) ideal() draw.Series {
	line := draw.Series{Name: "as many times more", Kind: draw.Line, Colour: 5}
	for i, shape := range s.all {
		line.X0, line.Y = append(line.X0, float64(i)), append(line.Y, shape.workers()/s.all[0].workers())
	}
	return line
}

// base is the median at the smallest shape: of the line's own valid cell, or else of the first line
// with the same engine that has one. It is NaN if there is none.
func (s shapes) base(l line, figure string) float64 {
	engine := l.cells[0].EngineOf()
	for _, candidates := range append([]line{l}, s.lines...) {
		for _, cell := range candidates.cells {
			if shape, ok := shapeOf(cell); ok && shape == s.all[0] && cell.EngineOf() == engine && cell.Valid > 0 {
				return some(cell.Of(figure).Median)
			}
		}
	}
	return math.NaN()
}
