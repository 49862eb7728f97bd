package draw

import (
	"fmt"
	"math"
	"slices"
	"strconv"
)

// Table is the chart as text: a head, at most the given number of rows, and a row that counts the
// omitted ones. It keeps the first and the last row, and others at even distances. All rows have
// the same length.
func (s Spec) Table(rows int) [][]string {
	s = s.clean()
	t := table{cells: make(map[float64][]said)}
	byRow := len(s.Panels) > 0 && !slices.ContainsFunc(s.Panels, func(p Panel) bool {
		return len(p.Y.Categories) == 0 || !slices.Equal(p.Y.Categories, s.Panels[0].Y.Categories)
	})
	key := s.X
	if byRow {
		key = s.Panels[0].Y
	}
	t.head = []string{key.Label}
	for _, p := range s.Panels {
		for _, one := range p.Series {
			t.head = append(t.head, heading(p, one, len(s.Panels) > 1))
		}
	}
	moments := s.Moments()
	column := 0
	for k, p := range s.Panels {
		for n, one := range p.Series {
			column++
			c := said{column: column, panel: &s.Panels[k], series: &s.Panels[k].Series[n]}
			if !byRow && one.stretched() {
				t.addMoments(c, moments)
				continue
			}
			for c.i = range one.X0 {
				t.add(c, byRow)
			}
		}
	}
	return t.write(key, rows, func(c said) string {
		if c.of != nil {
			low, high, _ := c.series.Within(*c.of)
			return c.panel.Y.Between(low, high)
		}
		return s.cell(*c.panel, *c.series, c.i, byRow)
	})
}

func heading(p Panel, s Series, several bool) string {
	switch {
	case s.Name == "":
		return p.Y.Label
	case several && p.Y.Label != "":
		return p.Y.Label + ": " + s.Name
	}
	return s.Name
}

// said is a series in a row: its i-th value, or its values of a moment.
type said struct {
	column int
	panel  *Panel
	series *Series
	i      int
	of     *Moment
}

func (c said) key(byRow bool) float64 {
	one, i := c.series, c.i
	key, value := one.X0[i], at(one.Y, i)
	if byRow {
		key, value = value, key
	}
	switch one.Kind {
	case Bars:
		value = at(one.X1, i)
	case Band:
		value = at(one.Low, i) + at(one.High, i)
	case Whiskers:
		if len(c.panel.Y.Categories) > 0 {
			value = one.X0[i]
		}
	}
	if !known(value) {
		return math.NaN()
	}
	return key
}

func (s Spec) cell(p Panel, one Series, i int, byRow bool) (words string) {
	rows := len(p.Y.Categories) > 0
	value, axis := at(one.Y, i), p.Y
	switch {
	case byRow:
		value, axis = one.X0[i], s.X
	case rows && one.Kind == Bars:
		return p.Y.write(value) + " to " + s.X.write(at(one.X1, i))
	}
	switch one.Kind {
	case Bars:
		return span(axis, one.X0[i], at(one.X1, i))
	case Band:
		return span(p.Y, at(one.Low, i), at(one.High, i))
	case Whiskers:
		if rows {
			axis, value = s.X, one.X0[i]
		}
		words = axis.write(value)
		if ends := span(axis, at(one.Low, i), at(one.High, i)); words != "" && ends != "" {
			words += " (" + ends + ")"
		}
		return words
	}
	return axis.write(value)
}

func span(a Axis, low, high float64) string {
	if !known(low) || !known(high) {
		return ""
	}
	return a.write(low) + " to " + a.write(high)
}

func (a Axis) write(v float64) string {
	switch {
	case !known(v):
		return ""
	case v == math.Trunc(v) && v >= 0 && v < float64(len(a.Categories)):
		return a.Categories[int(v)]
	case a.Format != nil:
		return clean(a.Format(v))
	}
	return exact(v)
}

// Only the rows that are shown are formatted.
type table struct {
	head  []string
	cells map[float64][]said
}

func (t *table) add(c said, byRow bool) {
	if key := c.key(byRow); known(key) {
		t.cells[key] = append(t.cells[key], c)
	}
}

func (t *table) addMoments(c said, moments []Moment) {
	for i := range moments {
		c.of = &moments[i]
		if _, _, some := c.series.Within(*c.of); some {
			t.cells[c.of.From] = append(t.cells[c.of.From], c)
		}
	}
}

func (t *table) write(key Axis, rows int, words func(said) string) [][]string {
	keys := make([]float64, 0, len(t.cells))
	for k := range t.cells {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	all := [][]string{t.head}
	rows = max(rows, 0)
	chosen := min(rows, len(keys))
	for i := range chosen {
		k := keys[0]
		if chosen > 1 {
			k = keys[i*(len(keys)-1)/(chosen-1)]
		}
		row := make([]string, len(t.head))
		row[0] = key.write(k)
		for _, c := range t.cells[k] {
			switch text := words(c); {
			case text == "":
			case row[c.column] == "":
				row[c.column] = text
			default:
				row[c.column] += ", " + text
			}
		}
		all = append(all, row)
	}
	if left := len(keys) - chosen; left > 0 {
		row := make([]string, len(t.head))
		row[0] = fmt.Sprintf("%s of %s not shown", strconv.Itoa(left), counted(len(keys), "row", "rows"))
		all = append(all, row)
	}
	return all
}
