package draw

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
)

// Table is the chart as text: a head, at most the given number of rows, and a row that counts the
// omitted ones. It keeps the first and the last row, and others at even distances. All rows have
// the same length.
func (s Spec) Table(rows int) [][]string {
	s = s.clean()
	byRow := len(s.Panels) > 0 && !slices.ContainsFunc(s.Panels, func(p Panel) bool {
		return len(p.Y.Categories) == 0 || !slices.Equal(p.Y.Categories, s.Panels[0].Y.Categories)
	})
	key := s.X
	if byRow {
		key = s.Panels[0].Y
	}
	head := []string{key.Label}
	for _, p := range s.Panels {
		for _, one := range p.Series {
			head = append(head, heading(p, one, len(s.Panels) > 1))
		}
	}
	moments := s.Moments()
	has := map[float64]bool{}
	s.each(moments, byRow, func(key float64, c said) {
		if !has[key] && c.some() {
			has[key] = true
		}
	})
	keys := slices.Sorted(maps.Keys(has))

	all, shown := [][]string{head}, map[float64][]string{}
	chosen := min(max(rows, 0), len(keys))
	for i := range chosen {
		k := keys[0]
		if chosen > 1 {
			k = keys[i*(len(keys)-1)/(chosen-1)]
		}
		shown[k] = make([]string, len(head))
		shown[k][0] = key.write(k)
		all = append(all, shown[k])
	}
	s.each(moments, byRow, func(key float64, c said) {
		row := shown[key]
		if row == nil {
			return
		}
		switch text := s.words(c, byRow); {
		case text == "":
		case row[c.column] == "":
			row[c.column] = text
		default:
			row[c.column] += ", " + text
		}
	})
	if left := len(keys) - chosen; left > 0 {
		row := make([]string, len(head))
		row[0] = fmt.Sprintf("%s of %s not shown", strconv.Itoa(left), counted(len(keys), "row", "rows"))
		all = append(all, row)
	}
	return all
}

// each calls the function do for every value of every series, with the key of its row.
func (s Spec) each(moments []Moment, byRow bool, do func(key float64, c said)) {
	column := 0
	for k := range s.Panels {
		p := &s.Panels[k]
		for n := range p.Series {
			column++
			c := said{column: column, panel: p, series: &p.Series[n]}
			if !byRow && c.series.stretched() {
				for i := range moments {
					c.of = &moments[i]
					do(c.of.From, c)
				}
				continue
			}
			for c.i = range c.series.X0 {
				if key := c.key(byRow); known(key) {
					do(key, c)
				}
			}
		}
	}
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

// said is a row's part of a series: its i-th value, or its values within a moment.
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

func (c said) some() bool {
	if c.of == nil {
		return true
	}
	_, _, some := c.series.Within(*c.of)
	return some
}

func (s Spec) words(c said, byRow bool) string {
	if c.of == nil {
		return s.cell(*c.panel, *c.series, c.i, byRow)
	}
	if low, high, some := c.series.Within(*c.of); some {
		return c.panel.Y.Between(low, high)
	}
	return ""
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
