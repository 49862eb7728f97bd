package draw_test

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"kafkabench.example/kafka-bench/internal/show/draw"
	"kafkabench.example/kafka-bench/internal/show/showtest"
)

func svg(t interface{ Fatal(...any) }, s draw.Scene, o draw.SVGOptions) []byte {
	var b bytes.Buffer
	if err := s.SVG(&b, o); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestGoldens(t *testing.T) {
	all := goldens()
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if err := all[name].Check(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		showtest.Golden(t, name+".svg", svg(t, all[name].Layout(760), draw.SVGOptions{Standalone: true}))
		again := goldens()[name].Layout(760)
		if !bytes.Equal(svg(t, all[name].Layout(760), draw.SVGOptions{}), svg(t, again, draw.SVGOptions{})) {
			t.Errorf("%s: the same spec is drawn in two ways", name)
		}
	}
}

type box [4]draw.Point

// boxOf leaves out the space above and below the letters.
func boxOf(s draw.Shape) box {
	const ascent, descent = 0.72, 0.2
	w := s.Text.TextWidth()
	left := s.At.X - w*float64(s.Text.Anchor)/2
	top, bottom := s.At.Y-ascent*s.Text.Size, s.At.Y+descent*s.Text.Size
	b := box{{X: left, Y: top}, {X: left + w, Y: top}, {X: left + w, Y: bottom}, {X: left, Y: bottom}}
	sin, cos := math.Sincos(s.Text.Angle * math.Pi / 180)
	for i, p := range b {
		dx, dy := p.X-s.At.X, p.Y-s.At.Y
		b[i] = draw.Point{X: s.At.X + dx*cos - dy*sin, Y: s.At.Y + dx*sin + dy*cos}
	}
	return b
}

func apart(a, b box) bool {
	for _, one := range []box{a, b} {
		for i := range 2 {
			axis := draw.Point{X: one[i+1].X - one[i].X, Y: one[i+1].Y - one[i].Y}
			lowA, highA := along(a, axis)
			lowB, highB := along(b, axis)
			if highA <= lowB+1e-6 || highB <= lowA+1e-6 {
				return true
			}
		}
	}
	return false
}

func along(b box, axis draw.Point) (low, high float64) {
	low, high = math.Inf(1), math.Inf(-1)
	for _, p := range b {
		at := p.X*axis.X + p.Y*axis.Y
		low, high = min(low, at), max(high, at)
	}
	return low, high
}

func texts(s draw.Scene) []draw.Shape {
	var all []draw.Shape
	for _, g := range s.Groups {
		for _, shape := range g.Shapes {
			if shape.Form == draw.Words && shape.Text.Words != "" {
				all = append(all, shape)
			}
		}
	}
	return all
}

func faults(s draw.Scene) error {
	var all []error
	words := texts(s)
	boxes := make([]box, len(words))
	for i, w := range words {
		boxes[i] = boxOf(w)
		for _, p := range boxes[i] {
			if !(p.X >= 0 && p.X <= s.Width && p.Y >= 0 && p.Y <= s.Height) {
				all = append(all, fmt.Errorf("%q leaves the picture at %v", w.Text.Words, p))
				break
			}
		}
		for j := range i {
			if !apart(boxes[i], boxes[j]) {
				all = append(all, fmt.Errorf("%q lies over %q: %v, %v", w.Text.Words, words[j].Text.Words, boxes[i], boxes[j]))
			}
		}
	}
	for _, g := range s.Groups {
		for _, shape := range g.Shapes {
			for _, p := range corners(shape) {
				if !(p.X >= -0.01 && p.X <= s.Width+0.01 && p.Y >= -0.01 && p.Y <= s.Height+0.01) {
					all = append(all, fmt.Errorf("a shape of role %d leaves the picture at %v", shape.Role, p))
				}
			}
		}
	}
	return errors.Join(all...)
}

func corners(s draw.Shape) []draw.Point {
	switch s.Form {
	case draw.Path:
		return slices.Concat(s.Lines...)
	case draw.Rectangle:
		return []draw.Point{s.At, {X: s.At.X + s.Width, Y: s.At.Y + s.Height}}
	case draw.Circle:
		return []draw.Point{{X: s.At.X - s.Radius, Y: s.At.Y - s.Radius}, {X: s.At.X + s.Radius, Y: s.At.Y + s.Radius}}
	}
	return nil
}

func TestWordsStayApart(t *testing.T) {
	for name, spec := range goldens() {
		for _, width := range []float64{360, 760, 1200} {
			if err := faults(spec.Layout(width)); err != nil {
				t.Errorf("%s, %g wide: %v", name, width, err)
			}
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		if err := faults(anySpec(t).Layout(rapid.Float64Range(240, 1400).Draw(t, "width"))); err != nil {
			t.Fatal(err)
		}
	})
}

type plot map[string]float64

func plotOf(t interface{ Fatal(...any) }, g draw.Group) plot {
	p := make(plot)
	for _, d := range g.Data {
		if v, err := strconv.ParseFloat(d.Value, 64); err == nil {
			p[d.Name] = v
		}
	}
	if len(p) < 8 {
		t.Fatal("no data of the axes", g.Data)
	}
	return p
}

func (p plot) linear(axis string, v float64) float64 {
	low, high := p[axis+"-min"], p[axis+"-max"]
	return p[axis+"-px-min"] + (v-low)/(high-low)*(p[axis+"-px-max"]-p[axis+"-px-min"])
}

func full(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }

func of(x, y draw.Axis, series ...draw.Series) draw.Spec {
	return draw.Spec{X: x, Panels: []draw.Panel{{Y: y, Series: series}}}
}

func panels(s draw.Scene) []draw.Group {
	return slices.DeleteFunc(slices.Clone(s.Groups), func(g draw.Group) bool { return g.Class != "panel" })
}

func TestColumnsKeepTheirExtremes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1000, 5000).Draw(t, "n")
		seed := rapid.Uint64().Draw(t, "seed")
		s := wave("", "lag", n, 500, float64(seed%400))
		s.Kind, s.X1 = draw.Line, nil
		for range rapid.IntRange(0, 5).Draw(t, "outliers") {
			s.Y[rapid.IntRange(0, n-1).Draw(t, "where")] = rapid.Float64Range(0, 5000).Draw(t, "outlier")
		}
		spec := of(draw.Free("x", draw.Linear, times), draw.Free("y", draw.Linear, records), s)
		group := panels(spec.Layout(400))[0]
		p := plotOf(t, group)
		type ends struct{ low, high float64 }
		columns := make(map[float64]ends)
		add := func(to map[float64]ends, x, y float64) {
			e, has := to[math.Floor(x)]
			if !has {
				e = ends{y, y}
			}
			to[math.Floor(x)] = ends{min(e.low, y), max(e.high, y)}
		}
		for i := range s.X0 {
			add(columns, p.linear("x", s.X0[i]), p.linear("y", s.Y[i]))
		}
		drawn := make(map[float64]ends)
		points := 0
		for _, shape := range group.Shapes {
			if shape.Role == draw.DataLine {
				for _, line := range shape.Lines {
					for i, at := range line {
						points++
						add(drawn, at.X, at.Y)
						for c := math.Floor(at.X); i > 0 && line[i-1].Y == at.Y && c > line[i-1].X; c-- {
							add(drawn, c, at.Y)
						}
					}
				}
			}
		}
		if points > 4*len(columns) {
			t.Fatalf("%d points in %d columns", points, len(columns))
		}
		for c, want := range columns {
			if got := drawn[c]; math.Abs(got.low-want.low) > 0.01 || math.Abs(got.high-want.high) > 0.01 {
				t.Fatalf("column %g: drawn %v, want %v", c, got, want)
			}
		}
	})
}

