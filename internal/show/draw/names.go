package draw

import (
	"cmp"
	"fmt"
	"math"
	"slices"
)

const (
	swatchWidth = 20.0
	swatchGap   = 6.0                               // from the plot to the sample
	swatchRoom  = swatchGap + swatchWidth + 5 + 2.0 // from the plot to the name
)

func (p *panel) nameWidth() float64 {
	width := 0.0
	for _, s := range p.Series {
		width = max(width, textWidth(p.shown(s), textSize))
	}
	return width
}

// isNamed is false without a name, and for a series with the style of another. In a panel of rows, it
// is also false for a name that equals a row's name or the axis label, which are drawn anyway.
func (p *panel) isNamed(s Series) bool {
	said := p.rows && (s.Name == p.Y.Label || slices.Contains(p.Y.Categories, s.Name))
	return s.Name != "" && s.With == "" && !said
}

func (p *panel) named() int {
	n := 0
	for _, s := range p.Series {
		if p.isNamed(s) {
			n++
		}
	}
	return n
}

func (l *layout) direct(p *panel) bool {
	if p.named() == 0 || p.rows || len(l.x.Categories) > 0 {
		return false
	}
	room := l.width - edge - swatchRoom - p.nameWidth() - l.left
	return room >= 0.45*l.width && p.nameWidth() <= 220 && float64(p.named())*lineHeight <= p.Height-6
}

func (l *layout) legend(p *panel) {
	if p.named() == 0 {
		return
	}
	x := edge
	l.y += lineHeight + 2
	for i, s := range p.Series {
		if !p.isNamed(s) {
			continue
		}
		name := fitted(NameText, Point{}, p.shown(s), Start, l.width-2*edge-swatchWidth-5)
		width := swatchWidth + 5 + name.Text.TextWidth()
		if x > edge && x+width > l.width-edge {
			x = edge
			l.y += lineHeight + 2
		}
		p.shapes = append(p.shapes, p.styles[i].swatch(s, Point{x, l.y - 7}, Point{x + swatchWidth, l.y - 7})...)
		name.At = Point{x + swatchWidth + 5, l.y - 3}
		l.words.Shapes = append(l.words.Shapes, name)
		x += width + 16
	}
	l.y += 2
}

// spread moves sorted places as little as possible, so that they are at least gap apart and between
// low and high. A moved group keeps its mean.
func spread(wanted []float64, gap, low, high float64) []float64 {
	type group struct {
		mean float64 // of the middle
		n    int
	}
	var groups []group
	fit := func(g group) group {
		half := float64(g.n-1) / 2 * gap
		g.mean = max(low+half, min(high-half, g.mean))
		return g
	}
	for _, w := range wanted {
		g := fit(group{w, 1})
		for len(groups) > 0 {
			last := groups[len(groups)-1]
			if g.mean-last.mean >= float64(g.n+last.n)/2*gap {
				break
			}
			n := g.n + last.n
			g = fit(group{(g.mean*float64(g.n) + last.mean*float64(last.n)) / float64(n), n})
			groups = groups[:len(groups)-1]
		}
		groups = append(groups, g)
	}
	var places []float64
	for _, g := range groups {
		for i := range g.n {
			places = append(places, g.mean+(float64(i)-float64(g.n-1)/2)*gap)
		}
	}
	return places
}

// flag is words above a plot, with a line down to their place on the x axis.
type flag struct {
	x        float64
	words    string
	full     string
	from, to float64 // of the words
	lane     int     // 0 is next to the plot
}

func (l *layout) flags(p *panel, first bool) []flag {
	var flags []flag
	unnamed := 0
	for _, s := range p.Stripes {
		from, to := min(l.x.at(s.From), l.x.at(s.To)), max(l.x.at(s.From), l.x.at(s.To))
		if s.Words == "" || math.IsNaN(from) || from > l.right || to < l.left {
			continue
		}
		if len(flags) == MaxMarks {
			unnamed++
			continue
		}
		flags = append(flags, flag{x: max(from, l.left), words: s.Words})
	}
	if unnamed > 0 {
		further := counted(unnamed, "further stretch is", "further stretches are")
		l.notes = append(l.notes, further+" not named.")
	}
	if first {
		marks, _ := l.marks()
		for _, m := range marks {
			if m.Words != "" {
				flags = append(flags, flag{x: l.x.at(m.At), words: m.Words})
			}
		}
	}
	return flags
}

