package draw

import (
	"fmt"
	"math"
)

const (
	edge        = 8.0 // free space around the picture
	leastWidth  = 240.0
	markerRoom  = 8.0   // from the ends of an axis to the first and last marker
	plainHeight = 190.0 // of a single panel; each of several panels has smallHeight
	smallHeight = 130.0
	rowHeight   = 24.0
	laneHeight  = 10.0 // of a series in a row with several series
)

type layout struct {
	spec        Spec
	width       float64
	x           *axis
	left, right float64
	panels      []*panel
	y           float64
	notes       []string
	words       Group
	groups      []Group
}

type panel struct {
	Panel
	y           *axis
	rows        bool // its values lie along the x axis
	empty       bool
	styles      []style
	direct      bool // names are at the ends of their series, else in a line above the plot
	top, bottom float64
	beyond      int // values beyond the ends of the axis
	shapes      []Shape
	ends        []end
}

// Layout lays out the chart in CSS pixels. The same spec and width give the same scene.
func (s Spec) Layout(width float64) Scene {
	if !(width >= leastWidth) || math.IsInf(width, 0) {
		width = leastWidth
	}
	l := &layout{spec: s.clean(), width: width, words: Group{Class: "words"}, y: edge}
	l.notes = append(l.notes, l.spec.Notes...)
	l.setAxes()
	l.setMargins()
	l.title()
	for i, p := range l.panels {
		l.panel(p, i == 0)
	}
	l.xAxis()
	marks := l.rules()
	for _, p := range l.panels {
		p.names(l)
		l.groups = append(l.groups, Group{Class: "panel", Data: append(l.x.data("x"), p.y.data("y")...), Shapes: p.shapes})
	}
	l.footnotes()
	return Scene{
		Width: width, Height: math.Ceil(l.y + edge), Title: l.spec.Title, Alt: l.spec.Alt,
		Groups: append(l.groups, marks, l.words),
	}
}

func (s Spec) clean() Spec {
	s.Title, s.Alt = clean(s.Title), clean(s.Alt)
	s.X = s.X.clean()
	s.Notes = cleanAll(s.Notes)
	panels := make([]Panel, len(s.Panels))
	for i, p := range s.Panels {
		p.Y = p.Y.clean()
		series := make([]Series, len(p.Series))
		for j, one := range p.Series {
			one.Name = clean(one.Name)
			series[j] = one
		}
		stripes := make([]Stripe, len(p.Stripes))
		for j, stripe := range p.Stripes {
			stripe.Words = clean(stripe.Words)
			stripes[j] = stripe
		}
		p.Series, p.Stripes = series, stripes
		panels[i] = p
	}
	s.Panels = panels
	marks := make([]Mark, len(s.Marks))
	for i, m := range s.Marks {
		m.Words = clean(m.Words)
		marks[i] = m
	}
	s.Marks = marks
	return s
}

func (a Axis) clean() Axis {
	a.Label, a.Categories = clean(a.Label), cleanAll(a.Categories)
	return a
}

func cleanAll(words []string) []string {
	all := make([]string, len(words))
	for i, w := range words {
		all[i] = clean(w)
	}
	return all
}

func (l *layout) setAxes() {
	var x extent
	onlyRows := true
	styles := newStyles()
	for _, spec := range l.spec.Panels {
		p := &panel{Panel: spec, rows: len(spec.Y.Categories) > 0, empty: true}
		var y extent
		for _, s := range spec.Series {
			x.add(s.X0...)
			x.add(s.X1...)
			if p.rows {
				x.add(s.Low...)
				x.add(s.High...)
			} else {
				y.add(s.Y...)
				y.add(s.Low...)
				y.add(s.High...)
			}
			p.empty = p.empty && !s.anyKnown()
		}
		for _, stripe := range spec.Stripes {
			x.add(stripe.From, stripe.To)
		}
		p.Height = p.height(len(l.spec.Panels))
		p.y = newAxis(spec.Y, y, true)
		p.styles = styles.of(spec.Series)
		onlyRows = onlyRows && p.rows
		l.panels = append(l.panels, p)
	}
	for _, m := range l.spec.Marks {
		x.add(m.At)
	}
	l.x = newAxis(l.spec.X, x, onlyRows && l.spec.X.Second == 0)
	for _, p := range l.panels {
		if p.rows {
			p.y.place(0, p.Height) // from the top down
			continue
		}
		p.y.place(p.Height, 0)
		p.y.setTicks(func(ticks []tick) bool { return apart(ticks, 22) && len(ticks) <= int(max(2, p.Height/30)) })
	}
}

