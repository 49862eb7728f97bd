package drawvg

import (
	"image/color"
	"math"

	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/vg"

	"kafkabench.example/kafka-bench/internal/show/draw"
)

// The y axis of a canvas points upwards.
type painter struct {
	to     vg.Canvas
	face   font.Face
	scheme draw.Scheme
	height float64
	encode func(words string) string
}

func (p painter) scene(s draw.Scene) {
	for _, g := range s.Groups {
		for _, shape := range g.Shapes {
			p.shape(shape)
		}
	}
}

func (p painter) shape(s draw.Shape) {
	paint := s.Role.Paint()
	if s.Form == draw.Words {
		p.colour(paint.Fill, s.Colour, paint.Opacity)
		p.words(s)
		return
	}
	outline := p.outline(s)
	if len(outline) == 0 {
		return
	}
	if paint.Fill != draw.NoInk {
		p.colour(paint.Fill, s.Colour, paint.Opacity)
		p.to.Fill(outline)
	}
	if paint.Stroke != draw.NoInk {
		p.colour(paint.Stroke, s.Colour, 1)
		p.to.SetLineWidth(length(paint.Width))
		dash := make([]vg.Length, len(s.Dash))
		for i, d := range s.Dash {
			dash[i] = length(d)
		}
		p.to.SetLineDash(dash, 0)
		p.to.Stroke(outline)
	}
}

func (p painter) ink(ink draw.Ink, colour int, opacity float64) color.NRGBA {
	return colorOf(p.scheme.Hex(ink, colour), opacity)
}

func (p painter) colour(ink draw.Ink, colour int, opacity float64) {
	p.to.SetColor(p.ink(ink, colour, opacity))
}

func (p painter) point(at draw.Point) vg.Point {
	return vg.Point{X: length(at.X), Y: length(p.height - at.Y)}
}

func (p painter) outline(s draw.Shape) vg.Path {
	switch s.Form {
	case draw.Rectangle:
		return p.rectangle(s.At, s.Width, s.Height)
	case draw.Circle:
		return p.circle(s.At, s.Radius)
	}
	var path vg.Path
	for _, line := range s.Lines {
		for i, at := range line {
			if i == 0 {
				path.Move(p.point(at))
			} else {
				path.Line(p.point(at))
			}
		}
		if s.Closed {
			path.Close()
		}
	}
	return path
}

func (p painter) rectangle(at draw.Point, width, height float64) vg.Path {
	var path vg.Path
	path.Move(p.point(at))
	path.Line(p.point(draw.Point{X: at.X + width, Y: at.Y}))
	path.Line(p.point(draw.Point{X: at.X + width, Y: at.Y + height}))
	path.Line(p.point(draw.Point{X: at.X, Y: at.Y + height}))
	path.Close()
	return path
}

// circle consists of four curves, which differ from an arc by less than a thousandth of the radius.
func (p painter) circle(centre draw.Point, radius float64) vg.Path {
	const k = 0.5522847498
	at := func(x, y float64) vg.Point {
		return p.point(draw.Point{X: centre.X + radius*x, Y: centre.Y + radius*y})
	}
	var path vg.Path
	path.Move(at(1, 0))
	path.CubeTo(at(1, k), at(k, 1), at(0, 1))
	path.CubeTo(at(-k, 1), at(-1, k), at(-1, 0))
	path.CubeTo(at(-1, -k), at(-k, -1), at(0, -1))
	path.CubeTo(at(k, -1), at(1, -k), at(1, 0))
	path.Close()
	return path
}

func (p painter) words(s draw.Shape) {
	face := p.face
	face.Font.Size = length(s.Text.Size)
	shift := 0.0
	switch s.Text.Anchor {
	case draw.Middle:
		shift = -s.Text.TextWidth() / 2
	case draw.End:
		shift = -s.Text.TextWidth()
	}
	if s.Text.Angle == 0 {
		p.to.FillString(face, p.point(draw.Point{X: s.At.X + shift, Y: s.At.Y}), p.encode(s.Text.Words))
		return
	}
	p.to.Push()
	p.to.Translate(p.point(s.At))
	p.to.Rotate(-s.Text.Angle * math.Pi / 180) // a scene turns clockwise
	p.to.FillString(face, vg.Point{X: length(shift)}, p.encode(s.Text.Words))
	p.to.Pop()
}
