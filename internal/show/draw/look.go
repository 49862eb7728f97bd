package draw

import (
	"math"
	"slices"
)

// style distinguishes a series from the others of its panel, also without colour.
type style struct {
	colour int // 1 to 5
	number int // of dash, marker and hatch
}

// styles gives series of the same name the same style in all panels.
type styles map[string]style

func newStyles() styles { return make(styles) }

func (all styles) of(series []Series) []style {
	var taken []int
	for _, s := range series {
		if known, has := all[s.Name]; has {
			taken = append(taken, known.number)
		}
	}
	own := make([]style, len(series))
	used := make(map[string]bool)
	for i, s := range series {
		if s.With != "" {
			continue
		}
		known, has := all[s.Name]
		if !has || used[s.Name] {
			for slices.Contains(taken, known.number) {
				known.number++
			}
			known.colour = known.number%Colours + 1
			taken = append(taken, known.number)
			if !has {
				all[s.Name] = known
			}
		}
		used[s.Name] = true
		if s.Colour > 0 {
			known.colour = (s.Colour-1)%Colours + 1
		}
		own[i] = known
	}
	for i, s := range series {
		if with := slices.IndexFunc(series, func(o Series) bool { return o.Name == s.With && o.With == "" }); s.With != "" && with >= 0 {
			own[i] = own[with]
		}
	}
	return own
}

// The numbers of dashes, markers and hatches have no common factor with the number of colours, so
// that equal combinations are rare.
var dashes = [...][]float64{nil, {6, 3}, {2, 2.5}, {10, 3, 2, 3}, {14, 3}, {6, 3, 2, 3, 2, 3}, {1, 4}}

func (s style) dash() []float64 { return dashes[s.number%len(dashes)] }

// markers are outlines around (0, 0) of similar visible size.
var markers = [...][]Point{
	nil,
	{{-3, -3}, {3, -3}, {3, 3}, {-3, 3}},
	{{0, -4}, {3.8, 2.8}, {-3.8, 2.8}},
	{{0, -4.4}, {4.4, 0}, {0, 4.4}, {-4.4, 0}},
	{{0, 4}, {-3.8, -2.8}, {3.8, -2.8}},
	{
		{-1.2, -4}, {1.2, -4}, {1.2, -1.2}, {4, -1.2}, {4, 1.2}, {1.2, 1.2},
		{1.2, 4}, {-1.2, 4}, {-1.2, 1.2}, {-4, 1.2}, {-4, -1.2}, {-1.2, -1.2},
	},
	{{-4, 0}, {-2, -3.5}, {2, -3.5}, {4, 0}, {2, 3.5}, {-2, 3.5}},
}

func (s style) marker(at Point, data []Datum) Shape {
	outline := markers[s.number%len(markers)]
	if outline == nil {
		return Shape{Role: Dot, Colour: s.colour, Form: Circle, At: at, Radius: 3.2, Data: data}
	}
	line := make([]Point, len(outline))
	for i, p := range outline {
		line[i] = Point{at.X + p.X, at.Y + p.Y}
	}
	return Shape{Role: Dot, Colour: s.colour, Form: Path, Lines: [][]Point{line}, Closed: true, Data: data}
}

// hatches have the direction of the lines (pixels right and down) and their distance in pixels.
var hatches = [...]struct{ right, down, apart float64 }{
	{}, {1, -1, 6}, {1, 0, 4}, {1, 1, 6}, {0, 1, 4}, {1, -1, 3.5}, {1, 0, 7},
}

func (s style) hatch(x, y, width, height float64) [][]Point {
	h := hatches[s.number%len(hatches)]
	if h.apart == 0 {
		return nil
	}
	var lines [][]Point
	norm := math.Hypot(h.right, h.down)
	right, down := h.right/norm, h.down/norm
	// The lines are k·apart away from the picture's origin, not from the bar, so that the pattern
	// continues in neighbouring bars of a series.
	low, high := math.Inf(1), math.Inf(-1)
	for _, c := range []Point{{x, y}, {x + width, y}, {x, y + height}, {x + width, y + height}} {
		across := c.Y*right - c.X*down
		low, high = min(low, across), max(high, across)
	}
	for k := math.Ceil(low / h.apart); k*h.apart <= high; k++ {
		foot := Point{-k * h.apart * down, k * h.apart * right}
		reach := math.Hypot(foot.X, foot.Y) + math.Hypot(x+width, y+height) + 1
		line := []Point{{foot.X - reach*right, foot.Y - reach*down}, {foot.X + reach*right, foot.Y + reach*down}}
		lines = append(lines, clipLines([][]Point{line}, x, y, x+width, y+height)...)
	}
	return lines
}

func (s style) swatch(series Series, from, to Point) []Shape {
	middle := Point{(from.X + to.X) / 2, (from.Y + to.Y) / 2}
	x, y := to.X-swatchWidth, to.Y-5
	area := Shape{Colour: s.colour, Form: Rectangle, At: Point{x, y}, Width: swatchWidth, Height: 10}
	switch series.Kind {
	case Band:
		area.Role = BandArea
		edge := path(BandEdge, s.colour, []Point{{x, y}, {to.X, y}}, []Point{{x, y + 10}, {to.X, y + 10}})
		edge.Dash = s.dash()
		return []Shape{area, edge}
	case Bars:
		area.Role = Bar
		return append([]Shape{area}, s.hatchShape(area)...)
	case Points:
		return []Shape{s.marker(middle, nil)}
	case Whiskers:
		return []Shape{path(Whisker, s.colour, []Point{from, to}), s.marker(middle, nil)}
	}
	line := path(DataLine, s.colour, []Point{from, to})
	line.Dash = s.dash()
	if series.marked() {
		return []Shape{line, s.marker(middle, nil)}
	}
	return []Shape{line}
}

func (s style) hatchShape(area Shape) []Shape {
	lines := s.hatch(area.At.X, area.At.Y, area.Width, area.Height)
	if lines == nil {
		return nil
	}
	return []Shape{path(Hatch, 0, lines...)}
}

// mostMarked is the maximum number of points of a line that has a marker at each point.
const mostMarked = 24

func (s Series) marked() bool { return s.Kind == Line && len(s.X0) <= mostMarked }