const (
	flagGap  = 7 // from the plot to the lowest lane of words
	steepest = 5 // number of lanes up to which no line may cross words
)

// setFlags chooses a lane for each text, so that texts do not overlap and few lines cross a text.
// It returns the number of lanes.
func setFlags(flags []flag, width float64) int {
	slices.SortStableFunc(flags, func(a, b flag) int { return cmp.Compare(a.x, b.x) })
	lanes := 0
	for i := len(flags) - 1; i >= 0; i-- {
		f := &flags[i]
		f.set(width)
		overlapped := func(o flag) bool { return o.lane == f.lane && o.from < f.to+8 && f.from < o.to+8 }
		crossed := func(o flag) bool { return o.x > f.from-3 && o.x < f.to+3 && o.lane >= f.lane && o.x != f.x }
		taken := func(o flag) bool { return overlapped(o) || crossed(o) }
		for f.lane < steepest && slices.ContainsFunc(flags[i+1:], taken) {
			f.lane++
		}
		if f.lane == steepest { // too high: lines are broken where they cross words
			for f.lane = 0; slices.ContainsFunc(flags[i+1:], overlapped); {
				f.lane++
			}
		}
		lanes = max(lanes, f.lane+1)
	}
	return lanes
}

func (f *flag) set(width float64) {
	const beside = 4
	words := cut(f.words, textSize, width-2*edge-2*beside)
	if words != f.words {
		f.words, f.full = words, f.words
	}
	w := textWidth(words, textSize)
	f.from, f.to = f.x+beside, f.x+beside+w
	if f.to <= width-edge/2 {
		return
	}
	f.from, f.to = f.x-beside-w, f.x-beside
	if f.from < edge/2 {
		f.from = max(edge/2, width-edge/2-w)
		f.to = f.from + w
	}
}

func (l *layout) drawFlags(flags []flag, top float64) {
	for i, f := range flags {
		at := Point{f.from, top - flagGap - 2 - float64(f.lane)*lineHeight}
		s := text(NameText, at, f.words, Start)
		s.Text.Full = f.full
		l.words.Shapes = append(l.words.Shapes, s)
		line := path(Rule, 0)
		line.Dash = []float64{3, 3}
		for lane := range f.lane + 1 {
			if slices.ContainsFunc(flags, func(o flag) bool { return o.lane == lane && o.from-1 < f.x && f.x < o.to+1 }) {
				continue
			}
			bottom := top - flagGap + 2 - float64(lane)*lineHeight
			upper := bottom - lineHeight
			if lane == 0 {
				bottom = top
			}
			if n := len(line.Lines); n > 0 && line.Lines[n-1][0].Y == bottom {
				line.Lines[n-1][0].Y = upper // join it with the line above
				continue
			}
			line.Lines = append(line.Lines, []Point{{f.x, upper}, {f.x, bottom}})
		}
		covered := func(o flag) bool { return o.x == f.x && o.lane >= f.lane }
		if line.Lines != nil && !slices.ContainsFunc(flags[:i], covered) {
			l.words.Shapes = append(l.words.Shapes, line)
		}
	}
}

func (l *layout) marks() (drawn []Mark, further int) {
	for _, m := range l.spec.Marks {
		x := l.x.at(m.At)
		if math.IsNaN(x) || x < l.left-0.005 || x > l.right+0.005 {
			continue
		}
		if len(drawn) == MaxMarks {
			further++
			continue
		}
		drawn = append(drawn, m)
	}
	return drawn, further
}

func (l *layout) rules() Group {
	group := Group{Class: "marks"}
	drawn, further := l.marks()
	for _, m := range drawn {
		x := l.x.at(m.At)
		shape := path(Rule, 0)
		shape.Dash = []float64{3, 3}
		shape.Data = []Datum{{"at", exact(m.At)}, {"words", m.Words}}
		for _, p := range l.panels {
			shape.Lines = append(shape.Lines, []Point{{x, p.top}, {x, p.bottom}})
		}
		group.Shapes = append(group.Shapes, shape)
	}
	if further > 0 {
		l.notes = append(l.notes, fmt.Sprintf("%s not drawn.", counted(further, "further event is", "further events are")))
	}
	return group
}
