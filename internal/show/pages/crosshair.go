package pages

import (
	"encoding/json"
	"slices"
	"strings"

	"kafkabench.example/kafka-bench/internal/plan/unit"
	"kafkabench.example/kafka-bench/internal/show/draw"
)

// crosshair has the texts that chart.js shows for each moment of a chart, each stored once.
type crosshair struct {
	Grid   int      `json:"grid"` // index in the page's grids
	Words  []string `json:"words"`
	Digits int      `json:"digits"`
	Series []coded  `json:"series"`

	last  int
	first string
}

// Last returns the index of the last moment.
func (c *crosshair) Last() int { return c.last }

// First returns the text of the first moment.
func (c *crosshair) First() string { return c.first }

// grid is the moments of charts, as values of their x axis. Charts of one run share it.
type grid struct {
	X      []float64 `json:"x"`
	Labels []string  `json:"labels"`
}

// MarshalJSON writes evenly spaced moments as a first one, a step and their number.
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

// coded is a series as text: At has, for each moment, an index into Words. Each index has Digits
// digits.
type coded struct {
	Name string `json:"name"`
	At   string `json:"at"`
}

const digits64 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz-_"

// mostMoments bounds a chart's moments. A day of seconds has 86,400.
const mostMoments = 100_000

// crosshairOf is nil if the x axis has no moments.
func (p *Page) crosshairOf(spec draw.Spec) *crosshair {
	if len(spec.X.Categories) > 0 || spec.X.Format == nil {
		return nil
	}
	moments := spec.Moments()
	if len(moments) < 2 || len(moments) > mostMoments {
		return nil
	}
	c := &crosshair{last: len(moments) - 1}
	var g grid
	for _, m := range moments {
		g.X = append(g.X, (m.From+m.To)/2)
		g.Labels = append(g.Labels, spec.X.Format(m.From))
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
			words := wordsOf(s, moments, panel.Y)
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

func (p *Page) gridOf(g grid) int {
	same := func(other grid) bool { return slices.Equal(g.X, other.X) && slices.Equal(g.Labels, other.Labels) }
	if i := slices.IndexFunc(p.grids, same); i >= 0 {
		return i
	}
	p.grids = append(p.grids, g)
	return len(p.grids) - 1
}

func wordsOf(s draw.Series, moments []draw.Moment, y draw.Axis) []string {
	words := make([]string, len(moments))
	for i, m := range moments {
		words[i] = unit.Absent
		if low, high, known := s.Within(m); known {
			words[i] = y.Between(low, high)
		}
	}
	return words
}

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
