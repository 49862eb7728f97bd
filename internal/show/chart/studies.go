package chart

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"kafkabench.example/kafka-bench/internal/measure/stats"
	"kafkabench.example/kafka-bench/internal/result/figure"
	"kafkabench.example/kafka-bench/internal/show/analysis"
	"kafkabench.example/kafka-bench/internal/show/draw"
)

func stored(in Input) (draw.Spec, error) {
	s, err := in.over()
	if err != nil {
		return draw.Spec{}, err
	}
	colour := 0
	series, notes, err := gather(s.runs, func(r named) (draw.Series, error) {
		xs, ys, _, _ := analysis.Stored(r.Recorded)
		if len(xs) == 0 || !produces(r) {
			return draw.Series{}, r.lacks(intervalsFile, "acked records in a whole interval", "")
		}
		colour = colour%5 + 1
		return draw.Series{Name: r.name, Figure: "acked", Kind: draw.Points, X0: xs, Y: ys, Colour: colour}, nil
	})
	if err != nil {
		return draw.Spec{}, err
	}
	for _, run := range series {
		slope := stats.SlopeOf(run.X0, run.Y, analysis.Confidence)
		if math.IsNaN(slope.Slope) {
			continue
		}
		series = append(series, lineThrough(slope, run))
		perGB := func(slope float64) string { return bytesPerS(1e9 * slope) }
		s.notes = append(s.notes, fmt.Sprintf("%s: each GB more changes the throughput by %s (%s to %s at 95 %%).",
			run.Name, perGB(slope.Slope), perGB(slope.Low), perGB(slope.High)))
	}
	return draw.Spec{
		Title: s.title("Throughput by stored bytes"), X: draw.Free("keys and values stored", draw.Linear, bytes),
		Panels: []draw.Panel{{Y: draw.Free("throughput", draw.Linear, bytesPerS), Series: series}},
		Alt:    fmt.Sprintf("The throughput of each interval of %s over the bytes that were stored by then.", s.said()),
		Notes:  append(s.notes, notes...),
	}, nil
}

func lineThrough(s stats.Slope, points draw.Series) draw.Series {
	from, to := points.X0[0], points.X0[len(points.X0)-1]
	y := func(x float64) float64 { return s.MeanY + s.Slope*(x-s.MeanX) }
	return draw.Series{Name: points.Name + ", least squares", Kind: draw.Line, X0: []float64{from, to},
		Y: []float64{y(from), y(to)}, Colour: points.Colour}
}

type line struct {
	name  string
	cells []*analysis.Cell
}

func (l line) said() string { return cmp.Or(l.name, "median") }

// linesOf groups the cells of a study in lines. Cells of a line have the same engine, the same
// driver, and the same value of each setting in which cells at one place differ. x returns the
// place of a cell on the x axis.
func linesOf[X comparable](study *analysis.Study, x func(*analysis.Cell) X) (lines []line) {
	paths := slices.DeleteFunc(slices.Clone(alsoVaried), func(path string) bool { return !splits(study, path, x) })
	for i := range study.Cells {
		cell := &study.Cells[i]
		name := lineName(cell, paths)
		at := slices.IndexFunc(lines, func(l line) bool { return l.name == name })
		if at < 0 {
			at, lines = len(lines), append(lines, line{name: name})
		}
		lines[at].cells = append(lines[at].cells, cell)
	}
	return lines
}

// splits reports whether a setting separates lines: cells at one place differ in it. For the engine
// and the driver, any difference separates.
func splits[X comparable](study *analysis.Study, path string, x func(*analysis.Cell) X) bool {
	for i := range study.Cells {
		for j := range study.Cells[:i] {
			a, b := &study.Cells[i], &study.Cells[j]
			if a.Setting(path) != b.Setting(path) && (path == enginePath || path == driverPath || x(a) == x(b)) {
				return true
			}
		}
	}
	return false
}

func lineName(cell *analysis.Cell, paths []string) string {
	var parts []string
	for _, path := range paths {
		if word := inLegend[path](cell.Setting(path)); word != "" {
			parts = append(parts, word)
		}
	}
	return strings.Join(parts, ", ")
}

const (
	enginePath  = "consume.queue.engine"
	nodesPath   = "consume.consumers"
	threadsPath = "consume.queue.threads"
	sizePath    = "load.record.size"
	driverPath  = "driver"
)