func apart(ticks []tick, least float64) bool {
	for i := 1; i < len(ticks); i++ {
		if math.Abs(ticks[i].at-ticks[i-1].at) < least {
			return false
		}
	}
	return true
}

func (p *panel) height(panels int) float64 {
	switch {
	case p.Height > 0 && p.Height < 1e5:
		return max(math.Round(p.Height), 40)
	case p.rows:
		lanes, _ := p.barLanes(0)
		markers := 0
		for _, s := range p.Series {
			if s.Kind == Whiskers || s.Kind == Points {
				markers++
			}
		}
		return max(rowHeight, laneHeight*float64(max(lanes, markers)+1)) * float64(len(p.Y.Categories))
	case panels == 1:
		return plainHeight
	}
	return smallHeight
}

func (s Series) anyKnown() bool {
	for i := range s.X0 {
		if !known(s.X0[i]) {
			continue
		}
		if known(at(s.Y, i)) || s.Kind == Band && known(at(s.Low, i)) && known(at(s.High, i)) {
			return true
		}
	}
	return false
}

func at(values []float64, i int) float64 {
	if i < len(values) {
		return values[i]
	}
	return math.NaN()
}

func (l *layout) setMargins() {
	l.left = edge
	for _, p := range l.panels {
		most := 0.4 * l.width
		for _, t := range p.y.ticks {
			l.left = max(l.left, edge+min(textWidth(t.label, textSize), most)+6)
		}
		for _, name := range p.Y.Categories {
			l.left = max(l.left, edge+min(textWidth(name, textSize), most)+8)
		}
	}
	l.right = l.width - 2*edge
	for _, p := range l.panels {
		p.direct = l.direct(p)
		if p.direct {
			l.right = min(l.right, l.width-edge-p.nameWidth()-swatchRoom)
		}
	}
	if n := len(l.x.Categories); n > 0 {
		l.left = max(l.left, l.slantedMargin(n))
	}
	l.left, l.right = math.Ceil(l.left), math.Floor(l.right)
	pad := 0.0
	if len(l.x.Categories) == 0 && l.marked() {
		pad = markerRoom
	}
	l.x.place(l.left+pad, l.right-pad)
	l.x.setTicks(func(ticks []tick) bool {
		return len(ticks) <= int(max(2, (l.right-l.left)/50)) && l.labelsApart(ticks)
	})
}

func (l *layout) marked() bool {
	for _, p := range l.panels {
		for _, s := range p.Series {
			if s.Kind == Points || s.Kind == Whiskers || s.marked() {
				return true
			}
		}
	}
	return false
}

func (l *layout) labelsApart(ticks []tick) bool {
	end := math.Inf(-1)
	for _, t := range ticks {
		width := textWidth(t.label, textSize)
		start := l.centred(t.at, width)
		if start < end+10 || width > l.width/2 {
			return false
		}
		end = start + width
	}
	return true
}

func (l *layout) centred(x, width float64) float64 {
	return max(min(x-width/2, l.width-edge/2-width), edge/2)
}

func (l *layout) title() {
	if l.spec.Title == "" {
		return
	}
	for _, line := range wrap(l.spec.Title, titleSize, l.width-2*edge, 4) {
		l.y += 20
		s := text(TitleText, Point{edge, l.y - 4}, line, Start)
		s.Text.Size = titleSize
		l.words.Shapes = append(l.words.Shapes, s)
	}
	l.y += 4
}

func (l *layout) panel(p *panel, first bool) {
	if !first {
		l.y += 16
	}
	for _, line := range wrap(p.Y.Label, textSize, l.width-2*edge, 3) {
		l.y += lineHeight
		l.words.Shapes = append(l.words.Shapes, text(TickText, Point{edge, l.y - 3}, line, Start))
	}
	if !p.direct {
		l.legend(p)
	}
	flags := l.flags(p, first)
	lanes := setFlags(flags, l.width)
	l.y += max(10, float64(lanes)*lineHeight+flagGap)
	p.top, p.bottom = l.y, l.y+p.Height
	p.y.move(p.top)
	l.y = p.bottom
	p.background(l)
	l.drawFlags(flags, p.top)
	if p.empty {
		at := Point{(l.left + l.right) / 2, (p.top+p.bottom)/2 + 4}
		l.words.Shapes = append(l.words.Shapes, text(TickText, at, "no values", Middle))
	} else {
		p.series(l)
	}
	if p.beyond > 0 {
		label := p.Y.Label
		if label == "" {
			label = "this chart"
		}
		values := counted(p.beyond, "value lies", "values lie")
		l.notes = append(l.notes, fmt.Sprintf("%s beyond the ends of the axis: %s.", values, label))
	}
}

