package draw

import (
	"math"
	"slices"
)

type end struct {
	series int
	at     Point
}

func (p *panel) series(l *layout) {
	for _, kind := range []Kind{Band, Bars, Steps, Line, Whiskers, Points} {
		for i, s := range p.Series {
			if s.Kind != kind {
				continue
			}
			switch kind {
			case Band:
				p.band(l, i)
			case Bars:
				p.bars(l, i)
			case Steps, Line:
				p.line(l, i)
			default:
				p.points(l, i)
			}
		}
	}
}

func (s Series) data(more ...Datum) []Datum {
	return append([]Datum{{"figure", s.Figure}, {"series", s.Name}}, more...)
}

func (p *panel) endsAt(series int, at Point) {
	for i := range p.ends {
		if p.ends[i].series == series {
			if at.X >= p.ends[i].at.X {
				p.ends[i].at = at
			}
			return
		}
	}
	p.ends = append(p.ends, end{series, at})
}

// joins is the largest gap between two intervals, in pixels, that does not break a line.
const joins = 0.25

// lines are the unbroken parts of a series in pixels. A value that held for a time is a horizontal
// line from x0 to x1.
func (p *panel) lines(l *layout, s Series, values []float64, joined bool) [][]Point {
	var lines [][]Point
	points, first := make([]Point, 0, 2*len(s.X0)), 0
	end := func() {
		if line := points[first:]; len(line) > 0 {
			lines = append(lines, slices.Clip(line))
		}
		first = len(points)
	}
	for i := range s.X0 {
		x0, x1, y := l.x.at(s.X0[i]), l.x.at(at(s.X1, i)), p.y.at(at(values, i))
		if joined {
			x1 = x0
		}
		if math.IsNaN(x0 + x1 + y) {
			end()
			continue
		}
		if n := len(points); n > first && !joined && math.Abs(x0-points[n-1].X) > joins {
			end()
		}
		points = append(points, Point{x0, y})
		if !joined {
			points = append(points, Point{x1, y})
		}
		if x1 >= l.left && x0 <= l.right && !p.y.within(y) {
			p.beyond++
		}
	}
	end()
	return lines
}

func (p *panel) line(l *layout, i int) {
	s, look := p.Series[i], p.styles[i]
	lines := clipLines(p.lines(l, s, s.Y, s.Kind == Line), l.left, p.top, l.right, p.bottom)
	shape := path(DataLine, look.colour)
	shape.Dash, shape.Data = look.dash(), s.data()
	for _, line := range lines {
		p.endsAt(i, line[len(line)-1])
		first, last := line[0], line[len(line)-1]
		line = extremes(line)
		low, high := heights(line)
		if math.Abs(last.X-first.X) < 1 && high-low < 1 && !s.marked() {
			dot := Shape{Role: Dot, Colour: look.colour, Form: Circle, At: first, Radius: 1.2, Data: s.data()}
			p.shapes = append(p.shapes, dot)
			continue
		}
		if len(line) > 1 {
			shape.Lines = append(shape.Lines, line)
		}
	}
	if shape.Lines != nil {
		p.shapes = append(p.shapes, shape)
	}
	if s.marked() {
		p.markers(l, i, 0)
	}
}

func heights(line []Point) (low, high float64) {
	low, high = line[0].Y, line[0].Y
	for _, p := range line {
		low, high = min(low, p.Y), max(high, p.Y)
	}
	return low, high
}

func (p *panel) band(l *layout, i int) {
	s, look := p.Series[i], p.styles[i]
	joined := s.X1 == nil
	// a value that one line lacks breaks both
	low, high := make([]float64, len(s.X0)), make([]float64, len(s.X0))
	for k := range s.X0 {
		low[k], high[k] = at(s.Low, k), at(s.High, k)
		if math.IsNaN(p.y.at(low[k]) + p.y.at(high[k])) {
			low[k], high[k] = math.NaN(), math.NaN()
		}
	}
	lows, highs := p.lines(l, s, low, joined), p.lines(l, s, high, joined)
	area := Shape{Role: BandArea, Colour: look.colour, Form: Path, Closed: true, Data: s.data()}
	for k := range lows {
		lower, upper := extremes(lows[k]), extremes(highs[k])
		last := Point{upper[len(upper)-1].X, (upper[len(upper)-1].Y + lower[len(lower)-1].Y) / 2}
		slices.Reverse(lower)
		polygon := clipArea(append(upper, lower...), l.left, p.top, l.right, p.bottom)
		if len(polygon) > 2 {
			area.Lines = append(area.Lines, polygon)
			p.endsAt(i, Point{min(last.X, l.right), max(p.top, min(p.bottom, last.Y))})
		}
	}
	if area.Lines == nil {
		return
	}
	edges := path(BandEdge, look.colour)
	edges.Dash = look.dash()
	for _, line := range clipLines(append(highs, lows...), l.left, p.top, l.right, p.bottom) {
		if line = extremes(line); len(line) > 1 {
			edges.Lines = append(edges.Lines, line)
		}
	}
	p.shapes = append(p.shapes, area, edges)
}