func TestUnknownBreaksALine(t *testing.T) {
	for kind, want := range map[draw.Kind]int{draw.Steps: 3, draw.Line: 3, draw.Band: 3} {
		s := draw.Series{Kind: kind, X0: []float64{0, 1, 2, 3, 4, 6, 7}, X1: []float64{1, 2, 3, 4, 5, 7, 8}}
		s.Y = []float64{1, 2, unknown, 5, 6, 7, 8}
		if kind == draw.Line { // a line joins values of adjacent intervals
			s.Y = []float64{1, 2, unknown, 5, 6, unknown, 8}
		}
		s.Low, s.High = s.Y, s.Y
		spec := of(draw.Free("x", draw.Linear, times), draw.Free("y", draw.Linear, records), s)
		lines, dots := 0, 0
		for _, shape := range panels(spec.Layout(500))[0].Shapes {
			switch {
			case shape.Role == draw.DataLine || shape.Role == draw.BandEdge && kind == draw.Band:
				lines += len(shape.Lines)
			case shape.Role == draw.Dot:
				dots++
			}
		}
		switch kind {
		case draw.Line:
			if lines != 2 || dots != 5 {
				t.Errorf("kind %d: %d lines and %d dots, want 2 and 5", kind, lines, dots)
			}
		case draw.Band:
			if lines != 2*want {
				t.Errorf("kind %d: %d edges, want %d", kind, lines, 2*want)
			}
		default:
			if lines != want {
				t.Errorf("kind %d: %d lines, want %d", kind, lines, want)
			}
		}
	}
}