var alsoVaried = []string{
	enginePath, "consume.queue.start_first", driverPath, "load.acks", "topic.replication", "load.compression",
	"load.linger", "consume.cpu", "load.rate", "topic.partitions",
}

// inLegend has the words for the values of alsoVaried; "" is left out. A value of "" is a default.
var inLegend = map[string]func(value string) string{
	enginePath: func(v string) string { return v },
	driverPath: func(v string) string { return v },
	"consume.queue.start_first": func(v string) string {
		if v == "true" {
			return "start markers first"
		}
		return ""
	},
	"load.acks":         after("acks"),
	"topic.replication": before("replica"),
	"load.compression": func(v string) string {
		if v == "none" {
			return "no compression"
		}
		return v
	},
	"load.linger":      after("linger"),
	"consume.cpu":      func(v string) string { return cmp.Or(before("core")(v), "all cores") },
	"load.rate":        func(v string) string { return v },
	"topic.partitions": before("partition"),
}

func after(word string) func(string) string {
	return func(v string) string {
		if v == "" {
			return ""
		}
		return word + " " + v
	}
}

func before(thing string) func(string) string {
	return func(v string) string {
		switch v {
		case "":
			return ""
		case "1":
			return v + " " + thing
		}
		return v + " " + thing + "s"
	}
}

func recordSize(in Input) (draw.Spec, error) {
	study, notes, err := in.study()
	if err != nil {
		return draw.Spec{}, err
	}
	x := func(c *analysis.Cell) (float64, bool) {
		n, err := size(c.Setting(sizePath))
		return n, err == nil && n > 0
	}
	sizes := map[float64]bool{}
	for i := range study.Cells {
		if n, known := x(&study.Cells[i]); known {
			sizes[n] = true
		}
	}
	if len(sizes) < 2 {
		return draw.Spec{}, &Missing{Of: nameOf(study), Field: "two sizes in scenario." + sizePath, File: runFile}
	}
	spec := draw.Spec{
		Title: titleOf(study, "Throughput by record size"), X: draw.Free("record size", draw.Log, bytes),
		Notes: append(notes, whiskersNote),
		Alt:   fmt.Sprintf("Records and bytes per second of %s over the size of a record.", nameOf(study)),
	}
	lines := linesOf(study, func(c *analysis.Cell) string { return c.Setting(sizePath) })
	for _, name := range []string{"throughput_per_s", "throughput_bytes_per_s"} {
		p, notes, err := linesPanel(study, lines, analysis.FigureCalled(name), x, false)
		if err != nil {
			return draw.Spec{}, err
		}
		spec.Panels, spec.Notes = append(spec.Panels, p), append(spec.Notes, notes...)
	}
	return spec, nil
}

func nameOf(study *analysis.Study) string {
	if study.Campaign.Name == "" {
		return "the input"
	}
	return study.Campaign.Name
}

func titleOf(study *analysis.Study, what string) string {
	if study.Campaign.Name == "" {
		return what
	}
	return what + ": " + study.Campaign.Name
}

func scaleWithin(all []draw.Series) draw.Scale {
	var values []float64
	for _, s := range all {
		values = append(values, s.Y...)
	}
	if least, most := extent(values); least > 0 && most >= apart*least {
		return draw.Log
	}
	return draw.Linear
}

// beside says that the medians stand beside the runs, and not over them: both then have one mark.
func linesPanel(study *analysis.Study, lines []line, f figure.Figure,
	x func(*analysis.Cell) (float64, bool), beside bool) (draw.Panel, []string, error) {
	p := draw.Panel{Y: axisOf(f, draw.Linear)}
	var left undrawn
	for n, l := range lines {
		colour := 1 + n%5
		dots := draw.Series{Name: "runs", Figure: f.Name, Kind: draw.Points, Colour: colour}
		if l.name != "" {
			dots.Name += " of " + l.name
		}
		medians := draw.Series{Name: l.said(), Figure: f.Name, Kind: draw.Whiskers, Colour: colour}
		for _, cell := range l.cells {
			if at, has := x(cell); has {
				left.runs += dotsOf(cell, f, at, &dots)
				left.cells += addMedian(&medians, at, cell.Of(f.Name), 1)
			}
		}
		if len(dots.X0) > 0 {
			if beside {
				dots.With = medians.Name
			}
			p.Series = append(p.Series, dots, medians)
		}
	}
	if len(p.Series) == 0 {
		return p, nil, lacksFigure(study, f)
	}
	p.Y.Scale = scaleWithin(p.Series)
	return p, left.notes(f), nil
}
