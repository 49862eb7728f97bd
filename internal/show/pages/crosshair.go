package pages

import (
	"encoding/json"
	"math"
	"slices"
	"strings"

	"kafkabench.example/kafka-bench/internal/plan/unit"
	"kafkabench.example/kafka-bench/internal/show/draw"
)

// crosshair has the words for each moment of a chart: what chart.js shows. Each word is there
// once.
type crosshair struct {
	Grid   int      `json:"grid"` // its place in the grids of the page
	Words  []string `json:"words"`
	Digits int      `json:"digits"`
	Series []coded  `json:"series"`

	last  int
	first string
}

// Last is the place of the last moment.
func (c *crosshair) Last() int { return c.last }

// First are the words for the first moment.
func (c *crosshair) First() string { return c.first }

// grid are the moments of charts, in the values of their x axis. Charts of one run share it.
type grid struct {
	X      []float64 `json:"x"`
	Labels []string  `json:"labels"`
}

// MarshalJSON leaves out places that are evenly apart: a first one, a step and their number say
// the same.
func (g grid) MarshalJSON() ([]byte, error) {
	type plain grid // without this method
	if len(g.X) < 2 {
		return json.Marshal(plain(g))
	}
	first, step := g.X[0], g.X[1]-g.X[0]
	for i, x := range g.X {
		if x != first+float64(i)*step {
			return json.Marshal(plain(g))
		}
	}
	return json.Marshal(map[string]any{"first": first, "step": step, "count": len(g.X), "labels": g.Labels})
}

// coded is a word of a series for each moment: At has its place in Words, in so many digits.
type coded struct {
	Name string `json:"name"`
	At   string `json:"at"`
}

// digits64 are the digits of At.
const digits64 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz-_"

// mostMoments bounds a chart's moments: a day of seconds has 86,400.
const mostMoments = 100_000

// moment is a stretch of the x axis; of one without a length, from is to.
type moment struct{ from, to float64 }

// crosshairOf has the words of a chart; nil of one without an x axis of moments.
func (p *Page) crosshairOf(spec draw.Spec) *crosshair {
	if len(spec.X.Categories) > 0 || spec.X.Format == nil {
		return nil
	}
	moments := momentsOf(spec)
	if len(moments) < 2 || len(moments) > mostMoments {
		return nil
	}
	c := &crosshair{last: len(moments) - 1}
	var g grid
	for _, m := range moments {
		g.X = append(g.X, (m.from+m.to)/2)
		g.Labels = append(g.Labels, spec.X.Format(m.from))
	}
	c.first = g.Labels[0]
	named := map[string]int{}
	for _, panel := range spec.Panels {
		for _, s := range panel.Series {
			named[s.Name]++
		}
	}
	var names []string
	var said [][]string
	for _, panel := range spec.Panels {
		if panel.Y.Format == nil {
			continue
		}
		for _, s := range panel.Series {
			words := wordsOf(s, moments, panel.Y.Format)
			if !slices.ContainsFunc(words, func(w string) bool { return w != unit.Absent }) {
				continue
			}
			name := s.Name
			if named[name] > 1 { // it is in several panels
				name += ", " + panel.Y.Label
			}
			names, said = append(names, name), append(said, words)
			c.first += "; " + name + " " + words[0]
		}
	}
	if len(names) == 0 {
		return nil
	}
	c.code(names, said)
	c.Grid = p.gridOf(g)
	return c
}

// gridOf is the place of a grid among those of the page.
func (p *Page) gridOf(g grid) int {
	same := func(other grid) bool { return slices.Equal(g.X, other.X) && slices.Equal(g.Labels, other.Labels) }
	if i := slices.IndexFunc(p.grids, same); i >= 0 {
		return i
	}
	p.grids = append(p.grids, g)
	return len(p.grids) - 1
}

// momentsOf are the stretches of the series that have some; without any, the places of lines
// and points.
func momentsOf(spec draw.Spec) []moment {
	seen := map[float64]float64{}
	stretches := false
	for _, panel := range spec.Panels {
		for _, s := range panel.Series {
			if s.Kind == draw.Steps || s.Kind == draw.Band {
				stretches = true
			}
		}
	}
	for _, panel := range spec.Panels {
		for _, s := range panel.Series {
			if s.Kind == draw.Bars || stretches && s.Kind != draw.Steps && s.Kind != draw.Band {
				continue
			}
			for i, x := range s.X0 {
				to := x
				if stretches {
					to = s.X1[i]
				}
				if !math.IsNaN(x) && !math.IsNaN(to) {
					seen[x] = max(seen[x], to)
				}
			}
		}
	}
	moments := make([]moment, 0, len(seen))
	for from, to := range seen {
		moments = append(moments, moment{from, max(from, to)})
	}
	slices.SortFunc(moments, func(a, b moment) int {
		if a.from < b.from {
			return -1
		}
		return 1
	})
	return moments
}

// wordsOf has the words of a series for each moment. Of a line between the ends of a stretch
// it is what it was in there: a value, or the lowest and the highest.
func wordsOf(s draw.Series, moments []moment, format func(float64) string) []string {
	words := make([]string, len(moments))
	for i, m := range moments {
		words[i] = unit.Absent
		if low, high, known := within(s, m); known {
			words[i] = between(low, high, format)
		}
	}
	return words
}

// between names two values, or the one that both are.
func between(low, high float64, format func(float64) string) string {
	to := format(high)
	if low == high {
		return to
	}
	if from := format(low); from != to {
		return from + " to " + to
	}
	return to
}

// within are the lowest and the highest value of a series in a moment. Its x values ascend.
func within(s draw.Series, m moment) (low, high float64, known bool) {
	low, high = math.Inf(1), math.Inf(-1)
	first, _ := slices.BinarySearch(s.X0, m.from)
	for i := first; i < len(s.X0) && s.X0[i] <= m.to; i++ {
		switch {
		case (s.Kind == draw.Steps || s.Kind == draw.Band) && s.X0[i] != m.from:
			continue
		case s.Kind != draw.Steps && s.Kind != draw.Band && m.to > m.from && s.X0[i] == m.from && i > 0:
			continue // it belongs to the stretch that ends here
		}
		l, h := valueAt(s, i)
		if !math.IsNaN(l) && !math.IsNaN(h) {
			low, high, known = min(low, l), max(high, h), true
		}
	}
	return low, high, known
}

// valueAt is a value of a series, or the ends of a band.
func valueAt(s draw.Series, i int) (low, high float64) {
	if s.Kind == draw.Band {
		return s.Low[i], s.High[i]
	}
	return s.Y[i], s.Y[i]
}

// code codes the words of series.
func (c *crosshair) code(names []string, said [][]string) {
	places := map[string]int{}
	for _, words := range said {
		for _, w := range words {
			if _, known := places[w]; !known {
				places[w] = len(c.Words)
				c.Words = append(c.Words, w)
			}
		}
	}
	c.Digits = 1
	for n := len(digits64); n < len(c.Words); n *= len(digits64) {
		c.Digits++
	}
	for i, words := range said {
		var at strings.Builder
		for _, w := range words {
			for shift := 6 * (c.Digits - 1); shift >= 0; shift -= 6 {
				at.WriteByte(digits64[places[w]>>shift&63])
			}
		}
		c.Series = append(c.Series, coded{names[i], at.String()})
	}
}