func TestPlacesFollowFromTheData(t *testing.T) {
	forward := map[draw.Scale]func(float64) float64{
		draw.Linear:     func(v float64) float64 { return v },
		draw.Log:        math.Log10,
		draw.Percentile: func(p float64) float64 { return -math.Log10(1 - p) },
	}
	rapid.Check(t, func(t *rapid.T) {
		scale := rapid.SampledFrom([]draw.Scale{draw.Linear, draw.Log, draw.Percentile}).Draw(t, "scale")
		share := rapid.OneOf(rapid.Just(0.0), rapid.Float64Range(1e-9, 0.9999))
		s := draw.Series{Figure: "f", Kind: draw.Points, X0: rapid.SliceOfN(share, 1, 30).Draw(t, "x")}
		s.Y = rapid.SliceOfN(share, len(s.X0), len(s.X0)).Draw(t, "y")
		spec := of(draw.Free("x", draw.Linear, percent), draw.Free("y", scale, percent), s)
		group := panels(spec.Layout(600))[0]
		p := plotOf(t, group)
		drawn := 0
		for _, shape := range group.Shapes {
			if shape.Role != draw.Dot {
				continue
			}
			data := make(map[string]string)
			for _, d := range shape.Data {
				data[d.Name] = d.Value
			}
			if data["figure"] != "f" || data["at"] != full(s.X0[drawn]) || data["value"] != full(s.Y[drawn]) {
				t.Fatalf("point %d stands for %v", drawn, data)
			}
			f := forward[scale]
			wantX := p.linear("x", s.X0[drawn])
			low, high := f(p["y-min"]), f(p["y-max"])
			wantY := p["y-px-min"] + (f(s.Y[drawn])-low)/(high-low)*(p["y-px-max"]-p["y-px-min"])
			if scale == draw.Log && s.Y[drawn] == 0 {
				wantY = p["y-px-zero"]
			}
			if !(math.Abs(shape.At.X-wantX) < 0.02 && math.Abs(shape.At.Y-wantY) < 0.02) {
				t.Fatalf("point %d is at %v, want %g, %g", drawn, shape.At, wantX, wantY)
			}
			drawn++
		}
		if drawn != len(s.X0) {
			t.Fatalf("%d of %d points are drawn", drawn, len(s.X0))
		}
	})
}

func TestMarksAreCounted(t *testing.T) {
	spec := goldens()["many"]
	s := spec.Layout(760)
	for _, g := range s.Groups {
		if g.Class == "marks" && len(g.Shapes) != draw.MaxMarks {
			t.Errorf("%d marks are drawn, want %d", len(g.Shapes), draw.MaxMarks)
		}
	}
	counted := func(w draw.Shape) bool { return w.Text.Words == "3 further events are not drawn." }
	if !slices.ContainsFunc(texts(s), counted) {
		t.Error("no note counts the marks that are not drawn")
	}
}