func counted(n int, one, more string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, more)
}

func (a *axis) move(by float64) {
	a.from, a.to, a.zeroAt = a.from+by, a.to+by, a.zeroAt+by
	for i := range a.ticks {
		a.ticks[i].at += by
	}
}

func (p *panel) background(l *layout) {
	for _, s := range p.Stripes {
		from, to := l.x.at(s.From), l.x.at(s.To)
		from, to = max(min(from, to), l.left), min(max(from, to), l.right)
		if !(to > from) {
			continue
		}
		p.shapes = append(p.shapes, Shape{Role: StripeArea, Form: Rectangle, At: Point{from + 0.5, p.top},
			Width: max(to-from-1, 0.5), Height: p.Height, // a gap of one pixel divides neighbours
			Data: []Datum{{"from", exact(s.From)}, {"to", exact(s.To)}, {"words", s.Words}}})
	}
	for _, t := range l.x.ticks {
		p.shapes = append(p.shapes, segment(gridRole(l.x, t), t.at, p.top, t.at, p.bottom))
	}
	for _, t := range p.y.ticks {
		p.shapes = append(p.shapes, segment(gridRole(p.y, t), l.left, t.at, l.right, t.at))
		l.words.Shapes = append(l.words.Shapes,
			fitted(TickText, Point{l.left - 6, t.at + 4}, t.label, End, l.left-6-edge/2))
	}
	if p.rows {
		p.rowNames(l)
	}
}

func gridRole(a *axis, t tick) Role {
	if t.value == 0 && a.Scale != Percentile {
		return Zero
	}
	return Grid
}

func (p *panel) rowNames(l *layout) {
	n := len(p.Y.Categories)
	each := p.Height / float64(n)
	every := max(1, int(math.Ceil(lineHeight/each)))
	for i, name := range p.Y.Categories {
		middle := p.y.at(float64(i))
		p.shapes = append(p.shapes, segment(Grid, l.left, middle, l.right, middle))
		if i%every != 0 {
			continue
		}
		width := l.left - 8 - edge/2
		lines := wrap(name, textSize, width, max(1, int(each*float64(every)/lineHeight)))
		for j, line := range lines {
			y := middle + 4 + (float64(j)-float64(len(lines)-1)/2)*lineHeight
			l.words.Shapes = append(l.words.Shapes, fitted(NameText, Point{l.left - 8, y}, line, End, width))
		}
	}
	if every > 1 {
		l.notes = append(l.notes, fmt.Sprintf("Of the rows, every %s is named.", ordinal(every)))
	}
}

func ordinal(n int) string {
	switch {
	case n%100 >= 11 && n%100 <= 13:
	case n%10 == 1:
		return fmt.Sprintf("%dst", n)
	case n%10 == 2:
		return fmt.Sprintf("%dnd", n)
	case n%10 == 3:
		return fmt.Sprintf("%drd", n)
	}
	return fmt.Sprintf("%dth", n)
}

func (l *layout) xAxis() {
	if len(l.panels) == 0 {
		return
	}
	bottom := l.y
	switch {
	case len(l.x.Categories) > 0:
		l.columnNames(bottom)
	case len(l.x.ticks) == 0:
		l.y += 6
	default:
		for _, t := range l.x.ticks {
			l.words.Shapes = append(l.words.Shapes, segment(Tick, t.at, bottom, t.at, bottom+4))
			x := l.centred(t.at, textWidth(t.label, textSize))
			l.words.Shapes = append(l.words.Shapes, text(TickText, Point{x, bottom + 17}, t.label, Start))
		}
		l.y += 20
	}
	for _, line := range wrap(l.x.Label, textSize, l.width-2*edge, 3) {
		l.y += lineHeight
		x := max(l.right-textWidth(line, textSize), edge)
		l.words.Shapes = append(l.words.Shapes, text(TickText, Point{x, l.y - 2}, line, Start))
	}
}

func (l *layout) footnotes() {
	if len(l.notes) > 0 {
		l.y += 6
	}
	for _, note := range l.notes {
		for _, line := range wrap(note, textSize, l.width-2*edge, 12) {
			l.y += lineHeight
			l.words.Shapes = append(l.words.Shapes, text(NoteText, Point{edge, l.y - 2}, line, Start))
		}
	}
}
