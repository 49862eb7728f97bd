package pages

import (
	"bytes"
	"html/template"
	"strings"

	"kafkabench.example/kafka-bench/internal/show/chart"
	"kafkabench.example/kafka-bench/internal/show/draw"
)

// Widths of a chart in CSS pixels, for a page and for a telephone.
const (
	wideChart   = 860
	narrowChart = 328
)

// heavyDrawing is the size in bytes from which a chart has only its wide drawing, to bound the page
// of a long run.
const heavyDrawing = 50_000

const tableRows = 60

// If the run lacks the data, drawn returns a sentence, or nothing if the chart is not needed.
func (p *Page) drawn(name string, in chart.Input, needed bool) []Part {
	c, err := chart.Named(name)
	if err != nil {
		return []Part{{Chart: &Chart{Name: name, Missing: err.Error()}}}
	}
	spec, err := c.Draw(in)
	if err != nil && !needed {
		return nil
	}
	if err != nil {
		why := strings.TrimPrefix(err.Error(), "chart "+name+": ")
		return []Part{{Chart: &Chart{Name: name, Missing: c.Title + ": not drawn, as " + why + "."}}}
	}
	return []Part{p.chartOf(name, spec)}
}

// The title and notes of a chart are outside of its drawing.
func (p *Page) chartOf(name string, spec draw.Spec) Part {
	v := &Chart{ID: p.id("chart " + name), Name: name, Title: spec.Title, Alt: spec.Alt, Notes: spec.Notes,
		Table: plainTable(spec.Title+", values", spec.Table(tableRows)), Crosshair: p.crosshairOf(spec)}
	bare := spec
	bare.Title, bare.Notes = "", nil
	v.Wide = svg(bare, spec, wideChart, v.ID+"-wide")
	if len(v.Wide) < heavyDrawing {
		v.Narrow = svg(bare, spec, narrowChart, v.ID+"-narrow")
	}
	return Part{Chart: v}
}

// svg is safe in a page: package draw escapes untrusted text.
func svg(bare, spec draw.Spec, width float64, id string) template.HTML {
	scene := bare.Layout(width)
	scene.Title, scene.Alt = spec.Title, spec.Alt
	var b bytes.Buffer
	_ = scene.SVG(&b, draw.SVGOptions{ID: id}) // a buffer has no errors
	return template.HTML(b.String())
}

// Drawing returns the drawing of a chart, for wide and for narrow screens. Errors are those of the
// chart.
func Drawing(name string, in chart.Input) (wide, narrow template.HTML, err error) {
	c, err := chart.Named(name)
	if err != nil {
		return "", "", err
	}
	spec, err := c.Draw(in)
	if err != nil {
		return "", "", err
	}
	bare := spec
	bare.Title, bare.Notes = "", nil
	return svg(bare, spec, wideChart, name+"-wide"), svg(bare, spec, narrowChart, name+"-narrow"), nil
}