func (p *panel) points(l *layout, i int) {
	// Series that share the places of categories are side by side.
	lanes, lane := 0, 0
	for k, s := range p.Series {
		if s.Kind == Points || s.Kind == Whiskers {
			if k == i {
				lane = lanes
			}
			lanes++
		}
	}
	each := 0.0
	if p.rows {
		each = p.Height / float64(len(p.Y.Categories))
	} else if n := len(l.x.Categories); n > 0 {
		each = (l.right - l.left) / float64(n)
	}
	offset := (float64(lane) - float64(lanes-1)/2) * min(13, 0.7*each/float64(lanes))
	if p.Series[i].Kind == Whiskers {
		p.whiskers(l, i, offset)
	}
	p.markers(l, i, offset)
}

// place is the point of a value, moved away from its category by aside, in pixels.
func (p *panel) place(l *layout, s Series, k int, aside float64) (Point, bool) {
	place := Point{l.x.at(s.X0[k]), p.y.at(at(s.Y, k))}
	if p.rows {
		place.Y += aside
	} else {
		place.X += aside
	}
	return place, !math.IsNaN(place.X + place.Y)
}

// inPlot also counts a value beyond an end of the axis if count is true.
func (p *panel) inPlot(l *layout, place Point, count bool) bool {
	inX := place.X >= l.left-0.005 && place.X <= l.right+0.005
	inY := place.Y >= p.top-0.005 && place.Y <= p.bottom+0.005
	if count && (p.rows && inY && !inX || !p.rows && inX && !inY) {
		p.beyond++
	}
	return inX && inY
}

func (p *panel) markers(l *layout, i int, aside float64) {
	s := p.Series[i]
	for k := range s.X0 {
		place, has := p.place(l, s, k, aside)
		if !has || !p.inPlot(l, place, s.Kind != Line) {
			continue // values of a line were counted with the line
		}
		p.endsAt(i, place)
		where, value := s.X0[k], s.Y[k]
		if p.rows {
			where, value = value, where
		}
		data := s.data(Datum{"at", exact(where)}, Datum{"value", exact(value)})
		p.shapes = append(p.shapes, p.styles[i].marker(place, data))
	}
}

func (p *panel) whiskers(l *layout, i int, aside float64) {
	s := p.Series[i]
	const caps = 4
	for k := range s.X0 {
		place, has := p.place(l, s, k, aside)
		value, first, last := p.y, p.top, p.bottom
		if p.rows {
			value, first, last = l.x, l.left, l.right
		}
		low, high := value.at(at(s.Low, k)), value.at(at(s.High, k))
		if !has || math.IsNaN(low+high) {
			continue
		}
		var lines [][]Point
		if p.rows {
			lines = [][]Point{
				{{low, place.Y}, {high, place.Y}},
				{{low, place.Y - caps}, {low, place.Y + caps}}, {{high, place.Y - caps}, {high, place.Y + caps}},
			}
			lines = clipLines(lines, first, p.top-caps, last, p.bottom+caps)
		} else {
			lines = [][]Point{
				{{place.X, low}, {place.X, high}},
				{{place.X - caps, low}, {place.X + caps, low}}, {{place.X - caps, high}, {place.X + caps, high}},
			}
			lines = clipLines(lines, l.left-caps, first, l.right+caps, last)
		}
		if lines == nil {
			continue
		}
		where, middle := s.X0[k], s.Y[k]
		if p.rows {
			where, middle = middle, where
		}
		shape := path(Whisker, p.styles[i].colour, lines...)
		shape.Data = s.data(Datum{"at", exact(where)}, Datum{"value", exact(middle)},
			Datum{"low", exact(s.Low[k])}, Datum{"high", exact(s.High[k])})
		p.shapes = append(p.shapes, shape)
	}
}

func (p *panel) bars(l *layout, i int) {
	if !p.rows {
		return // Check refuses such bars
	}
	s, look := p.Series[i], p.styles[i]
	lanes, lane := p.barLanes(i)
	each := 0.72 * p.Height / float64(len(p.Y.Categories))
	height := each / float64(lanes)
	var hatched [][]Point
	for _, b := range p.stretches(l, s) {
		from, to, middle := b.from, b.to, p.y.at(b.row)
		if to-from < 1 { // draw at least one pixel
			from, to = (from+to-1)/2, (from+to+1)/2
		}
		from, to = max(from, l.left), min(to, l.right)
		top := middle - each/2 + float64(lane)*height
		inner := height
		if lanes > 1 {
			inner-- // space between lanes
		}
		bottom := min(top+inner, p.bottom)
		top = max(top, p.top)
		if inner = bottom - top; inner <= 0 {
			continue
		}
		bar := Shape{Role: Bar, Colour: look.colour, Form: Rectangle, At: Point{from, top}, Width: to - from, Height: inner}
		bar.Data = s.data(Datum{"at", exact(b.row)}, Datum{"value", exact(b.x1 - b.x0)},
			Datum{"from", exact(b.x0)}, Datum{"to", exact(b.x1)})
		p.shapes = append(p.shapes, bar)
		hatched = append(hatched, look.hatch(from, top, to-from, inner)...)
	}
	if hatched != nil {
		p.shapes = append(p.shapes, path(Hatch, 0, hatched...))
	}
}