func TestTable(t *testing.T) {
	spec := goldens()["steps"]
	got := spec.Table(3)
	head := []string{
		"time since the start of the measured window", "records a second: acked", "records a second: delivered",
		"lag in records: lag", "lag in records: bound",
	}
	if !slices.Equal(got[0], head) || got[1][0] != "0 s" || !slices.Equal(got[1][3:], []string{"0", "5000"}) {
		t.Errorf("%q", got[:2])
	}
	if len(got) != 5 || got[2][0] != "29 s" || got[3][0] != "59 s" || got[4][0] != "57 of 60 rows not shown" {
		t.Errorf("rows %q", got)
	}
	free := func(label string) draw.Axis { return draw.Free(label, draw.Linear, full) }
	sampled := draw.Series{Name: "lag", X0: []float64{0, 4, 11}, X1: []float64{4, 11, 30}, Y: []float64{9, 2, 6}}
	rate := draw.Series{Name: "rate", X0: []float64{0, 10}, X1: []float64{10, 20}, Y: []float64{1, 3}}
	got = of(free("x"), free("y"), rate, sampled).Table(9)
	if len(got) != 3 || !slices.Equal(got[1], []string{"0", "1", "2 to 9"}) ||
		!slices.Equal(got[2], []string{"10", "3", "2 to 6"}) {
		t.Errorf("rows of samples %q", got)
	}
	rows := goldens()["rows"].Table(10)
	if len(rows) != 4 || !slices.Equal(rows[2], []string{"e2e response time p50", "22 % (10 % to 34 %)"}) {
		t.Errorf("rows of categories %q", rows)
	}
}

func TestCheckFindsAllFaults(t *testing.T) {
	spec := draw.Spec{Panels: []draw.Panel{{Series: []draw.Series{
		{Name: "a", Kind: draw.Steps, X0: []float64{1}, Y: []float64{1}}, {Name: "b", Kind: draw.Bars},
	}}}}
	err := spec.Check()
	for _, want := range []string{"x axis", "y axis of panel 0", "X1 has 0 values, X0 has 1", "bars need rows"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v does not say %q", err, want)
		}
	}
}

// The SVG of a chart with any words has only a chart's elements and attributes, and the original
// words.
func FuzzWords(f *testing.F) {
	f.Add("lag")
	f.Add(`</text><script>alert(1)</script>`)
	f.Add(`" onload="x`)
	f.Add("a & b < c ']]>")
	f.Add("\x00\x1b\xff\u2028÷→")
	elements := strings.Fields("svg title desc style rect g path circle text")
	attributes := strings.Fields(`xmlns class role aria-labelledby viewBox width height font-family font-size id d x y cx cy r
		stroke-dasharray text-anchor transform`)
	f.Fuzz(func(t *testing.T, words string) {
		stripe := draw.Stripe{From: 1, To: 2, Words: words}
		series := []draw.Series{{Name: words, Figure: words, Kind: draw.Points, X0: []float64{1, 2}, Y: []float64{1, 0}}}
		spec := draw.Spec{
			Title: words, Alt: words, Notes: []string{words}, Marks: []draw.Mark{{At: 1, Words: words}},
			X: draw.Free(words, draw.Linear, func(float64) string { return words }),
			Panels: []draw.Panel{
				{Y: rows(words, words, words), Series: series, Stripes: []draw.Stripe{stripe}},
				{Y: draw.Free(words, draw.Log, func(float64) string { return words }), Series: series},
			},
		}
		for _, standalone := range []bool{false, true} {
			scene := spec.Layout(400)
			out := svg(t, scene, draw.SVGOptions{Standalone: standalone, ID: words})
			titles := 0
			for d := xml.NewDecoder(bytes.NewReader(out)); ; {
				token, err := d.Token()
				if errors.Is(err, io.EOF) {
					break
				}
				if err != nil {
					t.Fatalf("%v in\n%s", err, out)
				}
				start, is := token.(xml.StartElement)
				if !is {
					continue
				}
				if !slices.Contains(elements, start.Name.Local) || start.Name.Local == "style" && !standalone {
					t.Fatalf("element %s in\n%s", start.Name.Local, out)
				}
				for _, a := range start.Attr {
					if !slices.Contains(attributes, a.Name.Local) && !strings.HasPrefix(a.Name.Local, "data-") {
						t.Fatalf("attribute %s in\n%s", a.Name.Local, out)
					}
				}
				if start.Name.Local == "title" && titles == 0 {
					var content string
					if err := d.DecodeElement(&content, &start); err != nil || content != scene.Title {
						t.Fatalf("title %q, want %q: %v", content, scene.Title, err)
					}
					titles++
				}
			}
			for _, w := range texts(scene) {
				for _, r := range w.Text.Words {
					if _, has := draw.Windows1252(r); !has {
						t.Fatalf("character %q in %q", r, w.Text.Words)
					}
				}
			}
		}
	})
}