// stretch is a bar before it is drawn: its ends in pixels and as values.
type stretch struct{ from, to, row, x0, x1 float64 }

// Bars of a row that are narrower than a pixel, with less than half a pixel between them, become
// one.
func (p *panel) stretches(l *layout, s Series) (all []stretch) {
	last := map[float64]int{}
	for k := range s.X0 {
		b := stretch{l.x.at(s.X0[k]), l.x.at(at(s.X1, k)), at(s.Y, k), s.X0[k], at(s.X1, k)}
		middle := p.y.at(b.row)
		if math.IsNaN(b.from+b.to+middle) || !p.y.within(middle) {
			continue
		}
		b.from, b.to = min(b.from, b.to), max(b.from, b.to)
		if b.from > l.right || b.to < l.left {
			continue
		}
		if i, has := last[b.row]; has && b.to-b.from < 1 && b.from >= all[i].from && b.from-all[i].to < 0.5 {
			all[i].to, all[i].x1 = max(all[i].to, b.to), max(all[i].x1, b.x1)
			continue
		}
		last[b.row] = len(all)
		all = append(all, b)
	}
	return all
}

// barLanes is the number of lanes that a panel's bars need so that no series covers another, and
// the lane of one series.
func (p *panel) barLanes(series int) (lanes, lane int) {
	var taken [][]int
	for i, s := range p.Series {
		if s.Kind != Bars {
			continue
		}
		own := slices.IndexFunc(taken, func(others []int) bool {
			return !slices.ContainsFunc(others, func(other int) bool { return s.covers(p.Series[other]) })
		})
		if own < 0 {
			own = len(taken)
			taken = append(taken, nil)
		}
		taken[own] = append(taken[own], i)
		if i == series {
			lane = own
		}
	}
	return len(taken), lane
}

func (s Series) covers(other Series) bool {
	rows := make(map[float64][]int)
	for k := range other.X0 {
		rows[at(other.Y, k)] = append(rows[at(other.Y, k)], k)
	}
	for i := range s.X0 {
		from, to := min(s.X0[i], at(s.X1, i)), max(s.X0[i], at(s.X1, i))
		for _, k := range rows[at(s.Y, i)] {
			from2, to2 := min(other.X0[k], at(other.X1, k)), max(other.X0[k], at(other.X1, k))
			if slack := 1e-9 * (math.Abs(from) + math.Abs(to)); from < to2-slack && from2 < to-slack {
				return true
			}
		}
	}
	return false
}

func (p *panel) names(l *layout) {
	if !p.direct {
		return
	}
	var named []end
	for i, s := range p.Series {
		if !p.isNamed(s) {
			continue
		}
		e := end{i, Point{math.NaN(), p.bottom}}
		if k := slices.IndexFunc(p.ends, func(e end) bool { return e.series == i }); k >= 0 {
			e = p.ends[k]
		}
		named = append(named, e)
	}
	slices.SortStableFunc(named, func(a, b end) int {
		switch {
		case a.at.Y < b.at.Y:
			return -1
		case a.at.Y > b.at.Y:
			return 1
		}
		return 0
	})
	wanted := make([]float64, len(named))
	for i, e := range named {
		wanted[i] = e.at.Y
	}
	for i, y := range spread(wanted, lineHeight, p.top+4, p.bottom-2) {
		e := named[i]
		s, look := p.Series[e.series], p.styles[e.series]
		x := l.right + swatchGap
		from, to := Point{x, y}, Point{x + swatchWidth, y}
		if (s.Kind == Steps || s.Kind == Line) && l.right-e.at.X < 0.05*(l.right-l.left) {
			from = Point{l.right + 2, e.at.Y} // the sample begins at the end of the line
		}
		p.shapes = append(p.shapes, look.swatch(s, from, to)...)
		l.words.Shapes = append(l.words.Shapes, text(NameText, Point{x + swatchWidth + 5, y + 4}, p.shown(s), Start))
	}
}

func (p *panel) shown(s Series) string {
	if s.Name != "" && !p.empty && !s.anyKnown() {
		return s.Name + " (no values)"
	}
	return s.Name
}
